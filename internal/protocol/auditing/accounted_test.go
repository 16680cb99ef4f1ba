package auditing

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/experiment"
)

// A bound is held against the promise whose neighbours are those of its canaries, and of no other
// relation or smaller unit.
func TestAccounted(t *testing.T) {
	account := func(unit, neighbouring string) *experiment.Account {
		a := experiment.Protected()
		a.Add(unit, neighbouring, 1e-6, 2)
		return &a
	}
	for _, c := range []struct {
		unit, of, neighbouring string
		covered                bool
	}{
		{Edge, "edge", "add-remove", true}, {Edge, "interaction", "add-remove", true}, {Edge, "sample", "add-remove", true}, {Edge, "user", "add-remove", true},
		{Edge, "interaction", "replace", false}, {Edge, "swap", "replace", false},
		{User, "user", "add-remove", true}, {User, "edge", "add-remove", false}, {User, "user", "replace", false},
		{Sequence, "user", "add-remove", true}, {Sequence, "sample", "add-remove", false},
		{pair, "sample", "add-remove", true}, {pair, "user", "add-remove", true}, {pair, "edge", "add-remove", false},
		{Interaction, "interaction", "replace", true}, {Interaction, "interaction", "add-remove", false}, {Interaction, "user", "add-remove", false},
		{Order, "swap", "replace", true}, {Order, "edge-unit", "add-remove", false},
		{Rating, "interaction", "replace", true}, {Rating, "interaction", "add-remove", false},
	} {
		got := accounted(account(c.of, c.neighbouring), c.unit)
		if got.finite() != c.covered || c.covered && (got.Unit != c.of || got.Delta != 1e-6 || got.Epsilon != 2) || !c.covered && !strings.Contains(got.Why, "privacy of groups") {
			t.Errorf("%s against %s, %s: %+v", c.unit, c.of, c.neighbouring, got)
		}
	}
	if a := accounted(nil, Edge); a.finite() || a.Why == "" {
		t.Errorf("no account: %+v", a)
	}
}

// A bound above a claim says so where nothing else bounds it, and says that the claim does not hold
// where it is for the unit of the canaries. A claim at a larger delta is not held against it.
func TestAboveClaim(t *testing.T) {
	for _, c := range []struct {
		unit, claimed string
		bound, delta  float64
		want          string // in Above; empty: nothing is above
	}{
		{Edge, "training triple", 1, 1e-6, "the claim does not hold"}, {Edge, "edge", 1, 1e-6, "the claim does not hold"}, {Edge, "edge-unit", 1, 1e-6, "the claim does not hold"},
		{Rating, "rating that is there, its value", 1, 1e-6, "the claim does not hold"},
		{pair, "edge-unit", 1, 1e-6, "the claim does not hold"}, {Sequence, "edge-unit", 1, 1e-6, "another unit"},
		{Edge, "cell that is there, its value", 1, 1e-6, "another unit"}, {User, "edge", 1, 1e-6, "another unit"},
		{Edge, "edge", 0.3, 1e-6, ""}, {Edge, "edge", 1, 1e-8, ""},
	} {
		a := experiment.Unprotected("rows", "in the clear")
		a.Claimed = &experiment.Claim{Eps: 0.4, Delta: 1e-7, Unit: c.claimed}
		got := accounted(&a, c.unit)
		got.above(c.bound, c.delta)
		if c.want == "" != (got.Above == "") || !strings.Contains(got.Above, c.want) || c.want != "" && !strings.Contains(got.Above, "0.4 that is claimed for one "+c.claimed) {
			t.Errorf("%+v: %q", c, got.Above)
		}
		o := Outcome{Accounted: got, Rows: []Row{{}}, Threat: Threat{Unit: c.unit}}
		o.Rows[0].Bound.Epsilon = c.bound
		if text := o.conclusion(); strings.Contains(text, "claimed") != (c.want != "") || !strings.Contains(strings.ToLower(text), "nothing bounds it from above") {
			t.Error(text)
		}
	}
	items := experiment.Unprotected("rows", "in the clear")
	items.Claimed = &experiment.Claim{Eps: 0.4, Unit: "edge", Theorem: "objective perturbation of items' vectors"}
	for others, want := range map[bool]string{true: "the claim does not hold", false: "which is for items' vectors"} {
		a := accounted(&items, Edge)
		a.shown(others)
		if a.above(1, 1e-6); !strings.Contains(a.Above, want) {
			t.Errorf("others alone %v: %q", others, a.Above)
		}
	}
	if (AuditConfig{Unit: Sequence, Rows: 2}).neighbours() != pair || (AuditConfig{Unit: Sequence, Rows: 3}).neighbours() != Sequence || (AuditConfig{Unit: User, Rows: 2}).neighbours() != User {
		t.Error("which canaries are sequences of two rows")
	}
	finite := experiment.Protected()
	finite.Claimed = &experiment.Claim{Eps: 0.4, Unit: "edge"} // as where a paper counts less than ran
	finite.Add("edge", "add-remove", 0, 3)
	a := accounted(&finite, Edge)
	if a.above(1, 0); !strings.Contains(a.Above, "does not hold") || math.IsInf(float64(a.Epsilon), 1) {
		t.Errorf("an account bounds it: %+v", a)
	}
}
