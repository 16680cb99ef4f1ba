package exposure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/slates"
)

// Where the attack names fewer items than its protocol allows, every table that has floors
// says how many these name, and has floors with as many guesses; differences are to those.
func TestFloorsWithAsManyGuesses(t *testing.T) {
	dir := t.TempDir()
	text := start(t, dir, "train.sample=0.2", "eval.vocabulary=[full]", "sweep.select=[random]", "sweep.replace=[uniform]", "sweep.ratios=[0.5]", "sweep.epsilons=[4]", "sweep.slates=[4,10]")
	o := result[Outcome](t, dir, "metrics.json")
	full, few := o.Protocols[0], o.Protocols[1]
	if len(full.Equal) != len(full.Floors) || full.FloorGuesses != ", k*L guesses" || len(few.Equal) != 0 || few.FloorGuesses != "" {
		t.Fatalf("%s: %d of %d floors, %q; %s: %d, %q", full.Name, len(full.Equal), len(full.Floors), full.FloorGuesses, few.Name, len(few.Equal), few.FloorGuesses)
	}
	if len(o.Floors) != 2*len(full.Floors) || !slices.ContainsFunc(o.Floors, func(s experiment.Scores) bool { return s.Name == "popularity, as many guesses" }) {
		t.Errorf("floors of the outcome %+v", o.Floors)
	}
	for _, s := range full.Equal {
		if s.Guesses["k=5"] != full.Attack.Guesses["k=5"] || s.Guesses["k=5"] >= full.Floors[0].Guesses["k=5"] {
			t.Errorf("%s names %v items, the attack %v, floors of the protocol %v", s.Name, s.Guesses, full.Attack.Guesses, full.Floors[0].Guesses)
		}
		for _, g := range full.Gains {
			if g.Over+slates.AsMany == s.Name && (g.Floor != s.Values[g.Metric] || math.Abs(g.Floor+g.Value-full.Attack.Values[g.Metric]) > 1e-12 || g.Unequal != 0) {
				t.Errorf("gain %+v, floor %v, attack %v", g, s.Values[g.Metric], full.Attack.Values[g.Metric])
			}
		}
	}
	found := func(what string, f slates.Found) {
		over := map[string]int{}
		for _, g := range f.Gains {
			over[g.Over]++
			if math.Abs(g.Floor+g.Value-f.Values[g.Metric]) > 1e-12 || g.Interval[0] > g.Value || g.Interval[1] < g.Value {
				t.Errorf("%s: %+v, the attacker finds %v", what, g, f.Values[g.Metric])
			}
		}
		if over["popularity"] != len(o.Metrics) || over["co-occurrence"] != len(o.Metrics) || len(over) != 2 {
			t.Errorf("%s: gains over %v", what, over)
		}
	}
	if o.Figures.FloorGuesses != full.FloorGuesses || len(o.Figures.Points) != 3 {
		t.Fatalf("%+v", o.Figures)
	}
	for _, p := range o.Figures.Points {
		for _, a := range p.Attackers {
			found(p.Mechanism, a.Found)
			if n := a.Guesses["k=5"]; n < 5 || n > full.Floors[0].Guesses["k=5"] {
				t.Errorf("%s: %v items named", p.Mechanism, n)
			}
		}
	}
	clean := o.Figures.Points[0].Attackers[0]
	for _, g := range clean.Gains { // of slates as they are it is the gain of the attack itself
		if !slices.Contains(full.Gains, g) {
			t.Errorf("%+v is not among the attack's", g)
		}
	}
	for _, p := range o.Figures.Slates {
		names := map[string]bool{}
		for _, v := range p.Values {
			names[v.Name] = true
		}
		if !names["popularity, k*L guesses"] || !names["popularity, as many guesses"] || names["popularity"] || len(p.Gains) != 2*len(o.Metrics) {
			t.Errorf("slates of %d: %v, %d gains", p.Length, names, len(p.Gains))
		}
	}
	for _, want := range []string{"popularity, k*L guesses (floor)", "popularity, as many guesses (floor)", "Leak of protected slates: Recall@10 less", "named  over", "the floors here name more distinct items"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	if text, _, _ := strings.Cut(text, "Protocol full vocabulary, k guesses"); strings.Contains(text, "popularity (floor)") {
		t.Errorf("a floor without a number of guesses:\n%s", text)
	}
}

// Where both sides name as many items nothing is said twice.
func TestFloorsOfOneList(t *testing.T) {
	dir := t.TempDir()
	text := start(t, dir, "attack.decoder=point", "train.sample=0.1", "train.epochs=1", "eval.vocabulary=[full]", "eval.k=[5]")
	o := result[Outcome](t, dir, "metrics.json")
	for _, p := range o.Protocols {
		if len(p.Equal) != 0 || p.FloorGuesses != "" {
			t.Errorf("%s: %+v", p.Name, p.Equal)
		}
		for _, f := range p.Floors {
			if f.Guesses["k=5"] != p.Attack.Guesses["k=5"] {
				t.Errorf("%s: %s names %v items, the attack %v", p.Name, f.Name, f.Guesses, p.Attack.Guesses)
			}
		}
	}
	if !strings.Contains(text, "popularity (floor)") || strings.Contains(text, slates.AsMany) {
		t.Errorf("rows that are the same:\n%s", text)
	}
}
