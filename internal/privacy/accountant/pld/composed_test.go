package pld

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// smallMasses are a few random masses on a mesh.
func smallMasses(r *rand.Rand, h float64) *masses {
	m := &masses{offset: r.NormFloat64() / 10, h: h, first: r.IntN(10) - 6, w: make([]float64, 1+r.IntN(12))}
	s := 0.0
	for i := range m.w {
		if r.IntN(4) > 0 || len(m.w) == 1 {
			m.w[i] = math.Exp(2 * r.NormFloat64())
		}
		s += m.w[i]
	}
	if s == 0 {
		m.w[0], s = 1, 1
	}
	for i := range m.w {
		m.w[i] /= s
	}
	return m
}

// direct is the composition by convolution in big.Float: masses on the mesh from
// the sum of all first nodes on.
func direct(ms []*masses, counts []float64) (first int, offset float64, w []*big.Float) {
	w = []*big.Float{bigOf(1)}
	for i, m := range ms {
		for range int(counts[i]) {
			next := make([]*big.Float, len(w)+len(m.w)-1)
			for k := range next {
				next[k] = new(big.Float).SetPrec(bits)
			}
			for a := range w {
				for b, v := range m.w {
					if v != 0 {
						next[a+b] = add(next[a+b], mul(w[a], bigOf(v)))
					}
				}
			}
			w = next
			first += m.first
			offset += m.offset
		}
	}
	return first, offset, w
}

// The transform's parts, times their moment and untilted, are the convolution,
// within the bound that comes with them; the moments are its moments.
func TestComposeIsConvolution(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		h := logUniform(t, "mesh", 0.01, 0.3)
		n := rapid.IntRange(1, 3).Draw(t, "different")
		var ms []*masses
		var counts []float64
		for range n {
			ms = append(ms, smallMasses(r, h))
			counts = append(counts, float64(rapid.IntRange(1, 6).Draw(t, "count")))
		}
		first, offset, want := direct(ms, counts)
		lo := offset + float64(first)*h
		s := span{tilt: logUniform(t, "tilt", 1e-3, 8), lo: lo - 3*h*r.Float64(), hi: lo + 1024*h, up: 0.5 + r.Float64(), down: 0.5 + r.Float64()}
		x := newMachine(1024).compose(ms, counts, s)
		moment := func(c float64) *big.Float {
			sum := new(big.Float).SetPrec(bits)
			for k, v := range want {
				sum = add(sum, mul(v, bigExp(mul(bigOf(c), bigOf(lo+float64(k)*h)))))
			}
			return sum
		}
		for name, v := range map[string]struct{ got, at float64 }{"mass": {x.logMass, s.tilt}, "up": {x.logUp, s.tilt + s.up}, "down": {x.logDown, s.tilt - s.down}} {
			exact, _ := bigLog(moment(v.at)).Float64()
			if math.Abs(v.got-exact) > 1e-10*(1+math.Abs(exact)) {
				t.Fatalf("log of the moment %s is %v, want %v", name, v.got, exact)
			}
		}
		scale, sum := moment(s.tilt), 0.0
		for j, v := range x.mass {
			l := x.lo + float64(j)*h
			k := int(math.Round((l - lo) / h))
			exact := 0.0
			if k >= 0 && k < len(want) {
				exact, _ = quo(mul(want[k], bigExp(mul(bigOf(s.tilt), bigOf(l)))), scale).Float64()
			}
			if math.Abs(v-exact) > x.fuzz+1e-11*exact {
				t.Fatalf("mass %d at %g is %g, want %g within %g", j, l, v, exact, x.fuzz)
			}
			sum += v
		}
		if err := x.check(1e-9); err != nil {
			t.Fatal(err)
		}
		if math.Abs(sum-1) > 1e-10 {
			t.Fatalf("masses sum to 1%+g", sum-1)
		}
		if x.lo > s.lo+1e-12 || x.lo < s.lo-h*(1+1e-9) {
			t.Fatalf("the window begins at %g, asked for %g with a mesh of %g", x.lo, s.lo, h)
		}
	})
}

