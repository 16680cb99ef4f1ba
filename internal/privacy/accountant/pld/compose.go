package pld

import (
	"math"

	"privrec/internal/privacy/accountant/pld/fft"
	"privrec/internal/privacy/numeric"
)

// machine holds the transforms of one length and their buffers.
type machine struct {
	n    int
	fft  *fft.Real // nil until it is needed
	seq  []float64
	out  []complex128 // the first coefficients: those that do not vanish
	size []float64    // log of the product of powers
	turn []float64    // its argument
	fuzz []float64    // log of the factor by which the errors may have changed it
}

// newMachine returns a machine for a length. Buffers grow with the coefficients that are needed.
func newMachine(n int) *machine {
	m := &machine{n: n}
	m.reserve(min(n/2+1, 1<<10))
	return m
}

// reserve makes room for the first count coefficients.
func (m *machine) reserve(count int) {
	if cap(m.out) < count {
		m.out = make([]complex128, count)
		m.size, m.turn, m.fuzz = make([]float64, count), make([]float64, count), make([]float64, count)
	}
	m.out = m.out[:count]
}

// whole returns the transform of all coefficients, and makes it on first use.
func (m *machine) whole() *fft.Real {
	if m.fft == nil {
		m.fft, m.seq = fft.New(m.n), make([]float64, m.n)
	}
	return m.fft
}

// work returns the number of bins that a composition of so many terms visits: a transform for each and one back.
func (m *machine) work(terms int) int { return m.n * (terms + 1) }

// fftError bounds the error of each coefficient of a transform of length n, and of each entry of its inverse, relative
// to the sum of absolute inputs.
func fftError(n int) float64 { return fft.Error(n) }

// vanishing is the logarithm below which a coefficient is dropped.
const vanishing = -80

// tilted holds the composition of tilted masses: mass[j] at loss lo + j*h, within fuzz of the result of exact
// arithmetic.
type tilted struct {
	lo, h    float64
	mass     []float64
	tilt     float64
	logMass  float64 // log of the composed moment E[exp(tilt L)], by which the masses were divided
	logUp    float64 // log of E[exp((tilt+up) L)]
	logDown  float64 // log of E[exp((tilt-down) L)]
	scale    float64 // relative error of exp(logMass)
	fuzz     float64
	sum      float64 // the coefficient at zero: the exact sum of the masses
	sumFuzz  float64
	series   *series // the masses as a sum of waves; nil: mass has them
	infinite float64 // mass at infinity
	created  float64 // bounds how far the masses of all releases are from summing to one
}

// compose returns the loss of counts[i] draws of each terms[i], tilted, in a window that starts at or just
// below s.lo. All terms have the same mesh.
func (m *machine) compose(terms []*masses, counts []float64, s span) *tilted {
	t, start := m.spectrum(terms, counts, s)
	m.back(t, start)
	return t
}

// composeWaves returns the same as compose. If there are few waves it leaves the masses as a sum of waves.
func (m *machine) composeWaves(terms []*masses, counts []float64, s span) *tilted {
	t, start := m.spectrum(terms, counts, s)
	if len(m.out)*fewWaves <= m.n {
		t.series = newSeries(m.n, start, m.out, t)
	} else {
		m.back(t, start)
	}
	return t
}

// back transforms the coefficients into the masses of a window that starts at place start of the period.
func (m *machine) back(t *tilted, start int) {
	m.whole().Inverse(m.seq, m.out)
	t.mass = make([]float64, m.n)
	inverse := 1 / float64(m.n)
	for j := range t.mass {
		t.mass[j] = m.seq[(start+j)&(m.n-1)] * inverse
	}
}

