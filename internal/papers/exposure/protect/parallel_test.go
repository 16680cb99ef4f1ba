package protect

import (
	"slices"
	"testing"

	"privrec/internal/dataset/slate"
	"privrec/internal/privacy"
)

// Parts without a common user are one event of the ledger, others one each; the draws are
// the same.
func TestPartsOfALedger(t *testing.T) {
	set := logged(30, 60, 10, 5, 1)
	answer := func(p *Parallel, parts ...string) (slates [][]int32, entries []privacy.Entry) {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range parts {
			pairs := set.Test
			if name == "none" {
				pairs = &slate.Pairs{T: 10, L: 5}
			}
			out, _, err := Slates(t.Context(), pairs, Options{Method: Method{Replace: ReplaceRR, Epsilon: 3}, Pool: pool(t, set), Ledger: l, Part: name, Parallel: p})
			if err != nil {
				t.Fatal(err)
			}
			slates = append(slates, out.Slates)
		}
		return slates, l.Entries()
	}
	total := func(entries []privacy.Entry) (eps float64) {
		for _, e := range entries {
			eps += float64(e.Count) * e.Event.(privacy.RandomizedResponse).Epsilon
		}
		return eps
	}
	alone, entries := answer(nil, "test", "train", "valid")
	if len(entries) != 3 || total(entries) != 9 {
		t.Errorf("parts that may share users: %v", entries)
	}
	together, entries := answer(NewParallel("test", "train", "valid"), "test", "train", "valid")
	if len(entries) != 1 || total(entries) != 3 || entries[0].Purpose != "slate positions, test, train, valid" {
		t.Errorf("parts that share no user: %v", entries)
	}
	if !slices.EqualFunc(alone, together, slices.Equal) {
		t.Error("other draws where parts are one event")
	}
	for _, c := range []struct {
		parts []string
		eps   float64
	}{
		{[]string{"test", "test"}, 6}, {[]string{"test", "train", "test", "train"}, 6}, // released again
		{[]string{"none", "test"}, 3},  // nothing was released before
		{[]string{"test", "other"}, 6}, // a part that was not declared to share no user
	} {
		if _, entries := answer(NewParallel("none", "test", "train"), c.parts...); total(entries) != c.eps {
			t.Errorf("%v: epsilon %g, want %g: %v", c.parts, total(entries), c.eps, entries)
		}
	}
}
