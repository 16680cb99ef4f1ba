package reproduce

import (
	"strings"
	"testing"

	"privrec/internal/reproduce/results"
)

// Every cell of a table has a status or a reason why not.
func TestStatusOfCells(t *testing.T) {
	for _, c := range []struct {
		name, size   string
		sets         []string
		status, says string // of the first cell
	}{
		{"three seeds, 2 away", "full", nil, results.WithinNoise, ""},
		{"far", "full", []string{"value=0.9"}, results.Differs, results.NoCause},
		{"one seed", "quick", nil, results.WithinNoise, ""},
		{"one seed, far", "quick", []string{"value=0.25"}, results.Differs, results.NoCause},
		{"stand-in", "smoke", nil, "", "stand-in: generated data in place of the paper's"},
		{"level", "quick", []string{"level=C"}, "", "level C: "},
		{"short", "quick", []string{"short='trained for 5'"}, "", "cut short: trained for 5"},
		{"data", "quick", []string{"fail=data"}, "", "data missing: ml-1m: nothing there"},
		{"failed", "quick", []string{"fail=error"}, "", "failed: it broke; badly"},
	} {
		cells := madeCells(t, fakeGrid, c.size, c.sets...)
		x := cells[0]
		if x.Status != c.status || !strings.HasPrefix(x.Why, c.says) || (c.says == "") != (x.Why == "") ||
			(x.Margin == nil) != (c.status == "") {
			t.Errorf("%s: status %q, why %q, margin %v; want %q, %q", c.name, x.Status, x.Why, x.Margin, c.status, c.says)
		}
		if x := cells[2]; x.Status != "" || x.Why != "the paper prints none" {
			t.Errorf("%s: what is not printed has status %q, why %q", c.name, x.Status, x.Why)
		}
	}
	// users' scores widen the margin where the split is ours
	narrow, wide := madeCells(t, fakeGrid, "full")[0], madeCells(t, fakeGrid, "full", "users=20")[0]
	if *wide.Margin <= *narrow.Margin || !strings.Contains(wide.Basis, "test users") ||
		strings.Contains(narrow.Basis, "test users") {
		t.Errorf("margin %v (%s) with users' scores, %v (%s) without", *wide.Margin, wide.Basis, *narrow.Margin, narrow.Basis)
	}
	counts := results.CountStatuses(madeCells(t, fakeGrid, "quick", "value=0.9"))
	if counts.Printed != 3 || counts.Differs != 3 || counts.NoCause != 3 || len(counts.Silent) != 0 {
		t.Errorf("%+v", counts)
	}
	holds(
		t,
		results.CountStatuses(madeCells(t, fakeGrid, "quick", "fail=data")).String(),
		"of 3 printed numbers, 0 match",
		"nothing can be said of 3 (data missing 3)",
	)
}
