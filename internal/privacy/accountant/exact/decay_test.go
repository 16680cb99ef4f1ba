package exact

import (
	"math"
	"math/cmplx"
	"testing"

	"pgregory.net/rapid"
)

// randomAtoms is a law of a few losses in ascending order, as tables are laid.
func randomAtoms(t *rapid.T, name string) *table {
	n := rapid.IntRange(2, 40).Draw(t, name)
	tab := &table{}
	at, sum := rapid.Float64Range(-3, 1).Draw(t, name+" first"), 0.0
	weights := make([]float64, n)
	for i := range weights {
		weights[i] = rapid.Float64Range(0.01, 1).Draw(t, name+" weight")
		sum += weights[i]
	}
	for _, w := range weights {
		tab.add(at, math.Log(w/sum), 0)
		tab.mean += w / sum * at
		at += rapid.Float64Range(1e-4, 0.5).Draw(t, name+" gap")
	}
	return tab
}

// characteristic is |E exp(iyL)| under the law tilted by exp(cL), by definition.
func characteristic(t *table, c, y float64) float64 {
	var sum complex128
	norm := 0.0
	for k, l := range t.loss {
		e := math.Exp(t.logp[k] + c*l)
		sum += complex(e, 0) * cmplx.Exp(complex(0, y*l))
		norm += e
	}
	return cmplx.Abs(sum) / norm
}

// The bound by bins holds for any law at all, over the whole of any interval.
func TestBinsBoundAnyLaw(t *testing.T) {
	said := 0
	rapid.Check(t, func(t *rapid.T) {
		tab := randomAtoms(t, "law")
		c := rapid.Float64Range(0.01, 5).Draw(t, "c")
		y0 := math.Exp(rapid.Float64Range(-3, 5).Draw(t, "log y"))
		y1 := y0 * rapid.Float64Range(1.01, 4).Draw(t, "wider")
		bound := tab.decay(c, y0, y1)
		if !(bound <= 0) {
			t.Fatalf("bound %g", bound)
		}
		if bound < 0 {
			said++
		}
		for i := range 40 {
			y := y0 + (y1-y0)*float64(i)/39
			if got := math.Log(characteristic(tab, c, y)); got > bound+1e-12 {
				t.Fatalf("%d losses, c %g: %g at %g, bound %g over [%g, %g]", len(tab.loss), c, got, y, bound, y0, y1)
			}
		}
	})
	t.Logf("%d bounds say something", said)
	if said < 5 {
		t.Errorf("only %d bounds say anything", said)
	}
}

// Without the twos of a bin that are not claimed, and with cosines bounded where
// they turn back, the same would be no bound: the margin is in use.
func TestBinsFaultIsSeen(t *testing.T) {
	tab := &table{}
	for i := range 9 { // nine equal atoms one apart: |phi| is 1 at 2 pi
		tab.add(float64(i), math.Log(1./9), 0)
		tab.mean += float64(i) / 9
	}
	tab.decay(1e-9, 1, 2)
	y0, y1 := 2*math.Pi*0.999, 2*math.Pi*1.001
	if bound := tab.bins(y0, y1); bound < math.Log(characteristic(tab, 1e-9, 2*math.Pi)) {
		t.Errorf("bound %g where the law is on a lattice", bound)
	}
	// Bins eight times as long: the cosine is taken for a parabola where it is none.
	part := (1 - math.Cos(math.Pi)) / (math.Pi * math.Pi)
	faulty := 2 * part * y0 * y0 * tab.scatter(8*math.Pi/y1)
	if faulty < 1 {
		t.Errorf("bins of eight times the length claim only %g", faulty)
	}
}

