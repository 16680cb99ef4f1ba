package mechanism

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// attempt makes one release of a mechanism into a ledger; what it would change or return
// is compared with what it was.
type attempt func(l *privacy.Ledger) (changed bool, err error)

// on calls f with data, and reports whether it changed them.
func on[T comparable](data []T, f func(l *privacy.Ledger, data []T) error) attempt {
	return func(l *privacy.Ledger) (bool, error) {
		x := slices.Clone(data)
		err := f(l, x)
		return !slices.Equal(x, data), err
	}
}

// giving calls f, and reports whether it gave anything.
func giving[T any](f func(l *privacy.Ledger) (T, bool, error)) attempt {
	return func(l *privacy.Ledger) (bool, error) {
		_, given, err := f(l)
		return given, err
	}
}

// attempts are all ways of the package to release something.
func attempts() map[string]attempt {
	s := rng.Seed(1).Stream("refused")
	numbers := []float32{0.5, -0.5, 0.25, 0}
	hot := []float32{1, 0, 0, 1}
	values := []int32{1, 0, 2, 1}
	rows := []int32{1, 2, 0, 3}
	graph := Adjacency{Rows: 2, Cols: 3, Ptr: []int64{0, 1, 2}, Idx: []int32{0, 2}}
	channel := func(open func(l *privacy.Ledger) (*Channel[float32], error), act func(c *Channel[float32], x []float32) error) attempt {
		return on(numbers, func(l *privacy.Ledger, x []float32) error {
			c, err := open(l)
			if err != nil {
				return err
			}
			return act(c, x)
		})
	}
	gaussian := func(l *privacy.Ledger) (*Channel[float32], error) { return Open[float32](noisy, l, s) }
	whole := func(c *Channel[float32], x []float32) error { return c.Perturb(x, 2, 3) }
	matrix := func(a Adjacency, err error) (Adjacency, bool, error) { return a, a.Ptr != nil || a.Idx != nil, err }
	sequence := Sequence{Purpose: "p", Variant: SDPFixed, Epsilon: 1, Items: 5, Length: 4}
	features := func(choice Unselected, epsilon float64) attempt {
		return on([]float32{0.5, -0.5}, func(l *privacy.Ledger, x []float32) error {
			return PerturbFeatures(FeatureSampler{Purpose: "p", Epsilon: epsilon, Features: kinds(0, 0), Unselected: choice}, l, s, x)
		})
	}
	secure := DiscreteGaussian{Purpose: "p", Sigma: 1, Sensitivity: 1, Dimension: 2, Bound: 4, Grid: 0x1p-10, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	secureLaplace := DiscreteLaplace{Purpose: "p", Scale: 1, Sensitivity: 1, Dimension: 2, Bound: 4, Grid: 0x1p-10, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	return map[string]attempt{
		"gaussian": channel(gaussian, whole),
		"gaussian, begin": channel(gaussian, func(c *Channel[float32], x []float32) error {
			r, err := c.Begin(2, 2)
			if r != nil {
				r.Row(0, x[:2])
			}
			return err
		}),
		"gaussian, begin many": channel(gaussian, func(c *Channel[float32], x []float32) error {
			r, err := c.BeginMany(7, 2, 2)
			if r != nil {
				r.Row(0, x[:2])
			}
			return err
		}),
		"gaussian, start": channel(gaussian, func(c *Channel[float32], x []float32) error {
			r, err := c.Start([]int32{3, 5}, 2, 2, 0)
			if r != nil {
				r.RowAt(0, x[:2], 0, 0)
			}
			return err
		}),
		"laplace": channel(func(l *privacy.Ledger) (*Channel[float32], error) {
			return OpenLaplace[float32](Laplace{Purpose: "p", Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, s)
		}, whole),
		"discrete gaussian": channel(func(l *privacy.Ledger) (*Channel[float32], error) { return OpenDiscreteGaussian[float32](secure, l, s) }, whole),
		"discrete laplace": channel(func(l *privacy.Ledger) (*Channel[float32], error) {
			return OpenDiscreteLaplace[float32](secureLaplace, l, s)
		},
			func(c *Channel[float32], x []float32) error { return whole(c, x) }),
		"dp-sgd": giving(func(l *privacy.Ledger) ([]int32, bool, error) {
			steps, err := OpenDPSGD[float32](DPSGD{Purpose: "p", Clip: 1, NoiseMultiplier: 1, Examples: 100, Sampling: privacy.Poisson, Rate: 0.5, Unit: privacy.Sample}, 3, l, s)
			if err != nil {
				return nil, false, err
			}
			batch, err := steps.Begin(0, 0)
			return batch, batch != nil, err
		}),
		"functional": on(numbers, func(l *privacy.Ledger, x []float32) error {
			o, err := OpenFunctional[float32](Functional{Purpose: "p", Epsilon: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.Replace}, l, s)
			if err != nil {
				return err
			}
			return o.PerturbCoefficients([]uint64{0}, x[:1], x[1:])
		}),
		"piecewise": on(numbers, func(l *privacy.Ledger, x []float32) error {
			return PerturbPiecewise(Piecewise{"p", 1, privacy.Feature, 1}, l, s, x)
		}),
		"unary": on(hot, func(l *privacy.Ledger, x []float32) error {
			return PerturbUnary(UnaryEncoding{"p", 1, privacy.Feature, 1}, l, s, x, 2)
		}),
		"features":                    features(Zeroed, 5),
		"features, some in the clear": features(SharedClear, 1),
		"responses": on(values, func(l *privacy.Ledger, x []int32) error {
			return PerturbResponses(Response{Purpose: "p", Epsilon: 0.1, Categories: 3, Unit: privacy.Record}, l, Keyed(s), x)
		}),
		"responses, streamed": giving(func(l *privacy.Ledger) (*ResponseRun, bool, error) {
			r, err := Response{Purpose: "p", Epsilon: 1, Categories: 3, Unit: privacy.Record}.Open(l, Keyed(s))
			return r, r != nil, err
		}),
		"reports": giving(func(l *privacy.Ledger) (*Reports, bool, error) {
			r, err := Report(Oracle{Purpose: "p", Kind: OUE, Epsilon: 1, Categories: 3, Unit: privacy.Record}, l, Keyed(s), values)
			return r, r != nil, err
		}),
		"sequences": on(rows, func(l *privacy.Ledger, x []int32) error { return PerturbSequences(sequence, l, Keyed(s), nil, x, 1) }),
		"sequences, streamed": giving(func(l *privacy.Ledger) (*SequenceRun, bool, error) {
			r, err := sequence.Open(l, Keyed(s))
			return r, r != nil, err
		}),
		"sequences of users": giving(func(l *privacy.Ledger) (*SequenceRun, bool, error) {
			r, err := sequence.OpenUsers(l, Keyed(s), func() (Spill, error) { return nil, nil })
			return r, r != nil, err
		}),
		"randomised graph": giving(func(l *privacy.Ledger) (Adjacency, bool, error) {
			return matrix(PerturbEdgeRand(EdgeRand{Purpose: "p", Epsilon: 1, Unit: privacy.Edge}, l, s, graph))
		}),
		"gaussian graph": giving(func(l *privacy.Ledger) (Adjacency, bool, error) {
			return matrix(PerturbGaussianEdgeRand(GaussianEdgeRand{Purpose: "p", Sigma: 1, Unit: privacy.Edge}, l, s, graph))
		}),
		"largest cells": giving(func(l *privacy.Ledger) (Adjacency, bool, error) {
			return matrix(PerturbLapGraph(LapGraph{Purpose: "p", Epsilon: 1, CountShare: 0.1, Unit: privacy.Edge}, l, s, graph))
		}),
		"aggregation": on(numbers, func(l *privacy.Ledger, x []float32) error {
			g, err := OpenAggregation[float32](Aggregation{Purpose: "p", Sigma: 1, Norm: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, l, s)
			if err != nil {
				return err
			}
			return g.Aggregate(x, []float32{1, 0, 0, 1, 1, 1}, 2, graph, 0, 0)
		}),
	}
}

// A ledger that takes nothing lets nothing be released, by any mechanism: no value is
// changed, nothing is given.
func TestRefusingLedger(t *testing.T) {
	for name, try := range attempts() {
		t.Run(name, func(t *testing.T) {
			l := newLedger(t)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if changed, err := try(l); err == nil || changed {
				t.Errorf("a closed ledger: changed %v, %v", changed, err)
			}
			if len(l.Entries()) != 0 {
				t.Errorf("%v", l.Entries())
			}
			l = newLedger(t) // one that takes releases
			if changed, err := try(l); err != nil || !changed && name != "features, some in the clear" {
				t.Errorf("an open ledger: changed %v, %v", changed, err)
			}
			if len(l.Entries()) == 0 {
				t.Error("nothing was recorded")
			}
		})
	}
}

// A ledger that takes what is protected and refuses what is not, since its run did not
// declare it, lets no feature be changed.
func TestUndeclaredLedger(t *testing.T) {
	l := newLedger(t)
	if err := l.Declare(privacy.Declaration{}); err != nil {
		t.Fatal(err)
	}
	if changed, err := attempts()["features, some in the clear"](l); err == nil || changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	for name, e := range map[string]attempt{
		"responses": giving(func(l *privacy.Ledger) (*ResponseRun, bool, error) {
			r, err := Response{Purpose: "p", Epsilon: math.Inf(1), Categories: 3, Unit: privacy.Record}.Open(l, Keyed(rng.Seed(1).Stream("x")))
			return r, r != nil, err
		}),
	} {
		if changed, err := e(l); err == nil || changed {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
}
