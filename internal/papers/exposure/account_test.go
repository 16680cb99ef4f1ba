package exposure

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// A sweep with randomized response says in privacy.json what each setting released of
// which part, and what all of them add up to; the ledger has the same events and no
// others. The slates are attacked as they were beside it: no total is finite.
func TestSweepIsAccounted(t *testing.T) {
	dir := t.TempDir()
	var out strings.Builder
	err := begin(t.Context(), attackTask(), run.Options{Config: "../../../configs/exposure/smoke.yaml", Stdout: &out, Sets: []string{
		"run.out=" + dir, "run.workers=1", "train.sample=0.1", "train.epochs=1", "eval.k=[5]", "eval.vocabulary=[full]", "eval.budget=[k]", "eval.resamples=100", "sweep.epsilons=[4,6.5]"}})
	if err != nil {
		t.Fatal(err)
	}
	a := result[Account](t, dir, "privacy.json")
	parts := []string{"test", "train", "valid"}
	if len(a.Releases) != 2 || a.Noise != string(privacy.Research) || a.Mechanism != "randomized response over the catalogue" {
		t.Fatalf("account %+v", a)
	}
	for i, eps := range []privacy.Number{4, 6.5} {
		r := a.Releases[i]
		if r.Setting != (protect.Setting{Replace: protect.ReplaceRR, Epsilon: float64(eps)}).String() || r.Unit != "position" || r.Eps != eps || r.Positions != 10 || r.SlateEps != 10*eps || !slices.Equal(r.Parts, parts) {
			t.Errorf("release %+v", r)
		}
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	sum := 0.0 // one position takes them all: parts have no user in common, and an event is of all of them
	for _, e := range l.Entries() {
		if rr, ok := e.Event.(privacy.RandomizedResponse); ok {
			parts := strings.TrimPrefix(e.Purpose, "slate positions, ")
			got = append(got, protect.Setting{Replace: protect.ReplaceRR, Epsilon: rr.Epsilon}.String()+": "+parts)
			sum += rr.Epsilon * float64(e.Count)
			if string(rr.Unit) != a.Units[0].Unit {
				t.Errorf("unit %q in the ledger, %q in the account", rr.Unit, a.Units[0].Unit)
			}
		}
	}
	for _, r := range a.Releases {
		want = append(want, r.Setting+": "+strings.Join(r.Parts, ", "))
	}
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("the ledger has %q, the account %q", got, want)
	}
	if len(a.Units) != 4 || slices.ContainsFunc(a.Unbounded, func(o experiment.Open) bool { return o.What == "overlap" || o.What == "user" }) {
		t.Fatalf("units %+v, without bound %+v", a.Units, a.Unbounded)
	}
	for _, r := range a.Releases {
		if r.UserEps != r.Eps*privacy.Number(a.Units[2].Positions) {
			t.Errorf("release %+v, a user holds %d positions", r, a.Units[2].Positions)
		}
	}
	for i, c := range []struct {
		unit string
		eps  privacy.Number
	}{{"position", 10.5}, {"slate", 105}, {"user", 10.5 * privacy.Number(a.Units[2].Positions)}, {"item of a user", 10.5 * privacy.Number(a.Units[3].Positions)}} {
		u := a.Units[i]
		if u.Unit != c.unit || u.Accounted.Eps != c.eps || !math.IsInf(float64(u.Total), 1) || !slices.Equal(u.Unbounded, []string{"slates"}) || !strings.Contains(u.Neighbouring, "2 settings") {
			t.Errorf("unit %+v, want %v", u, c)
		}
	}
	if sum != float64(a.Units[0].Accounted.Eps) {
		t.Errorf("the ledger adds up to %g a position, the account says %v", sum, a.Units[0].Accounted.Eps)
	}
	if !math.IsInf(float64(a.Total), 1) {
		t.Errorf("total %v", a.Total)
	}
	for _, want := range []string{"What randomized response released in the sweep", "rr, epsilon 6.5", "test, train, valid", "all 2 settings", "105"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the result does not say %q:\n%s", want, out.String())
		}
	}
}

// Without an adaptive attacker the test slates alone are released, and without randomized
// response a sweep releases nothing that could be accounted for.
func TestSweepReleases(t *testing.T) {
	c := Default()
	c.Sweep.Epsilons = []float64{4}
	if a := c.account(shares{T: 10, Slates: 2, Item: 3, Known: 3}); len(a.Releases) != 1 || a.Releases[0].UserEps != 80 || !slices.Equal(a.Releases[0].Parts, []string{"test"}) {
		t.Errorf("account %+v", a)
	}
	c.Sweep.Epsilons, c.Sweep.Select, c.Sweep.Replace, c.Sweep.Ratios = nil, []string{protect.SelectRandom}, []string{protect.ReplaceUniform}, []float64{0.2}
	a := c.account(shares{T: 10, Slates: 2, Item: 3, Known: 3})
	if len(a.Releases) != 0 || len(a.Units) != 0 || a.Noise != "none" {
		t.Errorf("account %+v", a)
	}
	if !slices.ContainsFunc(a.Unbounded, func(o experiment.Open) bool { return o.What == "slates" && strings.Contains(o.Why, "sampled items") }) {
		t.Errorf("the sweep's replaced slates have no guarantee, which is not said: %+v", a.Unbounded)
	}
}
