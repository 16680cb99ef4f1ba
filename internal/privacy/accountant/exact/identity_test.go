package exact

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/numeric"
)

// gaussStick is delta of a mu-Gaussian-DP release at any real epsilon, where the
// package needs epsilon >= 0 only: below 0 by the symmetry of both tails,
// delta(-e) = 1 - exp(-e) (1 - delta(e)).
func gaussStick(mu, eps float64) float64 {
	if eps < 0 {
		return 1 - math.Exp(eps)*(1-gaussStick(mu, -eps))
	}
	return math.Exp(numeric.GaussianLogDelta(mu, eps))
}

// The trapezoid rule of step D returns, exactly, the sum over all k of
// exp(2 pi k c/D) delta(eps + 2 pi k/D): what the bound of the images rests on.
func TestTrapezoidIsASumOfImages(t *testing.T) {
	loud := 0
	for _, mu := range []float64{0.4, 1, 2.5} {
		g := alone(mu)
		for _, eps := range []float64{0, 0.7, 2} {
			for _, c := range []float64{0.5, 1.5, 4} {
				for _, step := range []float64{0.3, 1, 2, 3.5} {
					sum := 0.0
					for j := 0.0; j < 4000; j++ {
						re, im, _ := g.log(c, j*step)
						w := complex(c, j*step)
						kernel := 1 / (w * (w + 1))
						term := math.Exp(re-c*eps) * (real(kernel)*math.Cos(im-j*step*eps) - imag(kernel)*math.Sin(im-j*step*eps))
						if j > 0 {
							term *= 2
						}
						sum += term * step / (2 * math.Pi)
					}
					want, largest := 0.0, 0.0
					for k := -400.; k <= 400; k++ {
						at := eps + 2*math.Pi*k/step
						if d := gaussStick(mu, at) * math.Exp(2*math.Pi*k*c/step); !math.IsNaN(d) {
							want += d
							largest = math.Max(largest, d)
							if k != 0 && d > 1e-6*gaussStick(mu, eps) {
								loud++
							}
						}
					}
					if math.Abs(sum-want) > 2e-13*(largest+math.Exp(g.real(c)-c*eps)) {
						t.Errorf("mu %g eps %g c %g step %g: rule %.17g, images %.17g", mu, eps, c, step, sum, want)
					}
				}
			}
		}
	}
	if loud < 50 {
		t.Errorf("only %d images are worth a look", loud)
	}
}

// duals are compositions that the integral covers at negative epsilons too.
var duals = []struct {
	name  string
	mu2   float64
	parts []term
}{
	{"sampled", 0, []term{{sampledGaussian{mu: 0.9, rate: 0.02}, 600}}},
	{"sampled often", 0, []term{{sampledGaussian{mu: 0.5, rate: 0.6}, 40}}},
	{"two kinds", 0.2, []term{{sampledGaussian{mu: 1.2, rate: 0.05}, 30}, {laplace{shift: 1, rate: 0.3}, 4}}},
	{"sampled laplace", 0.3, []term{{laplace{shift: 1.5, rate: 0.2}, 3}}},
	{"sampled lattice", 0.3, []term{{discreteLaplace{shift: 3, scale: 2, rate: 0.2}, 6}}},
	{"replace", 0, []term{{sampledGaussian{mu: 1, rate: 0.1, replace: true}, 200}}},
	{"laplace", 0.4, []term{{laplace{shift: 0.7, rate: 1}, 5}}},
	{"response", 0.1, []term{{response{eps: 0.5, categories: 4}, 9}}},
	{"lattice", 0, []term{{response{eps: 0.5, categories: 4}, 9}}},
	{"discrete gaussian", 0, []term{{discreteGaussian{shift: 2, sigma: 5}, 6}}},
	{"mixed lattice", 0, []term{{response{eps: 1, categories: 3}, 3}, {response{eps: 2, categories: 2}, 2}}},
}

