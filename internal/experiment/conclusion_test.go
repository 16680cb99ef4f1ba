package experiment

import (
	"math"
	"slices"
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

// What a run comes to opens with its metric beside the best floor that has it; its account follows.
func TestConclude(t *testing.T) {
	row := func(name, metric string, x float64) []Scores {
		return []Scores{{Name: name, Values: map[string]float64{metric: x}}}
	}
	const recall = "Recall@5"
	model, random, popular := row("EASE", recall, .2), row("random", recall, .02), row("popularity", recall, .15)
	floors := slices.Concat(random, popular, row("other", "NDCG@5", .9))
	open := Unprotected("edges", "in the clear")
	for _, c := range []struct {
		name, task   string
		rows, floors []Scores
		account      *Account
		want         string
	}{
		{"all", "train ease", model, floors, &open, "Recall@5 20 %, against 15 % of the best floor (popularity); nothing is claimed, and nothing protects the interactions"},
		{"no account", "train ease", model, random, nil, "Recall@5 20 %, against 2 % of the best floor (random)"},
		{"no floor", "train ease", model, row("other", "NDCG@5", .9), nil, "Recall@5 20 %"},
		{"below", "train ease", random, popular, nil, "Recall@5 2 %, not above 15 % of the best floor (popularity)"},
		{"level", "train ease", model, model, nil, "Recall@5 20 %, not above 20 % of the best floor (EASE)"},
		{"none", "train ease", nil, floors, &open, "no result; nothing is claimed, and nothing protects the interactions"},
		{"another metric", "train ease", floors[2:], floors, nil, "no result"},
		{"import", "import lists", nil, nil, nil, "nothing is measured: no truth was given"},
	} {
		if got := Conclude(c.task, recall, c.rows, c.floors, c.account); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

var infinity = privacy.Number(math.Inf(1))
