package mechanism_test

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/sequence"
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
	values := []int32{1, 0, 2, 1}
	rows := []int32{1, 2, 0, 3}
	graph := edges.Adjacency{Rows: 2, Cols: 3, Ptr: []int64{0, 1, 2}, Idx: []int32{0, 2}}
	through := func(open func(l *privacy.Ledger) (*channel.Channel[float32], error), act func(c *channel.Channel[float32], x []float32) error) attempt {
		return on(numbers, func(l *privacy.Ledger, x []float32) error {
			c, err := open(l)
			if err != nil {
				return err
			}
			return act(c, x)
		})
	}
	noisy := channel.Gaussian{Purpose: "aggregate", Sigma: 0.2374, Sensitivity: 0.2, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	gaussian := func(l *privacy.Ledger) (*channel.Channel[float32], error) {
		return channel.Open[float32](noisy, l, s)
	}
	whole := func(c *channel.Channel[float32], x []float32) error { return c.Perturb(x, 2, 3) }
	matrix := func(a edges.Adjacency, err error) (edges.Adjacency, bool, error) {
		return a, a.Ptr != nil || a.Idx != nil, err
	}
	swaps := sequence.Mechanism{Purpose: "p", Variant: sequence.SDPFixed, Epsilon: 1, Items: 5, Length: 4}
	features := func(choice local.Unselected, epsilon float64) attempt {
		return on([]float32{0.5, -0.5}, func(l *privacy.Ledger, x []float32) error {
			return local.PerturbFeatures(local.FeatureSampler{Purpose: "p", Epsilon: epsilon, Features: []local.FeatureKind{{Name: "f0"}, {Name: "f1"}}, Unselected: choice}, l, s, x)
		})
	}
	return map[string]attempt{
		"gaussian": through(gaussian, whole),
		"gaussian, begin": through(gaussian, func(c *channel.Channel[float32], x []float32) error {
			r, err := c.Begin(2, 2)
			if r != nil {
				r.Row(0, x[:2])
			}
			return err
		}),
		"gaussian, begin many": through(gaussian, func(c *channel.Channel[float32], x []float32) error {
			r, err := c.BeginMany(7, 2, 2)
			if r != nil {
				r.Row(0, x[:2])
			}
			return err
		}),
		"gaussian, start": through(gaussian, func(c *channel.Channel[float32], x []float32) error {
			r, err := c.Start([]int32{3, 5}, 2, 2, 0)
			if r != nil {
				r.RowAt(0, x[:2], 0, 0)
			}
			return err
		}),
		"laplace": through(func(l *privacy.Ledger) (*channel.Channel[float32], error) {
			return channel.OpenLaplace[float32](channel.Laplace{Purpose: "p", Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, l, s)
		}, whole),
		"dp-sgd": giving(func(l *privacy.Ledger) ([]int32, bool, error) {
			steps, err := descent.Open[float32](descent.DPSGD{Purpose: "p", Clip: 1, NoiseMultiplier: 1, Examples: 100, Sampling: privacy.Poisson, Rate: 0.5, Unit: privacy.Sample}, 3, l, s)
			if err != nil {
				return nil, false, err
			}
			batch, err := steps.Begin(0, 0)
			return batch, batch != nil, err
		}),
		"functional": on(numbers, func(l *privacy.Ledger, x []float32) error {
			o, err := channel.OpenFunctional[float32](channel.Functional{Purpose: "p", Epsilon: 1, Sensitivity: 1, Unit: privacy.Record, Neighbouring: privacy.Replace}, l, s)
			if err != nil {
				return err
			}
			return o.PerturbCoefficients([]uint64{0}, x[:1], x[1:])
		}),
		"features":                    features(local.Zeroed, 5),
		"features, some in the clear": features(local.SharedClear, 1),
		"responses": on(values, func(l *privacy.Ledger, x []int32) error {
			return local.PerturbResponses(local.Response{Purpose: "p", Epsilon: 0.1, Categories: 3, Unit: privacy.Record}, l, mechanism.Keyed(s), x)
		}),
		"responses, streamed": giving(func(l *privacy.Ledger) (*local.ResponseRun, bool, error) {
			r, err := local.Response{Purpose: "p", Epsilon: 1, Categories: 3, Unit: privacy.Record}.Open(l, mechanism.Keyed(s))
			return r, r != nil, err
		}),
		"sequences": on(rows, func(l *privacy.Ledger, x []int32) error {
			return sequence.Perturb(swaps, l, mechanism.Keyed(s), nil, x, 1)
		}),
		"sequences, streamed": giving(func(l *privacy.Ledger) (*sequence.Run, bool, error) {
			r, err := swaps.Open(l, mechanism.Keyed(s))
			return r, r != nil, err
		}),
		"sequences of users": giving(func(l *privacy.Ledger) (*sequence.Run, bool, error) {
			r, err := swaps.OpenUsers(l, mechanism.Keyed(s), func() (sequence.Spill, error) { return nil, nil })
			return r, r != nil, err
		}),
		"randomised graph": giving(func(l *privacy.Ledger) (edges.Adjacency, bool, error) {
			return matrix(edges.PerturbEdgeRand(edges.EdgeRand{Purpose: "p", Epsilon: 1, Unit: privacy.Edge}, l, s, graph))
		}),
		"largest cells": giving(func(l *privacy.Ledger) (edges.Adjacency, bool, error) {
			return matrix(edges.PerturbLapGraph(edges.LapGraph{Purpose: "p", Epsilon: 1, CountShare: 0.1, Unit: privacy.Edge}, l, s, graph))
		}),
	}
}

// A ledger that takes nothing lets nothing be released, by any mechanism: no value is
// changed, nothing is given.
func TestRefusingLedger(t *testing.T) {
	for name, try := range attempts() {
		t.Run(name, func(t *testing.T) {
			l := mechanismtest.Ledger(t)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if changed, err := try(l); err == nil || changed {
				t.Errorf("a closed ledger: changed %v, %v", changed, err)
			}
			if len(l.Entries()) != 0 {
				t.Errorf("%v", l.Entries())
			}
			l = mechanismtest.Ledger(t) // one that takes releases
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
	l := mechanismtest.Ledger(t)
	if err := l.Declare(privacy.Declaration{}); err != nil {
		t.Fatal(err)
	}
	if changed, err := attempts()["features, some in the clear"](l); err == nil || changed {
		t.Errorf("changed %v, %v", changed, err)
	}
	for name, e := range map[string]attempt{
		"responses": giving(func(l *privacy.Ledger) (*local.ResponseRun, bool, error) {
			r, err := local.Response{Purpose: "p", Epsilon: math.Inf(1), Categories: 3, Unit: privacy.Record}.Open(l, mechanism.Keyed(rng.Seed(1).Stream("x")))
			return r, r != nil, err
		}),
	} {
		if changed, err := e(l); err == nil || changed {
			t.Errorf("%s: changed %v, %v", name, changed, err)
		}
	}
}