// spectrum computes the coefficients of a composition that do not vanish, in m.out. It returns the composition without
// its masses, and the place in the period where the window starts.
func (m *machine) spectrum(terms []*masses, counts []float64, s span) (t *tilted, start int) {
	t = &tilted{h: terms[0].h, tilt: s.tilt}
	offset, logFinite := 0.0, 0.0
	all := make([]step, len(terms))
	for i, p := range terms {
		n := counts[i]
		all[i] = p.step(n, s, t)
		offset += n * all[i].centre
		logFinite += n * math.Log1p(-min(p.inf, 1))
		t.created += n * math.Abs(p.total()-1)
	}
	count := waves(all, counts, m.n)
	m.reserve(count)
	for k := range count {
		m.size[k], m.turn[k], m.fuzz[k] = 0, 0, 0
	}
	low := fft.NewLow(m.n, count)
	for i, p := range all {
		if low != nil {
			low.Coefficients(m.out, p.x, p.peak)
			m.raise(counts[i], 1-p.rest, p.err+low.Error(len(p.x))*p.size)
			continue
		}
		whole := m.whole()
		p.load(m.seq)
		whole.Forward(m.out, m.seq)
		m.raise(counts[i], 1-p.rest, p.err+fftError(m.n)*p.size)
	}
	t.infinite = -math.Expm1(logFinite)
	sum, fuzz := 0.0, float64(m.n/2+1-count)*4*math.Exp(vanishing)
	for k := range m.out {
		weight := 2.0
		if k == 0 || k == m.n/2 {
			weight = 1
		}
		if m.size[k]+m.fuzz[k] <= vanishing {
			m.out[k] = 0
			fuzz += weight * 2 * math.Exp(vanishing)
			continue
		}
		r := math.Exp(m.size[k])
		sin, cos := math.Sincos(m.turn[k])
		m.out[k] = complex(r*cos, r*sin)
		sum += weight * r
		fuzz += weight * math.Exp(m.size[k]+m.fuzz[k]) * min(1, m.fuzz[k]+256*unit)
	}
	t.sum = real(m.out[0])
	t.fuzz = (fuzz + fftError(m.n)*sum) / float64(m.n)
	t.sumFuzz = t.fuzz*float64(m.n) + 1e-12
	from := math.Floor((s.lo - offset) / t.h)
	t.lo = offset + from*t.h
	return t, wrap(from, m.n)
}

// waves returns the number of first coefficients of the composition that may not vanish. Summed by parts, the
// coefficient k of a step is at most its variation over |1 - exp(2 pi i k/n)|, which grows with k up to n/2, and at
// most the sum of its absolute masses.
func waves(all []step, counts []float64, n int) int {
	stays := func(k int) bool {
		sum := 0.0
		for i, p := range all {
			most := min(p.whole, p.variation/(2*math.Sin(math.Pi*float64(k)/float64(n))))
			sum += counts[i] * math.Log(most*(1+1e-9)+p.err)
		}
		return !(sum <= vanishing)
	}
	_, first := numeric.Bisect(0, n/2+1, stays) // from first on, all vanish
	return first
}

// least exceeds the total loss from many underflowing terms of a sum.
const least = 1e-290

// wrap returns an integer modulo n.
func wrap(k float64, n int) int {
	r := math.Mod(k, float64(n))
	if r < 0 {
		r += float64(n)
	}
	return int(r)
}

// step holds the tilted masses of one draw of a release, with the largest of them taken out.
type step struct {
	x         []float64 // the masses but the largest
	peak      int       // where that is
	centre    float64   // its loss
	rest      float64   // the sum of x
	size      float64   // of its absolute values
	whole     float64   // of all absolute values
	variation float64   // sum of absolute differences of all masses, with 0 on both sides
	err       float64   // bound of the error of each coefficient but for that of the transform
}