// What one direction says at epsilon the other says at minus epsilon:
// E_Q[(1 - e^eps P/Q)+] = 1 - e^eps + e^eps E_P[(1 - e^-eps Q/P)+]. The two sides
// come from two integrands, of which neither is the other's reflection.
func TestDirectionsAreDual(t *testing.T) {
	for _, c := range duals {
		p := &plan{mu2: c.mu2, terms: c.parts}
		asked := 0
		for _, eps := range []float64{0, 0.05, 0.3, 1, 1.7} {
			for d, other := range map[Direction]Direction{Remove: Add, Add: Remove} {
				v, err := p.integrate(d).delta(eps)
				w, err1 := p.integrate(other).delta(-eps)
				if err != nil || err1 != nil {
					t.Errorf("%s %s at %g: %v, %v", c.name, d, eps, err, err1)
					continue
				}
				want := -math.Expm1(eps) + math.Exp(eps)*w.Delta
				slack := v.Error + math.Exp(eps)*w.Error + 4*ulp*math.Exp(eps)
				if math.Abs(v.Delta-want) > slack {
					t.Errorf("%s %s at %g: %.17g, dual %.17g, slack %.2g", c.name, d, eps, v.Delta, want, slack)
				}
				if slack < 1e-6*v.Delta {
					asked++
				}
			}
		}
		if asked < 4 {
			t.Errorf("%s: only %d comparisons say anything", c.name, asked)
		}
	}
}

// Where the line is put does not matter: K is analytic to the right of 0.
func TestAnyLineWillDo(t *testing.T) {
	for _, c := range duals {
		p := &plan{mu2: c.mu2, terms: c.parts}
		for _, d := range []Direction{Remove, Add} {
			const eps = 0.6
			g := p.integrate(d)
			at := g.saddle(eps, 1)
			guess := g.bound(at, eps) - 3
			values := map[float64]float64{}
			errs := 0.0
			for _, by := range []float64{0.6, 0.8, 1, 1.2, 1.5} {
				l, err := g.build(at*by, eps, guess, quiet)
				if err != nil {
					t.Errorf("%s %s: line %g: %v", c.name, d, at*by, err)
					continue
				}
				log, r := l.at(eps)
				r += g.images(l.c, l.step, eps, log)
				if r > 1e-6 {
					t.Errorf("%s %s: line %g has an error of %g", c.name, d, at*by, r)
				}
				values[by], errs = log, errs+r
			}
			for by, v := range values {
				if math.Abs(v-values[1]) > errs {
					t.Errorf("%s %s: log delta %.17g at the saddle, %.17g at %g times it, errors %.2g", c.name, d, values[1], v, by, errs)
				}
			}
		}
	}
}

// In exp(epsilon) a hockey stick is convex and falls no faster than one for one;
// on log scale the interpolation of two points is an upper bound.
func TestCurvesAreConvex(t *testing.T) {
	for _, c := range duals {
		p := &plan{mu2: c.mu2, terms: c.parts}
		for _, d := range []Direction{Remove, Add} {
			var x, y, e []float64
			for _, eps := range []float64{0, 0.1, 0.25, 0.5, 0.8, 1.2, 1.6, 2.1, 2.7, 3.4} {
				v, err := p.delta(d, eps)
				if err != nil {
					t.Fatalf("%s %s at %g: %v", c.name, d, eps, err)
				}
				x, y, e = append(x, math.Exp(eps)), append(y, v.Delta), append(e, v.Error)
			}
			for i := 1; i < len(x); i++ {
				if y[i] > y[i-1]+e[i] || y[i-1]-y[i] > (x[i]-x[i-1])+e[i-1] {
					t.Errorf("%s %s: from %g to %g over %g", c.name, d, y[i-1], y[i], x[i]-x[i-1])
				}
				if i+1 < len(x) {
					share := (x[i] - x[i-1]) / (x[i+1] - x[i-1])
					if chord := y[i-1]*(1-share) + y[i+1]*share; y[i]-e[i] > chord {
						t.Errorf("%s %s: %g above the chord %g at e^eps %g", c.name, d, y[i], chord, x[i])
					}
				}
			}
		}
	}
}