// Moments within bins do not depend on where losses are, and scale like squares.
func TestScatterScales(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := randomAtoms(t, "law")
		length := rapid.Float64Range(0.05, 10).Draw(t, "length")
		by := math.Exp(rapid.Float64Range(-5, 5).Draw(t, "log scale"))
		shift := by * rapid.Float64Range(-20, 20).Draw(t, "shift")
		other := &table{}
		for k, l := range tab.loss {
			other.add(by*l+shift, tab.logp[k], 0)
		}
		const c = 0.4
		tab.decay(c, 1, 2)
		other.decay(c/by, 1, 2)
		a, b := tab.scatter(length)*by*by, other.scatter(length*by)
		// A loss on a bin's edge may fall to either side.
		edge := false
		for _, l := range tab.loss {
			x := (l-tab.center)/length + 0.5
			edge = edge || math.Abs(x-math.Round(x)) < 1e-9
		}
		if !edge && math.Abs(a-b) > 1e-9*(a+b)+1e-11*by*by {
			t.Fatalf("scatter %g, scaled by %g and moved by %g: %g", a, by, shift, b)
		}
	})
}

// dense is a density on [0, 1] as a quadrature of equal widths.
func dense(f func(x float64) float64, n int) *table {
	tab, sum := &table{}, 0.0
	for k := range n {
		sum += f((float64(k) + 0.5) / float64(n))
	}
	for k := range n {
		x := (float64(k) + 0.5) / float64(n)
		tab.add(x, math.Log(f(x)/sum), 1/float64(n))
		tab.mean += f(x) / sum * x
	}
	return tab
}

// The bound by level sets against densities whose transforms are known: for the
// uniform one it is 2/y, which the transform reaches, so that 1.2 of it is close.
func TestLevelsBoundKnownDensities(t *testing.T) {
	for name, c := range map[string]struct {
		f  func(x float64) float64
		at func(y float64) float64
	}{
		"uniform":  {func(float64) float64 { return 1 }, func(y float64) float64 { return math.Abs(math.Sin(y/2) / (y / 2)) }},
		"triangle": {func(x float64) float64 { return math.Min(x, 1-x) }, func(y float64) float64 { s := math.Sin(y/4) / (y / 4); return s * s }},
		"sine": {func(x float64) float64 { return math.Sin(math.Pi * x) }, func(y float64) float64 {
			return math.Abs(math.Pi * math.Pi * math.Cos(y/2) / (math.Pi*math.Pi - y*y))
		}},
		"exponential": {func(x float64) float64 { return math.Exp(-3 * x) }, func(y float64) float64 {
			z := complex(-3, y)
			return cmplx.Abs((cmplx.Exp(z)-1)/z) / (-math.Expm1(-3) / 3)
		}},
	} {
		tab := dense(c.f, 20_000)
		const tilt = 1e-9
		for _, y0 := range []float64{3, 10, 40, 200} {
			bound := tab.decay(tilt, y0, math.Inf(1))
			most := 0.0
			for y := y0; y < 40*y0; y += y0 / 50 {
				most = math.Max(most, c.at(y))
			}
			if math.Exp(bound) < most {
				t.Errorf("%s beyond %g: bound %g, transform %g", name, y0, math.Exp(bound), most)
			}
			if y0 >= 40 && math.Exp(bound) > 0.5 {
				t.Errorf("%s beyond %g: bound %g says little", name, y0, math.Exp(bound))
			}
			// Half the variation would be below the uniform density's transform.
			if name == "uniform" && y0 >= 10 && math.Exp(bound)/1.2/2 > most {
				t.Errorf("half the variation, %g, would not be seen against %g", math.Exp(bound)/2.4, most)
			}
			if wide := tab.decay(tilt, y0/2, math.Inf(1)); wide < bound-1e-12 {
				t.Errorf("%s: the bound from %g, %g, is below that from %g, %g", name, y0/2, wide, y0, bound)
			}
		}
	}
}

