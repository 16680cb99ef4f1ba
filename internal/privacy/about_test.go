package privacy_test

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"privrec/internal/privacy"
)

var everyUnit = privacy.Units()

// Users contain all units and none contains them; no unit contains what it is apart
// from, and only a user's features are apart from what they did.
func TestUnits(t *testing.T) {
	apart := 0
	for _, u := range everyUnit {
		for _, v := range everyUnit {
			if want := u == v || u == privacy.User; u.Contains(v) != want {
				t.Errorf("%s contains %s: %v, want %v", u, v, !want, want)
			}
			if u.Apart(v) != v.Apart(u) || u.Apart(v) && (u.Contains(v) || v.Contains(u)) {
				t.Errorf("%s apart from %s: %v, the other way %v", u, v, u.Apart(v), v.Apart(u))
			}
			if u.Apart(v) {
				apart++
			}
		}
		if u.Apart("") || privacy.Unit("").Apart(u) {
			t.Errorf("%s is apart from every unit", u)
		}
	}
	if apart != 8 {
		t.Errorf("%d pairs are apart, want the features and edges, interactions, cells, positions, both ways", apart)
	}
	for n, steps := range map[privacy.Neighbouring][3]int64{privacy.AddRemove: {1, 2, 2}, privacy.Replace: {0, 1, 0}, privacy.ZeroOut: {0, 2, 1}} {
		if got := [3]int64{n.Steps(privacy.AddRemove), n.Steps(privacy.Replace), n.Steps(privacy.ZeroOut)}; got != steps {
			t.Errorf("%s: %v, want %v", n, got, steps)
		}
	}
}