// n releases at once are one release n times: the K of a sum is the sum of the K,
// for every factor and however the counts are grouped.
func TestCountsAddUp(t *testing.T) {
	for name, l := range laws() {
		for _, d := range []Direction{Remove, Add} {
			whole := &integral{terms: []counted{{l.factor(d), 7}}, budget: work}
			split := &integral{terms: []counted{{l.factor(d), 3}, {l.factor(d), 4}}, budget: work}
			for _, g := range []*integral{whole, split} {
				if err := g.reach(1.5, 9); err != nil {
					t.Fatal(err)
				}
			}
			for _, y := range []float64{0, 0.4, 8} {
				a, b, noise := whole.log(1.5, y)
				a2, b2, _ := split.log(1.5, y)
				if off(a, b, a2, b2) > 4*noise+1e-15*math.Abs(a) {
					t.Errorf("%s %s at %g: %g%+gi whole, %g%+gi split", name, d, y, a, b, a2, b2)
				}
			}
			if a, b := whole.real(1.5), split.real(1.5); math.Abs(a-b) > 1e-14*math.Abs(a) {
				t.Errorf("%s %s: %g whole, %g split", name, d, a, b)
			}
			if whole.budget >= work || split.budget >= whole.budget {
				t.Errorf("%s %s: budgets %d and %d", name, d, whole.budget, split.budget)
			}
		}
	}
}

// Gaussians that are moved by m at rate one, and mixtures whose rate goes to one or
// to nought, meet: no law jumps at the end of its range.
func TestLimitsOfRates(t *testing.T) {
	for _, m := range []float64{0.2, 1, 3} {
		for _, d := range []Direction{Remove, Add} {
			for _, c := range []float64{0.5, 2, 6} {
				full := m * m / 2 * c * (c + 1)
				near := sampledGaussian{mu: m, rate: 1 - 1e-10}.factor(d).real(c)
				if d == Remove && math.Abs(near/full-1) > 1e-7 {
					t.Errorf("%s m %g c %g: %g near rate one, %g at it", d, m, c, near, full)
				}
				// For small rates K is q² c (c+1)/2 (exp(m²) - 1).
				const q = 1e-9
				small := sampledGaussian{mu: m, rate: q}.factor(d).real(c)
				if want := q * q * c * (c + 1) / 2 * math.Expm1(m*m); m <= 1 && math.Abs(small/want-1) > 1e-4 {
					t.Errorf("%s m %g c %g: %g at rate %g, second order %g", d, m, c, small, q, want)
				}
			}
		}
		l := laplace{shift: m, rate: 1 - 1e-9}
		for _, c := range []float64{0.5, 2} {
			a, b := l.factor(Remove).real(c), laplace{shift: m, rate: 1}.factor(Remove).real(c)
			if math.Abs(a/b-1) > 1e-6 {
				t.Errorf("laplace %g c %g: %g near rate one, %g at it", m, c, a, b)
			}
		}
	}
}

// Wide integer noise under a move of many steps is the continuous noise.
func TestLimitsOfGrids(t *testing.T) {
	for _, fine := range []float64{16, 256, 4096} {
		for _, c := range []float64{0.3, 2, 8} {
			a := discreteLaplace{shift: 3 * fine, scale: 2 * fine, rate: 1}.factor(Remove).real(c)
			b := laplace{shift: 1.5, rate: 1}.factor(Remove).real(c)
			if math.Abs(a/b-1) > 3/(fine*fine) {
				t.Errorf("laplace on 1/%g, c %g: %g, continuous %g", fine, c, a, b)
			}
			g := discreteGaussian{shift: 3 * fine, sigma: 2 * fine}.factor(Remove).real(c)
			if want := 1.5 * 1.5 / 2 * c * (c + 1); math.Abs(g/want-1) > 1e-12 {
				t.Errorf("gaussian on 1/%g, c %g: %g, continuous %g", fine, c, g, want)
			}
		}
	}
}

