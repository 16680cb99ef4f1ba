package pld

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

func discreteGaussianTerm(sigma, sens float64, n int64) terms.Term {
	return terms.Term{
		Leaf: privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: sens, Dimension: 1, Unit: user, Neighbouring: privacy.AddRemove},
		Rate: 1, Relation: privacy.AddRemove, Count: n,
	}
}

func pureTerm(eps float64, n int64) terms.Term {
	return terms.Term{Leaf: privacy.PureLDP{Epsilon: eps, Unit: user}, Rate: 1, Relation: privacy.Replace, Count: n}
}

// mostVisits is how many points, cells and bins a bracket visits at most, about a second
// of a processor: the bins of the last look and of the transform back, half as many for
// the lower bound, the cells of both, and the looks before it.
const mostVisits = 4 * mostWork

// Work is bounded: settings at the ends of what is accepted, many different
// terms and the most bins take a bounded number of visits, where they would take
// many more if anything grew with an epsilon, a sigma or the number of terms.
func TestBoundedWork(t *testing.T) {
	var many, several []terms.Term
	for i := range 300 {
		x := gaussianTerm(0.01, 1+float64(i)/100, 1, privacy.AddRemove, 100)
		if many = append(many, x); i%30 == 0 {
			several = append(several, x)
		}
	}
	for _, c := range []struct {
		name  string
		ts    []terms.Term
		delta float64
		o     Options
	}{
		{"huge epsilon", []terms.Term{gaussianTerm(1, 4.34229, 46.3637, privacy.AddRemove, 8690)}, 7.09503e-07, Options{}},
		{"huge epsilon, many bins", []terms.Term{gaussianTerm(1, 4.34229, 46.3637, privacy.AddRemove, 8690)}, 7.09503e-07, Options{Bins: 1 << 19}},
		{"largest ratio", []terms.Term{gaussianTerm(1, 1, 1999, privacy.AddRemove, 1)}, 1e-10, Options{}},
		{"huge sampled epsilon", []terms.Term{gaussianTerm(0.3, 4.34229, 46.3637, privacy.AddRemove, 8690)}, 1e-6, Options{}},
		{"rare", sampledGaussian(1e-5, 0.7, 1_000_000), 1e-8, Options{}},
		{"many atoms", []terms.Term{discreteGaussianTerm(20000, 100, 100)}, 1e-5, Options{}},
		{"coarse check of many atoms", []terms.Term{discreteGaussianTerm(20000, 100, 100)}, 1e-5, Options{Bins: 1 << 13}},
		{"300 terms", many, 1e-5, Options{}},
		{"300 terms, many bins", many, 1e-5, Options{Bins: 1 << 19}},
		{"10 terms", several, 1e-5, Options{}},
		{"most bins", sampledGaussian(256.0/60000, 1.1, 234_000), 1e-5, Options{Bins: mostBins}},
		{"most bins of one", []terms.Term{gaussianTerm(0.01, 1, 1, privacy.AddRemove, 1)}, 1e-5, Options{Bins: mostBins}},
		{"one nearly sure", sampledGaussian(1e-12, 0.5, 1e9), 1e-12, Options{}},
	} {
		parts, err := build(c.ts)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		q := query{delta: c.delta, solve: true}
		v, err := newView(context.Background(), parts, q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		bs, err := v.brackets(c.o, true)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		b := both(bs)
		t.Logf("%s: %.1f million visits, [%.6g, %.6g], %d bins", c.name, float64(v.work)/1e6, b.Lower, b.Upper, b.Bins)
		if v.work > mostVisits || v.work < b.Bins {
			t.Errorf("%s: %d visits for %d bins, want at most %d", c.name, v.work, b.Bins, mostVisits)
		}
		if want, err := Bracket(context.Background(), c.ts, c.delta, c.o); err != nil || b != want {
			t.Errorf("%s: counted %+v, Bracket says %+v (%v)", c.name, b, want, err)
		}
		if math.IsInf(b.Upper, 0) || math.IsInf(b.Rounding, 0) {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}
