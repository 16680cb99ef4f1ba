package channel_test

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/privacy/mechanism/edges"
	"privrec/internal/rng"
)

// threeUsers is a matrix of three users and four items.
func threeUsers() edges.Adjacency {
	return edges.Adjacency{Rows: 3, Cols: 4, Ptr: []int64{0, 2, 3, 5}, Idx: []int32{0, 2, 1, 0, 3}}
}

// A channel that failed stays failed: releases that were open then end with the
// same error, no other begins, it takes no state, and its own says so.
func TestAFailedChannelStaysFailed(t *testing.T) {
	for _, kind := range noiseKinds() {
		l := research()
		c := must(kind.open(l, 4))
		fresh := c.State()
		open := must(c.Begin(1, 3, 1))
		wrong := must(c.Begin(1, 3, 2))
		wrong.Row(0, make([]float64, 2))
		first := wrong.Finish()
		if first == nil || !strings.Contains(first.Error(), "row 0 of length 2") {
			t.Fatalf("%s: %v", kind.name, first)
		}
		open.Row(0, make([]float64, 3))
		before := len(l.Entries())
		ended := open.Finish()
		_, begun := c.Begin(1, 3, 3)
		_, started := c.Start([]int32{1}, 1, 3, 3)
		for what, err := range map[string]error{"end": ended, "begin": begun, "start": started, "perturb": c.Perturb(make([]float64, 3), 3, 1, 5), "check": c.Check()} {
			if err != first {
				t.Errorf("%s: %s after the failure: %v", kind.name, what, err)
			}
		}
		if err := c.Restore(fresh); !errors.Is(err, first) {
			t.Errorf("%s: restored after the failure: %v", kind.name, err)
		}
		if st := c.State(); st.Failed != first.Error() || len(l.Entries()) != before {
			t.Errorf("%s: state %+v, entries %v", kind.name, st, l.Entries())
		}
		other := must(kind.open(research(), 4))
		if err := other.Restore(c.State()); err == nil || !strings.Contains(err.Error(), "failed: ") {
			t.Errorf("%s: the failed state was restored: %v", kind.name, err)
		}
	}
}

// The mechanisms built on a channel go through a checkpoint by it: the same noise
// goes on, and used keys stay used.
func TestMechanismsResumeByTheirChannel(t *testing.T) {
	fm := channel.Functional{Purpose: "loss", Epsilon: 1, Sensitivity: 1, Unit: privacy.Sample, Neighbouring: privacy.Replace}
	objective := func() *channel.Objective[float64] {
		return must(channel.OpenFunctional[float64](fm, research(), rng.Seed(3).Stream("fm")))
	}
	polynomial := func(o *channel.Objective[float64], step uint64) ([]float64, error) {
		p := channel.NewPolynomial[float64](3)
		err := o.Perturb(p, 1, step)
		return slices.Concat(p.Linear, p.Quadratic), err
	}
	save := func(c *channel.Channel[float64]) (st channel.State) {
		if err := json.Unmarshal(must(json.Marshal(c.State())), &st); err != nil {
			t.Fatal(err)
		}
		return st
	}
	for stop := range uint64(5) {
		whole, first, second := objective(), objective(), objective()
		for step := range uint64(5) {
			o := first
			if step == stop {
				if err := second.Channel().Restore(save(first.Channel())); err != nil {
					t.Fatal(err)
				}
			}
			if step >= stop {
				o = second
			}
			want, got := must(polynomial(whole, step)), must(polynomial(o, step))
			if !slices.Equal(want, got) {
				t.Errorf("stopped at %d, step %d: other coefficients", stop, step)
			}
		}
		if _, err := polynomial(second, 0); err == nil {
			t.Errorf("stopped at %d: coefficients of step 0 were released twice", stop)
		}
	}
}

// Keys in a state that no run can have used are refused, each with its reason.
func TestStatesOfImpossibleKeys(t *testing.T) {
	const parts = 16 // flag of keys that end in a part
	kind := noiseKinds()[0]
	good := must(kind.open(research(), 4)).State()
	for want, used := range map[string][]uint64{
		"too short":                    {1, 2},
		"numbers for keys":             {9, 0, 1},
		"numbers for keys of 3":        {3, 0, 1},
		"out of range":                 {2, math.MaxUint64, 1},
		"out of range ":                {2, 0, 0},
		"not parts":                    {parts + 1, 0, 1},
		"not parts ":                   {parts + 2, math.MaxInt32/64 + 1, 1},
		"not a key of this pass":       {1, 3, 1},
		"not a key of this pass, ever": {0, 0, 2},
	} {
		st := good
		st.Pass, st.Used = 0, [][]uint64{used}
		c := must(kind.open(research(), 4))
		if err := c.Restore(st); err == nil || !strings.Contains(err.Error(), strings.TrimSuffix(strings.TrimSpace(want), ", ever")) || !strings.Contains(err.Error(), "used keys 0") {
			t.Errorf("%v: %v, want %q", used, err, want)
		}
		if err := c.Perturb(make([]float64, 3), 3, 1, 0); err != nil {
			t.Errorf("%v: refused, and no longer of use: %v", used, err)
		}
	}
	st := good
	st.Pass, st.Used = 2, [][]uint64{{0, 0, 1}} // the key without components is of pass 0
	if err := must(kind.open(research(), 4)).Restore(st); err == nil {
		t.Error("a key without components was used in pass 2")
	}
}

// Budgets that one part of LapGraph cannot have are refused though the other could,
// and a total that no ledger could count is an error of the release.
func TestNumbersAtTheEdgeOfADouble(t *testing.T) {
	m := edges.LapGraph{Purpose: "graph", Epsilon: 1e-300, CountShare: math.Nextafter(1, 0), Unit: edge}
	l := research()
	if _, err := edges.PerturbLapGraph(m, l, rng.Seed(11).Stream("refusals"), threeUsers()); err == nil || !strings.Contains(err.Error(), "graph: laplace: scale") || len(l.Entries()) != 0 {
		t.Errorf("cells with a budget of 1e-316: %v", err)
	}
	c := must(noiseKinds()[0].open(research(), 4))
	if err := c.Perturb(make([]float64, 3), 3, math.MaxInt64, 0); err != nil {
		t.Fatal(err)
	}
	if err := c.Perturb(make([]float64, 3), 3, 1, 1); err == nil || c.Check() == nil {
		t.Errorf("more releases than a ledger counts: %v", err)
	}
	for _, eps := range []float64{1e-308, 0.1, 1, 700, 1e308} {
		b, err := channel.LaplaceScale(eps, eps) // any unit
		if err != nil || b != 1 {
			t.Errorf("sensitivity and epsilon %g: scale %v (%v)", eps, b, err)
		}
	}
}
