package rdp_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// A law on the line by its log-density, on a fine grid or on the integers, with
// which every claim can be checked directly against the definition.
type law func(x float64) float64

// domain is where laws are summed.
type domain struct{ from, to, step float64 }

func normal(at, sigma float64) law {
	return func(x float64) float64 {
		z := (x - at) / sigma
		return -z*z/2 - math.Log(sigma*math.Sqrt(2*math.Pi))
	}
}

func doubleExponential(at, b float64) law {
	return func(x float64) float64 { return -math.Abs(x-at)/b - math.Log(2*b) }
}

func geometric(at, b float64) law {
	c := math.Log(math.Tanh(1 / (2 * b)))
	return func(x float64) float64 { return c - math.Abs(x-at)/b }
}

// mix is the law of a mechanism whose unit is in the sample with probability q.
func mix(q float64, in, out law) law {
	return func(x float64) float64 {
		a, b := math.Log(q)+in(x), math.Log1p(-q)+out(x)
		m := math.Max(a, b)
		return m + math.Log(math.Exp(a-m)+math.Exp(b-m))
	}
}

// divergence is the Rényi divergence of order alpha by summation, its moment
// without the parts whose sum is known. The midpoint rule of a density is off by
// about step² of it, which the tests allow for.
func divergence(p, q law, alpha float64, d domain) float64 {
	s := 0.0
	for x := d.from; x <= d.to; x += d.step {
		below := q(x)
		loss := p(x) - below
		s += math.Exp(below) * (math.Expm1(alpha*loss) - alpha*math.Expm1(loss))
	}
	return math.Log1p(s*d.step) / (alpha - 1)
}

// hockeyStick is delta(epsilon) of one release.
func hockeyStick(p, q law, epsilon float64, d domain) float64 {
	s := 0.0
	for x := d.from; x <= d.to; x += d.step {
		if a, b := p(x), epsilon+q(x); a > b {
			s += -math.Expm1(b-a) * math.Exp(a)
		}
	}
	return s * d.step
}

// case of a mechanism: the laws for a unit present, absent or another, and the
// event that prices it.
type mechanism struct {
	name       string
	law        func(at float64) law
	leaf       func(distance float64, relation privacy.Neighbouring) privacy.Event
	domain     domain
	slack      float64 // of the summation
	sampledFit float64 // how far above the truth the Poisson curve may be
}

func mechanisms() []mechanism {
	return []mechanism{
		{"gaussian", func(at float64) law { return normal(at, 3) }, func(d float64, r privacy.Neighbouring) privacy.Event {
			return privacy.Gaussian{Sigma: 3, Sensitivity: d, Unit: privacy.User, Neighbouring: r}
		}, domain{-60, 90, 0.1}, 1e-9, 1e-9},
		{"laplace", func(at float64) law { return doubleExponential(at, 2.5) }, func(d float64, r privacy.Neighbouring) privacy.Event {
			return privacy.Laplace{Scale: 2.5, Sensitivity: d, Unit: privacy.User, Neighbouring: r}
		}, domain{-120.01, 120, 0.02}, 2e-4, 2e-4},
		{"discrete gaussian", func(at float64) law { return normal(at, 3) }, func(d float64, r privacy.Neighbouring) privacy.Event {
			return privacy.DiscreteGaussian{Sigma: 3, Sensitivity: d, Dimension: 1, Unit: privacy.User, Neighbouring: r}
		}, domain{-60, 90, 1}, 1e-9, 1e-9},
		{"discrete laplace", func(at float64) law { return geometric(at, 2.5) }, func(d float64, r privacy.Neighbouring) privacy.Event {
			return privacy.DiscreteLaplace{Scale: 2.5, Sensitivity: d, Unit: privacy.User, Neighbouring: r}
		}, domain{-200, 200, 1}, 1e-9, 1e-9},
	}
}

func curveOf(t *testing.T, leaf privacy.Event, q float64, method privacy.Sampling, relation privacy.Neighbouring) rdp.Curve {
	t.Helper()
	return must(rdp.FromTerm(terms.Term{Leaf: leaf, Rate: q, Method: method, Relation: relation, Count: 1}))(t)
}