// What composes is the sum of counts, in any order, in one call or as parts of the
// same law.
func TestComposeAdds(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	m, other := smallMasses(r, 0.05), smallMasses(r, 0.05)
	s := span{tilt: 1, lo: -40, hi: 60, up: 1, down: 1}
	machine := newMachine(2048)
	at := func(ms []*masses, counts []float64) *tilted { return machine.compose(ms, counts, s) }
	once := at([]*masses{m, other}, []float64{7, 3})
	for name, x := range map[string]*tilted{
		"in another order": at([]*masses{other, m}, []float64{3, 7}),
		"in parts":         at([]*masses{m, other, m}, []float64{5, 3, 2}),
	} {
		if math.Abs(x.logMass-once.logMass) > 1e-12 || math.Abs(x.lo-once.lo) > 1e-12 {
			t.Errorf("%s: moment %v at %v, want %v at %v", name, x.logMass, x.lo, once.logMass, once.lo)
		}
		for j := range x.mass {
			if math.Abs(x.mass[j]-once.mass[j]) > x.fuzz+once.fuzz {
				t.Fatalf("%s: mass %d is %g, want %g", name, j, x.mass[j], once.mass[j])
			}
		}
	}
	again := at([]*masses{m, other}, []float64{7, 3})
	if !slices.Equal(again.mass, once.mass) || again.fuzz != once.fuzz || again.logMass != once.logMass {
		t.Error("other masses at another call on the same machine")
	}
}

// The mass at infinity of n compositions is one less what never went there.
func TestComposeInfinity(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, inf := range []float64{0, 1e-15, 1e-6, 0.3} {
		m := smallMasses(r, 0.05)
		m.inf = inf
		for i := range m.w {
			m.w[i] *= 1 - inf
		}
		x := newMachine(1024).compose([]*masses{m}, []float64{9}, span{tilt: 1, lo: -10, hi: 20, up: 1, down: 1})
		want := sub(bigOf(1), func() *big.Float {
			p := bigOf(1)
			for range 9 {
				p = mul(p, sub(bigOf(1), bigOf(inf)))
			}
			return p
		}())
		if !near(x.infinite, want, 1e-14) && inf > 0 || inf == 0 && x.infinite != 0 {
			t.Errorf("infinite losses of %g nine times: %g, want %.15g", inf, x.infinite, want)
		}
	}
	m := &masses{h: 1, w: []float64{0}, inf: 1}
	if got := m.total(); got != 1 {
		t.Errorf("all mass at infinity sums to %g", got)
	}
}

// Coefficients' powers against repeated multiplication in big.Float: the polar form
// keeps its digits where squaring would lose n units.
func TestRaise(t *testing.T) {
	m := newMachine(16)
	r := rand.New(rand.NewPCG(25, 26))
	for _, n := range []float64{1, 2, 17, 1000, 3e6} {
		for k := range m.out {
			m.size[k], m.turn[k], m.fuzz[k] = 0, 0, 0
			radius, angle := 1-30/n*r.Float64(), 6*r.Float64()
			if n < 40 {
				radius = 1 - r.Float64()/2
			}
			m.out[k] = complex(radius*math.Cos(angle), radius*math.Sin(angle))
		}
		in := slices.Clone(m.out)
		m.raise(n, 0, 1e-16)
		for k, z := range in {
			if m.size[k] < vanishing {
				continue
			}
			re, im := bigOf(1), bigOf(0)
			pr, pi := bigOf(real(z)), bigOf(imag(z))
			for e := int(n); e > 0; e /= 2 { // squares in 640 bits lose nothing that counts
				if e&1 == 1 {
					re, im = sub(mul(re, pr), mul(im, pi)), add(mul(re, pi), mul(im, pr))
				}
				pr, pi = sub(mul(pr, pr), mul(pi, pi)), mul(bigOf(2), mul(pr, pi))
			}
			size := math.Exp(m.size[k])
			sin, cos := math.Sincos(m.turn[k])
			offRe, _ := sub(re, bigOf(size*cos)).Float64()
			offIm, _ := sub(im, bigOf(size*sin)).Float64()
			if off, allowed := math.Hypot(offRe, offIm), math.Exp(m.size[k])*(math.Expm1(m.fuzz[k])+256*unit); off > allowed {
				t.Errorf("power %g of %v: off by %g, allowed %g", n, z, off, allowed)
			}
		}
	}
}