// step returns the tilted masses with the largest taken out. Coefficients are centred on the largest, so their errors
// are relative to the rest, which is small if large losses are rare. It adds the moments of n draws to t.
//
// An exponential is that of the block's first loss times that of the distance from it. This costs a few more units of
// rounding for each mass.
func (p *masses) step(n float64, s span, t *tilted) step {
	size := 1
	if max(math.Abs(s.tilt), s.up, s.down)*p.h*ladder < 1 {
		size = ladder
	}
	stepsOf := func(a float64) []float64 {
		if size == 1 {
			return []float64{1}
		}
		return powers(a * p.h)
	}
	steps, ups, downs := stepsOf(s.tilt), stepsOf(s.up), stepsOf(-s.down)
	shift := math.Inf(-1)
	for from := 0; from < len(p.w); from += size {
		most := 0.0
		for _, w := range p.w[from:min(from+size, len(p.w))] {
			most = max(most, math.Abs(w))
		}
		if most > 0 {
			shift = max(shift, s.tilt*p.loss(from)+math.Log(most))
		}
	}
	bottom, top := p.loss(0), p.loss(len(p.w)-1)
	x := make([]float64, len(p.w))
	var total compensated
	var up, down, rounding float64
	for from := 0; from < len(p.w); from += size {
		l := p.loss(from)
		e := s.tilt*l - shift
		in := p.w[from:min(from+size, len(p.w))]
		first, large := math.Exp(e), e > 700 // only if the masses are smaller still
		var blockSize, blockUp, blockDown float64
		for k, w := range in {
			if w == 0 {
				continue
			}
			v := w * (first * steps[k])
			if large {
				v = math.Copysign(math.Exp(s.tilt*p.loss(from+k)-shift+math.Log(math.Abs(w))), w)
			}
			x[from+k] = v
			total.add(v)
			blockSize += math.Abs(v)
			blockUp += v * ups[k]
			blockDown += v * downs[k]
		}
		if blockSize == 0 {
			continue
		}
		up += blockUp * math.Exp(s.up*(l-top))
		down += blockDown * math.Exp(s.down*(bottom-l))
		rounding += blockSize * (math.Abs(s.tilt*l) + math.Abs(shift))
	}
	sum := total.sum()
	inverse := 1 / sum
	var out step
	last := 0.0
	for i, v := range x {
		if v > x[out.peak] {
			out.peak = i
		}
		out.variation += math.Abs(v - last)
		last = v
	}
	out.variation = (out.variation + math.Abs(last)) * inverse
	largest := x[out.peak] * inverse
	x[out.peak] = 0
	var all compensated
	for i, v := range x {
		v *= inverse
		x[i] = v
		all.add(v)
		out.size += math.Abs(v)
	}
	out.rest = all.sum()
	out.whole = out.size + math.Abs(largest)
	t.logMass += n * (shift + math.Log(sum))
	t.logUp += n * (shift + s.up*top + math.Log(up+least))
	t.logDown += n * (shift - s.down*bottom + math.Log(down+least))
	t.scale += n * unit * (sumUnits*out.whole + 4*(math.Abs(shift)+math.Abs(math.Log(sum))))
	// A loss rounds by a unit or two of itself, and so does its product with the tilt; an exponential by two, and
	// each product. The rest is a sum, and so is what all are divided by, which may have twice the rest's error.
	out.x, out.centre = x, p.loss(out.peak)
	out.err = 32*unit + 3*sumUnits*unit*out.size + 8*unit*math.Abs(rounding)*inverse
	return out
}

// sumUnits bounds the error of a compensated sum, in units of the sum of absolute terms: one of the sum itself, and
// n² unit² of what its n additions lose, which is less than one more up to 2^26 terms.
const sumUnits = 4

// compensated is a sum that also keeps the rounding errors of its additions (Knuth's two-sum; Ogita, Rump and Oishi,
// 2005, algorithm 4.4 and proposition 4.5).
type compensated struct{ s, lost float64 }

func (n *compensated) add(v float64) {
	t := n.s + v
	z := t - n.s
	n.lost += (n.s - (t - z)) + (v - z)
	n.s = t
}

func (n *compensated) sum() float64 { return n.s + n.lost }

// load writes the masses into a period, centred.
func (p step) load(seq []float64) {
	clear(seq)
	at := wrap(float64(-p.peak), len(seq))
	for i, v := range p.x {
		seq[(at+i)&(len(seq)-1)] += v
	}
}

// raise multiplies the product by the n-th power of the transform, with the mass at the centre added to it, in polar
// form. For |z| <= r and an error e, |z^n - (z+e)^n| <= (r+e)^n - r^n, so that the logarithm of (r+e)/r adds up.
func (m *machine) raise(n, centre, err float64) {
	cut := math.Exp(vanishing/n) - err
	if cut > 0 {
		cut *= cut
	}
	for k, z := range m.out {
		if m.size[k] < vanishing && m.fuzz[k] == 0 { // given up before
			continue
		}
		re, im := real(z)+centre, imag(z)
		square := re*re + im*im
		if square <= cut {
			m.size[k], m.fuzz[k] = 2*vanishing, 0
			continue
		}
		r := math.Sqrt(square)
		if !(r > 1e-3*err) {
			r, re, im = 1e-3*err, 1e-3*err, 0
			square = r * r
		}
		room := err/r + 8*unit // the logarithm and the angle round too
		size := m.size[k] + n*0.5*math.Log(square)
		fuzz := m.fuzz[k] + n*math.Log1p(room)
		if size+fuzz <= vanishing {
			size, fuzz = 2*vanishing, 0
		}
		m.size[k], m.fuzz[k] = size, fuzz
		m.turn[k] += n * math.Atan2(im, re)
	}
}
