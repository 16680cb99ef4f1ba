package pld

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// onSamples is count Gaussians of noise 1 on Poisson samples at rate q, under Replace.
func onSamples(distance, norm, q float64, count int64) []terms.Term {
	return []terms.Term{{Leaf: privacy.Gaussian{Sigma: 1, Sensitivity: distance, Norm: norm, Unit: user, Neighbouring: privacy.Replace},
		Rate: q, Method: privacy.Poisson, Relation: privacy.Replace, Count: count}}
}

// hockey is delta at epsilon of (1-q)N(0) + qN(a) against (1-q)N(0) + qN(b), numbers on
// a line, by integration.
func hockey(q, a, b, eps float64) float64 {
	mixture := func(z, at float64) float64 { return (1-q)*density(z) + q*density(z-at) }
	sum := 0.0
	const h = 1e-2
	lo, hi := min(0, a, b)-9, max(0, a, b)+9
	for z := lo; z < hi; z += h {
		sum += h * max(0, mixture(z, a)-math.Exp(eps)*mixture(z, b))
	}
	return sum
}

// TestReplacedCoversEveryPair compares one release with every pair of contributions that
// its event admits, on a grid: what is said is above all, and close to the worst.
func TestReplacedCoversEveryPair(t *testing.T) {
	for _, q := range []float64{0.05, 0.7} {
		for _, d := range []float64{0.5, 3} {
			for name, norm := range map[string]float64{"half": d / 2, "between": 0.8 * d, "the sensitivity": d, "twice": 2 * d, "unknown": 0} {
				longest := norm
				if norm == 0 {
					longest = 30 // so long that the output shows who is in
				}
				for _, eps := range []float64{0, 0.1, 1.5} {
					b, err := DeltaBracket(context.Background(), onSamples(d, norm, q, 1), eps, Options{Bins: 1 << 14})
					if err != nil {
						t.Fatal(err)
					}
					worst := 0.0
					for _, x := range []float64{-1, -0.5, 0, 0.3, 0.5, 1} {
						for _, y := range []float64{-1, -0.5, 0, 0.3, 0.5, 1} {
							for _, pair := range [][2]float64{{x * longest, y * longest}, {x * longest, x*longest + y*d}} {
								if max(math.Abs(pair[0]), math.Abs(pair[1])) > longest*(1+1e-12) || math.Abs(pair[0]-pair[1]) > d*(1+1e-12) {
									continue
								}
								worst = max(worst, hockey(q, pair[0], pair[1], eps))
							}
						}
					}
					if worst > b.Upper+2e-5 {
						t.Errorf("rate %v, distance %v, norm %s: delta(%v) of a pair is %v, said at most %v", q, d, name, eps, worst, b.Upper)
					}
					// On the grid are the worst pairs of all but norms between.
					if tight := name != "between" && name != "twice"; tight && b.Upper > worst*1.002+2e-5 {
						t.Errorf("rate %v, distance %v, norm %s: delta(%v) is said to be %v, the worst pair has %v", q, d, name, eps, b.Upper, worst)
					}
				}
			}
		}
	}
}

// TestReplacedCoversTwo compares two releases, for which the neighbours may be apart in
// opposite ways, with every choice of two pairs.
func TestReplacedCoversTwo(t *testing.T) {
	const q, d, h = 0.3, 1.5, 0.06
	mixture := func(z, at float64) float64 { return (1-q)*density(z) + q*density(z-at) }
	for _, norm := range []float64{d / 2, d, 0} {
		longest := norm
		if norm == 0 {
			longest = 12
		}
		var pairs [][2]float64
		for _, x := range []float64{-longest, -d / 2, 0, d / 2, longest} {
			for _, y := range []float64{-d, d} {
				if math.Abs(x) <= longest && math.Abs(x+y) <= longest {
					pairs = append(pairs, [2]float64{x, x + y})
				}
			}
		}
		for _, eps := range []float64{0, 0.5, 1.2} {
			b, err := DeltaBracket(context.Background(), onSamples(d, norm, q, 2), eps, Options{Bins: 1 << 14})
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for i, first := range pairs {
				for _, second := range pairs[:i+1] {
					sum := 0.0
					for z := -longest - d - 7; z < longest+d+7; z += h {
						p1, q1 := mixture(z, first[0]), mixture(z, first[1])
						if p1 < 1e-12 {
							continue
						}
						for y := -longest - d - 7; y < longest+d+7; y += h {
							sum += h * h * max(0, p1*mixture(y, second[0])-math.Exp(eps)*q1*mixture(y, second[1]))
						}
					}
					worst = max(worst, sum)
				}
			}
			if worst > b.Upper+1e-4 || worst < 0.6*b.Upper {
				t.Errorf("norm %v: delta(%v) of two pairs is %v, said at most %v", norm, eps, worst, b.Upper)
			}
		}
	}
}