// Sampling never tells more than not sampling, and more often never less: K rises
// with the rate, in both directions, and so with the move.
func TestGeneratingFunctionsRise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := math.Exp(rapid.Float64Range(-12, -0.01).Draw(t, "log rate"))
		m := rapid.Float64Range(0.05, 4).Draw(t, "move")
		more := rapid.Float64Range(1.0001, 1.5).Draw(t, "more")
		c := math.Exp(rapid.Float64Range(-4, 3).Draw(t, "log c"))
		d := rapid.SampledFrom([]Direction{Remove, Add}).Draw(t, "direction")
		shift := float64(rapid.IntRange(1, 6).Draw(t, "shift"))
		for name, pair := range map[string][2]law{
			"rate":             {sampledGaussian{mu: m, rate: q}, sampledGaussian{mu: m, rate: math.Min(0.999, q*more)}},
			"move":             {sampledGaussian{mu: m, rate: q}, sampledGaussian{mu: m * more, rate: q}},
			"replaced":         {sampledGaussian{mu: m, rate: q, replace: true}, sampledGaussian{mu: m * more, rate: q, replace: true}},
			"laplace":          {laplace{shift: m, rate: q}, laplace{shift: m * more, rate: q}},
			"laplace rate":     {laplace{shift: m, rate: q}, laplace{shift: m, rate: 1}},
			"discrete laplace": {discreteLaplace{shift: shift, scale: m, rate: q}, discreteLaplace{shift: shift + 1, scale: m, rate: q}},
			"response":         {response{eps: m, categories: 3}, response{eps: m * more, categories: 3}},
		} {
			a, b := pair[0].factor(d).real(c), pair[1].factor(d).real(c)
			if !(a >= 0) || !(a <= b*(1+1e-12)+1e-300) {
				t.Fatalf("%s %s c %g: %+v has %g, %+v has %g", name, d, c, pair[0], a, pair[1], b)
			}
		}
	})
}

// The largest loss and its probability are what the law's own table says.
func TestLargestLosses(t *testing.T) {
	for name, l := range laws() {
		for _, d := range []Direction{Remove, Add} {
			most, top := l.most(d), l.top(d)
			// A sampled Gaussian's loss is bounded in one direction, and never reached.
			if _, gaussian := l.(sampledGaussian); !gaussian && math.IsInf(most, 1) != math.IsInf(top, -1) || gaussian && !math.IsInf(top, -1) {
				t.Errorf("%s %s: largest loss %g, log probability %g", name, d, most, top)
			}
			f := l.factor(d)
			if err := f.reach(0.5, 1); err != nil {
				t.Fatal(err)
			}
			tab := tableOf(f)
			if tab == nil {
				continue
			}
			seen, mass := math.Inf(-1), 0.0
			for k, loss := range tab.loss {
				if loss > seen*(1+1e-15) {
					seen, mass = loss, 0
				}
				if math.Abs(loss-seen) <= 1e-12*math.Abs(seen) {
					mass += tab.p[k]
				}
			}
			if seen > most*(1+1e-13) {
				t.Errorf("%s %s: a loss of %v, at most %v", name, d, seen, most)
			}
			if !math.IsInf(top, -1) && (math.Abs(seen/most-1) > 1e-12 || math.Abs(mass-math.Exp(top)) > 1e-12) {
				t.Errorf("%s %s: loss %v with %v, want %v with %v", name, d, seen, mass, most, math.Exp(top))
			}
		}
	}
}

// tableOf is the table behind a factor, nil where there is none.
func tableOf(f factor) *table {
	switch f := f.(type) {
	case *atoms:
		return &f.t
	case *smooth:
		return &f.t
	case *plainLaplace:
		return &f.t
	}
	return nil
}

// Every loss of a lattice law is its offset and a multiple of its spacing.
func TestLatticesHoldTheirLosses(t *testing.T) {
	on := 0
	for name, l := range laws() {
		h, offset := l.lattice()
		f := l.factor(Remove)
		if err := f.reach(0.5, 1); err != nil {
			t.Fatal(err)
		}
		tab := tableOf(f)
		if h == 0 || tab == nil {
			continue
		}
		for _, loss := range tab.loss {
			if n := (loss - offset) / h; math.Abs(n-math.Round(n)) > 1e-9*(1+math.Abs(n)) {
				t.Errorf("%s: loss %v is not on %v + n %v", name, loss, offset, h)
			}
			on++
		}
		// So that |E exp(iyL)| has the period 2 pi/h.
		for _, y := range []float64{0.3, 2} {
			a, _, _ := f.log(0.7, y)
			if err := f.reach(0.7, y+2*math.Pi/h); err != nil {
				t.Fatal(err)
			}
			if b, _, noise := f.log(0.7, y+2*math.Pi/h); math.Abs(a-b) > 1e-10+4*ulp*noise {
				t.Errorf("%s: |phi| %g at %g, %g a period later", name, a, y, b)
			}
		}
	}
	if on < 30 {
		t.Errorf("only %d losses on lattices", on)
	}
}
