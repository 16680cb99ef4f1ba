package experiment

import (
	"math"
	"testing"

	"privrec/internal/privacy"
)

// A conclusion promises nothing where anything is open, and states every unit where nothing is.
func TestConclusion(t *testing.T) {
	open := func(names ...string) (list []Open) {
		for _, n := range names {
			list = append(list, NotCovered(n, "because"))
		}
		return list
	}
	claim := &Claim{Eps: 5, Unit: "user"}
	for want, a := range map[string]Account{
		"claimed 5; this run gives no guarantee: nothing protects training labels and the backward pass": {Claimed: claim, Unbounded: open("labels", "backward"), Units: []Unit{{Unit: "user", Total: 3}}},
		"nothing is claimed, and nothing protects the interactions":                                      Unprotected("edges", "in the clear"),
		"claimed 5 for one user; accounted 5 for one user, 6.193 for one interaction":                    {Claimed: claim, Total: 6.19339, Units: []Unit{{Unit: "user", Total: 5}, {Unit: "interaction", Total: 6.19339}}},
		"nothing is claimed; accounted 2 for one edge":                                                   {Total: 2, Units: []Unit{{Unit: "edge", Total: 2}}},
		"claimed 5; this run gives no guarantee":                                                         {Claimed: claim, Total: infinity},
		"claimed 5; this run gives no guarantee: nothing protects a new thing, training labels, the sequences, user features and 2 more": {
			Claimed: claim, Unbounded: open("a_new_thing", "labels", "sequences", "features", "range", "rated")},
	} {
		if got := a.Conclusion(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

var infinity = privacy.Number(math.Inf(1))