// Atoms keep their characteristic function up for ever: no bound may say otherwise,
// whatever density lies beside them.
func TestAtomsDoNotFade(t *testing.T) {
	for _, share := range []float64{0.01, 0.3, 0.9} {
		tab := dense(func(float64) float64 { return 1 }, 5000)
		for k := range tab.loss {
			tab.logp[k] += math.Log1p(-share)
			tab.p[k] *= 1 - share
		}
		tab.add(1.5, math.Log(share), 0)
		for _, y := range []float64{50, 1e4, 1e8} {
			bound := tab.decay(1e-9, y, math.Inf(1))
			// The atom alone, less what the density may take from it.
			if least := share - (1-share)*2/y; math.Exp(bound) < least {
				t.Errorf("share %g beyond %g: bound %g, at least %g", share, y, math.Exp(bound), least)
			}
			if y > 1e6 && math.Exp(bound) > share+0.11*(1-share)+1e-3 {
				t.Errorf("share %g beyond %g: bound %g", share, y, math.Exp(bound))
			}
		}
	}
}

// The closed laws' own bounds, close to where they are tight.
func TestClosedDecays(t *testing.T) {
	for _, mu := range []float64{0.1, 1, 4} {
		g := gaussian{mu * mu}
		for _, y := range []float64{0.5, 3, 20} {
			re, _, _ := g.log(2, y)
			if got := g.decay(2, y, 2*y); math.Abs(got-(re-g.real(2))) > 1e-12*(1+math.Abs(got)) {
				t.Errorf("mu %g at %g: %g, want %g", mu, y, got, re-g.real(2))
			}
		}
	}
	for _, e := range []float64{0.2, 1, 5} {
		f := laplace{shift: e, rate: 1}.factor(Remove)
		for _, c := range []float64{0.3, 2} {
			for _, y := range []float64{0.5, 8, 300} {
				if err := f.reach(c, 2*y); err != nil {
					t.Fatal(err)
				}
				bound, base := f.decay(c, y, math.Inf(1)), f.real(c)
				most := math.Inf(-1)
				for i := range 400 {
					if err := f.reach(c, y*(1+float64(i)/10)); err != nil {
						t.Fatal(err)
					}
					re, _, _ := f.log(c, y*(1+float64(i)/10))
					most = math.Max(most, re-base)
				}
				if most > bound+1e-12 {
					t.Errorf("laplace %g c %g beyond %g: %g above %g", e, c, y, most, bound)
				}
				if y == 300 && bound > most+0.05 {
					t.Errorf("laplace %g c %g: bound %g far above %g", e, c, bound, most)
				}
			}
		}
	}
	// The discrete Gaussian: to the half period, and nothing beyond it.
	for _, g := range []discreteGaussian{{1, 1}, {3, 4}, {1, 30}} {
		f := theta{g}
		half := math.Pi * g.sigma * g.sigma / g.shift
		base := f.real(1)
		for _, part := range []float64{0.05, 0.3, 0.5, 0.7, 0.99} {
			y0, y1 := part*half, math.Min(1.2*part, 1)*half
			bound := f.decay(1, y0, y1)
			for i := range 50 {
				re, _, noise := f.log(1, y0+(y1-y0)*float64(i)/49)
				if re-base > bound+4*ulp*noise+1e-12 {
					t.Errorf("%+v at %g of the half period: %g above %g", g, part, re-base, bound)
					break
				}
			}
		}
		if bound := f.decay(1, 0.9*half, 1.1*half); bound != 0 {
			t.Errorf("%+v: %g beyond the half period", g, bound)
		}
	}
	if d := (&atoms{}).decay(1, 2, 3); d != 0 {
		t.Errorf("atoms: %g", d)
	}
}

// A composition falls as the sum over its releases says.
func TestFallsAddsUp(t *testing.T) {
	a, b := sampledGaussian{mu: 1, rate: 0.2}.factor(Remove), gaussian{0.3}
	g := &integral{terms: []counted{{a, 12}, {b, 1}}, most: math.Inf(1), budget: work}
	if err := g.reach(2, 60); err != nil {
		t.Fatal(err)
	}
	for _, y := range []float64{1, 5, 30} {
		for _, end := range []float64{1.3 * y, math.Inf(1)} {
			want := 12*a.decay(2, y, end) + b.decay(2, y, end)
			if got := g.falls(2, y, end); math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("from %g to %g: %g, want %g", y, end, got, want)
			}
		}
	}
}