// Every release is about something and is a release for a group; what nests or is
// unprotected is neither, and its subjects are those within.
func TestGroup(t *testing.T) {
	from, to := privacy.Subject{Unit: privacy.Cell, Neighbouring: privacy.Replace}, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.ZeroOut}
	releases := map[string][2]privacy.Event{}
	week := privacy.CorrelatedGaussian{NoiseMultiplier: 4, Sensitivity: 2, Unit: from.Unit,
		Neighbouring: from.Neighbouring}
	week.Name, week.Steps, week.Bands, week.Times, week.Apart = "banded", 7, 1, 1, 1
	for _, c := range [][2]privacy.Event{
		{privacy.Gaussian{Sigma: 2, Sensitivity: 0.5, Unit: from.Unit, Neighbouring: from.Neighbouring}, privacy.Gaussian{Sigma: 2, Sensitivity: 2.5, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.Laplace{Scale: 2, Sensitivity: 0.5, Unit: from.Unit, Neighbouring: from.Neighbouring}, privacy.Laplace{Scale: 2, Sensitivity: 2.5, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.SphericalLaplace{Scale: 2, Sensitivity: 0.5, Unit: from.Unit, Neighbouring: from.Neighbouring}, privacy.SphericalLaplace{Scale: 2, Sensitivity: 2.5, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.DiscreteGaussian{Sigma: 2, Sensitivity: 3.0000000001, Dimension: 7, Unit: from.Unit, Neighbouring: from.Neighbouring}, privacy.DiscreteGaussian{Sigma: 2, Sensitivity: 15, Dimension: 7, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.DiscreteLaplace{Scale: 2, Sensitivity: 2.9999999999, Unit: from.Unit, Neighbouring: from.Neighbouring}, privacy.DiscreteLaplace{Scale: 2, Sensitivity: 15, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{week, privacy.Gaussian{Sigma: 4, Sensitivity: 10, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.AllocatedGaussian{Sigma: 2, Sensitivity: 0.5, Times: 4, Steps: 9,
			Unit: from.Unit, Neighbouring: from.Neighbouring},
			privacy.Gaussian{Sigma: 2, Sensitivity: 5, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.TruncatedGaussian{Sigma: 2, Sensitivity: 0.5, Rate: 0.5, Records: 9, Most: 3,
			Unit: from.Unit, Neighbouring: from.Neighbouring},
			privacy.Gaussian{Sigma: 2, Sensitivity: 5, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.Exponential{Epsilon: 0.5, Unit: from.Unit, Neighbouring: from.Neighbouring}, privacy.Exponential{Epsilon: 2.5, Unit: to.Unit, Neighbouring: to.Neighbouring}},
		{privacy.PureLDP{Epsilon: 0.5, Unit: from.Unit}, privacy.PureLDP{Epsilon: 2.5, Unit: to.Unit}},
		{privacy.RandomizedResponse{Epsilon: 0.5, Categories: 9, Unit: from.Unit}, privacy.SelfComposed{Count: 5, Event: privacy.RandomizedResponse{Epsilon: 0.5, Categories: 9, Unit: to.Unit}}},
	} {
		releases[c[0].Kind()] = c
		if s, ok := privacy.About(c[0]); !ok || s != from {
			t.Errorf("%s is about %v", c[0].Kind(), s)
		}
		if got, err := privacy.Group(c[0], 5, to); err != nil || !cmp.Equal(got, c[1]) {
			t.Errorf("five of %s: %+v, %v, want %+v", c[0].Kind(), got, err, c[1])
		}
		if alone, err := privacy.Group(c[0], 1, from); err != nil || alone.Kind() != c[0].Kind() {
			t.Errorf("one of %s: %+v, %v", c[0].Kind(), alone, err)
		}
		if _, err := privacy.Group(c[0], 0, to); err == nil {
			t.Errorf("none of %s: accepted", c[0].Kind())
		}
	}
	for _, w := range wire {
		e := w.event
		_, single := privacy.About(e)
		_, is := releases[e.Kind()]
		if single != is {
			t.Errorf("%s: a release: %v, in the table: %v", e.Kind(), single, is)
		}
		if _, err := privacy.Group(e, 2, to); !single && (err == nil || !strings.Contains(err.Error(), "no single release")) {
			t.Errorf("a group of %s: %v", e.Kind(), err)
		}
	}
	open := privacy.Unprotected{What: "labels", Why: "the loss sees them", Unit: privacy.Edge}
	nest := privacy.Composed{Events: []privacy.Event{open, privacy.SelfComposed{Count: 2, Event: privacy.Parallel{Events: []privacy.Event{releases["gaussian"][0], privacy.Sampled{Event: releases["laplace"][1], Rate: 1, Method: privacy.Poisson}}}}}}
	if d := cmp.Diff([]privacy.Subject{{Unit: privacy.Edge}, from, to}, privacy.Subjects(nest)); d != "" {
		t.Error(d)
	}
	if _, err := privacy.Group(privacy.Gaussian{Sigma: 1, Sensitivity: 1e308, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, 3, to); err == nil || !strings.Contains(err.Error(), "sensitivity is +Inf") {
		t.Errorf("%v", err)
	}
}

// A group's distance is that of its units or the next number above, for every size.
func TestGroupRoundsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := math.Exp(rapid.Float64Range(-300, 300).Draw(t, "log distance"))
		n := rapid.Int64Range(1, math.MaxInt64).Draw(t, "size") >> rapid.IntRange(0, 62).Draw(t, "shift")
		n = max(n, 1)
		e, err := privacy.Group(privacy.Gaussian{Sigma: 1, Sensitivity: d, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, n, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove})
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat).Mul(new(big.Rat).SetFloat64(d), new(big.Rat).SetInt64(n))
		got := e.(privacy.Gaussian).Sensitivity
		ratio, _ := new(big.Rat).Quo(new(big.Rat).SetFloat64(got), want).Float64()
		if new(big.Rat).SetFloat64(got).Cmp(want) < 0 || !(ratio <= 1+1e-15) {
			t.Fatalf("%d of %v are %v, want %s or a little more", n, d, got, want.FloatString(20))
		}
	})
}