// The price of every mechanism, sampled or not, is at least its divergence from
// the definition, in both directions, and where the curve is said to be exact it
// is no more than that.
func TestCurvesAreSound(t *testing.T) {
	for _, m := range mechanisms() {
		absent, present, other := m.law(0), m.law(2), m.law(-2)
		for _, alpha := range []float64{1.5, 2, 4} {
			whole := curveOf(t, m.leaf(2, privacy.AddRemove), 1, "", privacy.AddRemove)(alpha)
			truth := divergence(present, absent, alpha, m.domain)
			if whole < truth*(1-m.slack) || whole > truth*(1+2*m.slack) {
				t.Errorf("%s, order %v: %v, by its definition %v", m.name, alpha, whole, truth)
			}
			for _, q := range []float64{0.003, 0.1, 0.6} {
				what := fmt.Sprintf("%s at rate %v, order %v", m.name, q, alpha)
				mixed := mix(q, present, absent)
				removal, addition := divergence(mixed, absent, alpha, m.domain), divergence(absent, mixed, alpha, m.domain)
				for _, relation := range []privacy.Neighbouring{privacy.AddRemove, privacy.ZeroOut} {
					got := curveOf(t, m.leaf(2, relation), q, privacy.Poisson, relation)(alpha)
					if got < removal*(1-m.slack)-1e-12 || got < addition*(1-m.slack)-1e-12 {
						t.Errorf("%s, %s: %v is below removal %v or addition %v", what, relation, got, removal, addition)
					}
					if alpha == math.Trunc(alpha) && got > removal*(1+m.sampledFit)+1e-15 {
						t.Errorf("%s, %s: %v is more than removal %v", what, relation, got, removal)
					}
				}
				// One unit for another, of a subset of fixed size: three laws, the
				// furthest 4 apart; the absent one is another member of the batch.
				got := curveOf(t, m.leaf(4, privacy.Replace), q, privacy.WithoutReplacement, privacy.Replace)(alpha)
				for _, pair := range [][2]law{{mix(q, present, absent), mix(q, other, absent)}, {mix(q, present, other), other}, {other, mix(q, present, other)}, {present, mix(1-q, present, other)}} {
					if truth := divergence(pair[0], pair[1], alpha, m.domain); got < truth*(1-m.slack)-1e-12 {
						t.Errorf("%s, exchanged: %v is below %v", what, got, truth)
					}
				}
			}
		}
	}
}

// What is printed is true: at the epsilon of a curve the hockey-stick divergence
// of the laws is at most delta, and delta at an epsilon is at least it.
func TestGuaranteesAreSound(t *testing.T) {
	for _, m := range mechanisms() {
		absent := m.law(0)
		for _, q := range []float64{0.05, 1} {
			for _, conversion := range []rdp.Conversion{rdp.Best, rdp.Tight, rdp.Classic} {
				present, method := m.law(2), privacy.Poisson
				if q < 1 {
					present = mix(q, present, absent)
				} else {
					method = ""
				}
				c := curveOf(t, m.leaf(2, privacy.AddRemove), q, method, privacy.AddRemove)
				for _, delta := range []float64{0.1, 1e-2, 1e-4, 1e-7} {
					p := must(rdp.Epsilon(context.Background(), c, delta, rdp.Options{Conversion: conversion}))(t)
					for _, pair := range [][2]law{{present, absent}, {absent, present}} {
						if d := hockeyStick(pair[0], pair[1], p.Epsilon, m.domain); d > delta*(1+2e-4) {
							t.Errorf("%s at rate %v, %s: epsilon %v at delta %v, but delta is %v", m.name, q, conversion, p.Epsilon, delta, d)
						}
					}
				}
				for _, epsilon := range []float64{0, 0.1, 0.7, 3} {
					p := must(rdp.Delta(context.Background(), c, epsilon, rdp.Options{Conversion: conversion}))(t)
					if d := hockeyStick(present, absent, epsilon, m.domain); d > p.Delta*(1+2e-4) {
						t.Errorf("%s at rate %v, %s: delta %v at epsilon %v, but it is %v", m.name, q, conversion, p.Delta, epsilon, d)
					}
				}
			}
		}
	}
}

// The bound by the total variation against the distance itself, near 0 and far.
func TestTotalVariation(t *testing.T) {
	for _, distance := range []float64{0.01, 0.3, 1, 4, 30} {
		p, q := normal(distance, 1), normal(0, 1)
		truth := hockeyStick(p, q, 0, domain{-12, 12 + distance, 0.001})
		if bound := rdp.TotalVariation(distance * distance / 2); bound < truth*(1-1e-6) || bound > 1.31*truth+1e-9 {
			t.Errorf("distance %v: bound %v of %v", distance, bound, truth)
		}
	}
	if rdp.TotalVariation(0) != 0 || rdp.TotalVariation(math.Inf(1)) != 1 {
		t.Error("the ends are wrong")
	}
}

// The choice of an exponential mechanism between two answers whose qualities move
// in opposite ways: the largest log-ratio is epsilon at most, the bound is above.
func TestBoundedRangeIsSound(t *testing.T) {
	for _, epsilon := range []float64{0.1, 1, 4} {
		c := must(rdp.BoundedRange(epsilon))(t)
		for _, u := range []float64{-2, -0.5, 0, 0.5, 2} {
			// P and Q on two answers with log-odds u and u + epsilon.
			p := []float64{1 / (1 + math.Exp(-u)), 1 / (1 + math.Exp(u))}
			q := []float64{1 / (1 + math.Exp(-u-epsilon)), 1 / (1 + math.Exp(u+epsilon))}
			for _, alpha := range []float64{1.2, 2, 8, 50} {
				s := 0.0
				for i := range p {
					s += math.Pow(p[i], alpha) * math.Pow(q[i], 1-alpha)
				}
				if truth := math.Log(s) / (alpha - 1); c(alpha) < truth {
					t.Errorf("epsilon %v, log-odds %v, order %v: %v is below %v", epsilon, u, alpha, c(alpha), truth)
				}
			}
		}
	}
}
