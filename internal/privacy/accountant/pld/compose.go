package pld

import (
	"math"

	"privrec/internal/privacy/accountant/pld/fft"
)

// machine holds the transform of one length and its buffers.
type machine struct {
	n    int
	fft  *fft.Real
	seq  []float64
	out  []complex128
	size []float64 // log of the product of powers
	turn []float64 // its argument
	fuzz []float64 // log of the factor by which the errors may have changed it
}

func newMachine(n int) *machine {
	return &machine{
		n: n, fft: fft.New(n), seq: make([]float64, n), out: make([]complex128, n/2+1),
		size: make([]float64, n/2+1), turn: make([]float64, n/2+1), fuzz: make([]float64, n/2+1),
	}
}

// work returns how many bins a composition of so many terms visits: a transform for each and one back.
func (m *machine) work(terms int) int { return m.n * (terms + 1) }

// fftError bounds the error of each coefficient of a transform of length n, and of each entry of the way
// back, relative to the sum of absolute inputs.
func fftError(n int) float64 { return fft.Error(n) }

// vanishing is the logarithm below which a coefficient is left out.
const vanishing = -80

// tilted is the composition of tilted masses: mass[j] at loss lo + j*h, within fuzz of the result of exact
// arithmetic.
type tilted struct {
	lo, h    float64
	mass     []float64
	tilt     float64
	logMass  float64 // log of the composed moment E[exp(tilt L)], by which the masses were divided
	logUp    float64 // log of E[exp((tilt+up) L)]
	logDown  float64 // log of E[exp((tilt-down) L)]
	fuzz     float64
	sum      float64 // the coefficient at zero: the right sum of the masses
	sumFuzz  float64
	infinite float64 // mass at infinity
	created  float64 // how far the masses of all releases are from one
}

// compose returns the loss of counts[i] draws of each terms[i], tilted, in a window that starts at or just
// below s.lo. All terms have the same mesh.
func (m *machine) compose(terms []*masses, counts []float64, s span) *tilted {
	half := m.n/2 + 1
	for k := range half {
		m.size[k], m.turn[k], m.fuzz[k] = 0, 0, 0
	}
	t := &tilted{h: terms[0].h, tilt: s.tilt}
	offset, logFinite := 0.0, 0.0
	for i, p := range terms {
		n := counts[i]
		rest, centre, err := m.load(p, n, s, t)
		offset += n * centre
		logFinite += n * math.Log1p(-min(p.inf, 1))
		t.created += n * math.Abs(p.total()-1)
		m.fft.Forward(m.out, m.seq)
		m.raise(n, 1-rest, err)
	}
	t.infinite = -math.Expm1(logFinite)
	sum, fuzz := 0.0, 0.0
	for k := range half {
		weight := 2.0
		if k == 0 || k == half-1 {
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
	m.fft.Inverse(m.seq, m.out)
	t.fuzz = (fuzz + fftError(m.n)*sum) / float64(m.n)
	t.sumFuzz = t.fuzz*float64(m.n) + 1e-12
	from := math.Floor((s.lo - offset) / t.h)
	t.lo = offset + from*t.h
	t.mass = make([]float64, m.n)
	start := wrap(from, m.n)
	inverse := 1 / float64(m.n)
	for j := range t.mass {
		t.mass[j] = m.seq[(start+j)&(m.n-1)] * inverse
	}
	return t
}

// least is more than what many underflowing terms of a sum can lose.
const least = 1e-290

// wrap returns an integer modulo n.
func wrap(k float64, n int) int {
	r := math.Mod(k, float64(n))
	if r < 0 {
		r += float64(n)
	}
	return int(r)
}

// load writes tilted masses into the sequence, except the largest, on which it centres them. So the
// coefficients' errors are relative to the rest, which is small if large losses are rare. It adds the
// moments of n draws to t and returns the rest, the loss at the centre, and a bound of the error of each
// coefficient.
func (m *machine) load(p *masses, n float64, s span, t *tilted) (rest, centre, err float64) {
	clear(m.seq)
	shift := math.Inf(-1)
	for i, w := range p.w {
		if w != 0 {
			shift = max(shift, s.tilt*p.loss(i)+math.Log(math.Abs(w)))
		}
	}
	bottom, top := p.loss(0), p.loss(len(p.w)-1)
	x := make([]float64, len(p.w))
	var sum, up, down, rounding float64
	for i, w := range p.w {
		if w == 0 {
			continue
		}
		l := p.loss(i)
		e := s.tilt*l - shift
		v := w * math.Exp(e)
		if e > 700 { // only if w is smaller still
			v = math.Copysign(math.Exp(e+math.Log(math.Abs(w))), w)
		}
		x[i] = v
		sum += v
		up += v * math.Exp(s.up*(l-top))
		down += v * math.Exp(s.down*(bottom-l))
		rounding += v * (math.Abs(s.tilt*l) + math.Abs(shift))
	}
	inverse := 1 / sum
	peak := 0
	for i, v := range x {
		if v > x[peak] {
			peak = i
		}
	}
	at := wrap(float64(-peak), m.n)
	size := 0.0
	for i, v := range x {
		if i != peak {
			m.seq[(at+i)&(m.n-1)] += v * inverse
			rest += v * inverse
			size += math.Abs(v) * inverse
		}
	}
	t.logMass += n * (shift + math.Log(sum))
	t.logUp += n * (shift + s.up*top + math.Log(up+least))
	t.logDown += n * (shift - s.down*bottom + math.Log(down+least))
	return rest, p.loss(peak), fftError(m.n)*size + 24*unit + 4*unit*math.Abs(rounding)*inverse
}

// raise multiplies the product by the n-th power of the transform with the mass at the centre added, in
// polar form. For |z| <= r and an error e, |z^n - (z+e)^n| <= (r+e)^n - r^n, so that the logarithm of
// (r+e)/r adds up.
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