// Coefficients that vanish are left out for good, those that may not be are kept
// however wrong.
func TestVanishing(t *testing.T) {
	m := newMachine(16)
	for k := range m.out {
		m.size[k], m.turn[k], m.fuzz[k] = 0, 0, 0
		m.out[k] = complex(0.5, 0)
	}
	m.raise(1000, 0, 1e-16)
	for k := range m.out {
		if m.size[k] > vanishing || m.fuzz[k] != 0 {
			t.Errorf("half to the thousandth is exp(%g), fuzz %g", m.size[k], m.fuzz[k])
		}
		m.out[k] = 1
	}
	m.raise(5, 0, 1e-16)
	for k := range m.out {
		if m.size[k] > vanishing {
			t.Errorf("what vanished came back as exp(%g)", m.size[k])
		}
		m.size[k], m.turn[k], m.fuzz[k] = 0, 0, 0
		m.out[k] = complex(1e-20, 0) // below its own error of 1e-3
	}
	m.raise(3, 0, 1e-3)
	for k := range m.out {
		if bound := math.Exp(m.size[k] + m.fuzz[k]); bound < 1e-9*(1-1e-9) {
			t.Errorf("a coefficient that may be 1e-3 is bounded by %g at its third power", bound)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		k    float64
		n    int
		want int
	}{{0, 8, 0}, {7, 8, 7}, {8, 8, 0}, {-1, 8, 7}, {-8, 8, 0}, {-17, 8, 7}, {1e15 + 3, 1024, int(math.Mod(1e15+3, 1024))}, {-1e12, 1 << 20, int((1<<20 - int64(1e12)%(1<<20)) % (1 << 20))}} {
		if got := wrap(c.k, c.n); got != c.want {
			t.Errorf("%g modulo %d is %d, want %d", c.k, c.n, got, c.want)
		}
	}
}

// The mean of a composition is the count times the mean of one, at every tilt: the
// parts, tilted, have the derivative of the logarithm of the moment.
func TestTiltedMean(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for range 20 {
		m := smallMasses(r, 0.05)
		const n = 40
		for _, tilt := range []float64{0.01, 1, 6} {
			var s0, s1 float64
			for i, w := range m.w {
				e := w * math.Exp(tilt*m.loss(i))
				s0, s1 = s0+e, s1+e*m.loss(i)
			}
			mean := n * s1 / s0
			x := newMachine(2048).compose([]*masses{m}, []float64{n}, span{tilt: tilt, lo: mean - 1000*m.h, hi: mean + 1000*m.h, up: 1, down: 1})
			got := 0.0
			for j, v := range x.mass {
				got += v * (x.lo + float64(j)*x.h)
			}
			if math.Abs(got-mean) > 1e-8 {
				t.Errorf("tilt %g: mean %v, want %v", tilt, got, mean)
			}
		}
	}
}

// The noise floor: without a tilt a transform's error is relative to one, and a
// delta of 1e-25 drowns in it; with the tilt it keeps its digits.
func TestTiltRemovesNoise(t *testing.T) {
	x := mustPair(gaussian(0.02))
	lo, hi := x.cut(1e-30, true)
	const n, eps = 2500, 10.3
	want := gaussianDelta(1, eps)
	c := x.discretise(context.Background(), (hi-lo)/2000, lo, hi)
	v, err := newView(context.Background(), []term{{x, n}}, query{eps: eps})
	if err != nil {
		t.Fatal(err)
	}
	s := v.spans[0]
	s.lo, s.hi = -6, -6+c.h*(1<<16)
	relative := func(tilt float64) float64 {
		s.tilt = tilt
		y := newMachine(1<<16).compose([]*masses{c.upper()}, []float64{n}, s)
		// Of rounding alone: what the bound adds.
		b := y.upper(s)
		w, _ := want.Float64()
		return b.slack * math.Exp(y.logMass-tilt*eps) / w
	}
	if got := relative(v.spans[0].tilt); got > 1e-6 {
		t.Errorf("with a tilt of %g rounding is %g of delta", v.spans[0].tilt, got)
	}
	if got := relative(1e-3); got < 1e3 {
		t.Errorf("without a tilt rounding is only %g of delta: no noise to remove", got)
	}
}