// TestExchangedLaws holds the pairs to be laws: their masses sum to one, the loss is
// that of the densities, and what is said of tails agrees with a quadrature.
func TestExchangedLaws(t *testing.T) {
	for _, q := range []float64{1e-6, 0.01, 0.5, 0.99} {
		for _, mu := range []float64{0.01, 1, 4, 12} {
			for name, build := range map[string]func(q, mu float64) (pair, error){"within": withinGaussian, "revealed": revealedGaussian} {
				x := mustPair(build(q, mu))
				if len(x.atoms) != 1 || x.atoms[0].loss != 0 || x.atoms[0].p != x.atoms[0].q || !(x.atoms[0].p >= 0) {
					t.Fatalf("%s %v %v: atoms %v", name, q, mu, x.atoms)
				}
				for _, at := range []float64{x.lo, -1, -1e-3, 0, 1e-9, 0.1, 3, x.hi} {
					if at < x.lo || at > x.hi {
						continue
					}
					e, m := x.tails(at), x.tails(-at)
					p, o := e.pBelow+e.pAbove+x.atoms[0].p, e.qBelow+e.qAbove+x.atoms[0].q
					if math.Abs(p-1) > 1e-12 || math.Abs(o-1) > 1e-12 {
						t.Errorf("%s %v %v at %v: masses %v and %v", name, q, mu, at, p, o)
					}
					if at != 0 && (math.Abs(e.pBelow-m.qAbove) > 1e-14 || math.Abs(e.pAbove-m.qBelow) > 1e-14) {
						t.Errorf("%s %v %v at %v: %+v is not the mirror of %+v", name, q, mu, at, e, m)
					}
				}
				// P has e^l times the mass of Q in a cell at the loss l.
				for _, l := range []float64{-2, -0.3, -1e-2, 1e-2, 0.3, 2} {
					h := 1e-4 * math.Abs(l)
					if l+h > x.hi || l-h < x.lo {
						continue
					}
					a, b := x.tails(l-h), x.tails(l+h)
					p, o := between(a.pBelow, a.pAbove, b.pBelow, b.pAbove), between(a.qBelow, a.qAbove, b.qBelow, b.qAbove)
					if p < 1e-200 || o < 1e-200 {
						continue
					}
					if got := math.Log(p / o); math.Abs(got-l) > 2*h {
						t.Errorf("%s %v %v: a cell at the loss %v has %v and %v, a loss of %v", name, q, mu, l, p, o, got)
					}
				}
			}
		}
	}
}

// TestExchangedInSteps orders what is known: each says no more than the next, and all at
// most what the release without sampling costs.
func TestExchangedInSteps(t *testing.T) {
	for _, c := range []struct {
		d, q float64
		n    int64
	}{{1, 0.01, 1000}, {1, 0.3, 5}, {4, 0.05, 20}, {0.2, 0.001, 5000}} {
		last := 0.0
		for _, norm := range []float64{c.d / 2, c.d, 0} {
			b, err := Bracket(context.Background(), onSamples(c.d, norm, c.q, c.n), 1e-5, Options{Bins: 1 << 15})
			if err != nil {
				t.Fatal(err)
			}
			if !(b.Upper > last) {
				t.Errorf("%+v, norm %v: epsilon %v after %v", c, norm, b.Upper, last)
			}
			if within := norm == c.d; within != (b.Lower == 0) {
				t.Errorf("%+v, norm %v: a lower bound of %v", c, norm, b.Lower)
			}
			last = b.Upper
		}
		whole := onSamples(c.d, 0, 1, c.n)
		whole[0].Method = ""
		all, err := Bracket(context.Background(), whole, 1e-5, Options{Bins: 1 << 15})
		if err != nil || last > all.Upper*(1+1e-9) {
			t.Errorf("%+v: %v on samples, %v on everything (%v)", c, last, all.Upper, err)
		}
		// Values from 0 to the sensitivity: at least what one that comes or goes costs.
		added := onSamples(c.d, 0, c.q, c.n)
		added[0].Relation = privacy.AddRemove
		one, err := Bracket(context.Background(), added, 1e-5, Options{Bins: 1 << 15})
		in, err2 := Bracket(context.Background(), onSamples(c.d, c.d, c.q, c.n), 1e-5, Options{Bins: 1 << 15})
		if err != nil || err2 != nil || in.Upper < one.Lower || in.Upper > 1.3*one.Upper {
			t.Errorf("%+v: values from 0 cost %v, one that comes or goes %v (%v, %v)", c, in.Upper, one.Upper, err, err2)
		}
	}
}

// TestRevealedIsABinomial composes as many Gaussians as releases see the unit.
func TestRevealedIsABinomial(t *testing.T) {
	const q, mu, eps = 0.2, 0.8, 1.1
	for _, n := range []int64{1, 3, 12} {
		want := 0.0
		for k := int64(1); k <= n; k++ {
			m := math.Sqrt(float64(k)) * mu
			_, up := normalTails(eps/m-m/2, 0, 1)
			_, down := normalTails(eps/m+m/2, 0, 1)
			choose := 1.0
			for i := range k {
				choose *= float64(n-i) / float64(i+1)
			}
			want += choose * math.Pow(q, float64(k)) * math.Pow(1-q, float64(n-k)) * (up - math.Exp(eps)*down)
		}
		b, err := DeltaBracket(context.Background(), onSamples(mu, 0, q, n), eps, Options{})
		if err != nil || b.Lower > want*(1+1e-9) || b.Upper < want*(1-1e-9) || b.Upper > want*1.001 {
			t.Errorf("%d releases: %+v, %v, want %v", n, b, err, want)
		}
	}
}
