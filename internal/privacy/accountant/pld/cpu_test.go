//go:build unix

package pld

import (
	"math"
	"syscall"
	"testing"
	"time"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// cpu is the processor time of f: what other programs do does not count.
func cpu(t *testing.T, f func()) time.Duration {
	t.Helper()
	now := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			t.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	start := now()
	f()
	return now() - start
}

func discreteGaussianTerm(sigma, sens float64, n int64) terms.Term {
	return terms.Term{
		Leaf: privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: sens, Dimension: 1, Unit: user, Neighbouring: privacy.AddRemove},
		Rate: 1, Relation: privacy.AddRemove, Count: n,
	}
}

func pureTerm(eps float64, n int64) terms.Term {
	return terms.Term{Leaf: privacy.PureLDP{Epsilon: eps, Unit: user}, Rate: 1, Relation: privacy.Replace, Count: n}
}

// Work is bounded: settings at the ends of what is accepted, many different
// terms and the most bins take about a second at most, where they would take
// many if anything grew with an epsilon, a sigma or the number of terms.
func TestBoundedWork(t *testing.T) {
	if testing.Short() { // asked for by hand only: make test and .ci/run run this in full
		t.Skip("some seconds")
	}
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
		var b Bounds
		var err error
		took := cpu(t, func() { b, err = Bracket(c.ts, c.delta, c.o) })
		t.Logf("%s: %v, [%.6g, %.6g], %d bins, %v", c.name, took.Round(time.Millisecond), b.Lower, b.Upper, b.Bins, err)
		if took > 1500*time.Millisecond {
			t.Errorf("%s: %v", c.name, took)
		}
		if err == nil && (math.IsInf(b.Upper, 0) || math.IsInf(b.Rounding, 0)) {
			t.Errorf("%s: %+v", c.name, b)
		}
	}
}
