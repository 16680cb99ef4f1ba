package reproduce

import (
	"math"
	"strings"
	"testing"

	"privrec/internal/rng"
)

func TestJudge(t *testing.T) {
	none := math.NaN()
	base := evidence{ours: 20, printed: 20, rounding: 0.005, values: []float64{19.9, 20, 20.1}, theirs: 3, spread: none, users: none, authors: true, gap: 2}
	for _, c := range []struct {
		name   string
		change func(e *evidence)
		status string
		margin float64
		basis  string
	}{
		// t(2) 4.30265, deviation 0.1: 4.30265 * 0.1 * sqrt(1/3 + 1/3) = 0.35131
		{"equal", func(*evidence) {}, Match, 0.35631, "3 seeds beside 3, rounding"},
		{"inside", func(e *evidence) { e.printed = 20.356 }, Match, 0.35631, ""},
		{"outside", func(e *evidence) { e.printed = 20.357 }, Differs, 0.35631, ""},
		{"another method nearer than the interval is wide", func(e *evidence) { e.gap = 0.7 }, WithinNoise, 0.35631, ""},
		{"another method just as near", func(e *evidence) { e.gap = 0.72 }, Match, 0.35631, ""},
		{"no other method", func(e *evidence) { e.gap = none }, Match, 0.35631, ""},
		{"no other method, and wide", func(e *evidence) { e.gap, e.ours, e.printed = none, 6, 6; e.values = []float64{5.9, 6, 6.1} }, WithinNoise, 0.35631, ""},
		// one run of theirs: sqrt(1/3 + 1)
		{"number of their runs not said", func(e *evidence) { e.theirs = 0 }, Match, 0.50182, "3 seeds beside 1, rounding"},
		// theirs: 4.30265 * 0.3 / sqrt 3 = 0.74524; ours 0.24841
		{"their spread", func(e *evidence) { e.spread = 0.3 }, Match, 0.79055, "3 seeds beside 3 with printed spread, rounding"},
		{"one seed beside their spread", func(e *evidence) { e.spread, e.values = 0.1, e.values[:1] }, WithinNoise, 0.50182, "1 seed beside 3 with printed spread, rounding"},
		// users count where the split is ours: sqrt(0.35131^2 + 0.4^2)
		{"authors' split", func(e *evidence) { e.users = 0.4 }, Match, 0.35631, ""},
		{"our split", func(e *evidence) { e.users, e.authors = 0.4, false }, Match, 0.53738, "3 seeds beside 3, test users, rounding"},
		{"no spread at all", func(e *evidence) { e.values = []float64{20, 20, 20}; e.printed = 20.01 }, Differs, 0.005, ""},
		{"rounded", func(e *evidence) { e.values = []float64{20, 20, 20}; e.printed = 20.004 }, Match, 0.005, ""},
		// below three seeds
		{"one seed, equal", func(e *evidence) { e.values = e.values[1:2] }, WithinNoise, 1.005, "1 seed: 5 % of the printed number, rounding"},
		{"one seed, far", func(e *evidence) { e.values, e.ours = e.values[1:2], 21.1 }, Differs, 1.005, ""},
		{"two seeds", func(e *evidence) { e.values = e.values[:2] }, WithinNoise, 1.005, "2 seeds: 5 % of the printed number, rounding"},
		{"one seed, our split", func(e *evidence) { e.values, e.users, e.authors = e.values[:1], 0.75, false }, WithinNoise, 1.255, "1 seed: 5 % of the printed number, test users, rounding"},
		{"one seed, our split, users unknown", func(e *evidence) { e.values, e.authors = e.values[:1], false }, WithinNoise, 2.005, "1 seed: 10 % of the printed number, rounding"},
		{"one seed with noise", func(e *evidence) { e.values, e.noisy = e.values[:1], true }, WithinNoise, 2.005, ""},
	} {
		e := base
		c.change(&e)
		status, margin, basis, err := e.judge()
		if err != nil || status != c.status || math.Abs(margin-c.margin) > 1e-5 || c.basis != "" && basis != c.basis {
			t.Errorf("%s: %s, margin %.5f (%s), %v; want %s, %.5f (%s)", c.name, status, margin, basis, err, c.status, c.margin, c.basis)
		}
	}
}

// A number that our program gives, as a mean of other seeds, is said to differ once in twenty times
// at most. 20,000 draws exceed 1,190 alarms with probability 1e-9 at the nominal 1,000.
func TestJudgeFalseAlarms(t *testing.T) {
	stream := rng.Seed(3).Stream("false alarms")
	for _, n := range []int{3, 5} {
		for _, m := range []int{1, 5} {
			alarms := 0
			for range 20_000 {
				e := evidence{printed: 0, spread: math.NaN(), users: math.NaN(), authors: true, theirs: m, gap: 1}
				for range n {
					e.values = append(e.values, stream.NormFloat64())
				}
				for range m {
					e.printed += stream.NormFloat64() / float64(m)
				}
				for _, v := range e.values {
					e.ours += v / float64(n)
				}
				status, _, _, err := e.judge()
				if err != nil {
					t.Fatal(err)
				}
				if status == Differs {
					alarms++
				}
			}
			if alarms > 1190 || alarms < 810 { // exact where there is neither rounding nor a split
				t.Errorf("%d seeds beside %d: %d alarms in 20,000, want about 1,000", n, m, alarms)
			}
		}
	}
}

// The column with the most decimals says how far numbers are rounded, since files drop zeros.
func TestRoundingAndGap(t *testing.T) {
	p := func(x float64) []*float64 { return []*float64{&x} }
	g := &Grid{Rows: []Row{
		{Method: "A", Data: "d", Printed: p(5.5)}, {Method: "A", Variant: "x", Data: "d", Printed: p(5.6)},
		{Method: "B", Data: "d", Printed: p(6)}, {Method: "C", Data: "d", Printed: p(5.5)}, {Method: "D", Data: "e", Printed: p(5.51)},
		{Method: "E", Data: "d", Printed: []*float64{nil}},
	}}
	if r := g.rounding(0); math.Abs(r-0.005) > 1e-12 {
		t.Errorf("rounded to %v", r)
	}
	if gap := g.gap(&g.Rows[0], 0); math.Abs(gap-0.5) > 1e-12 {
		t.Errorf("gap %v, want 0.5: not another setting, an equal number or other data", gap)
	}
	if gap := g.gap(&g.Rows[4], 0); !math.IsNaN(gap) {
		t.Errorf("gap %v alone on its data", gap)
	}
}

// Every cell of a table has a status or a reason why not.
func TestStatusOfCells(t *testing.T) {
	for _, c := range []struct {
		name, size   string
		sets         []string
		status, says string // of the first cell
	}{
		{"three seeds, 2 away", "full", nil, WithinNoise, ""},
		{"far", "full", []string{"value=0.9"}, Differs, NoCause},
		{"one seed", "quick", nil, WithinNoise, ""},
		{"one seed, far", "quick", []string{"value=0.25"}, Differs, NoCause},
		{"stand-in", "smoke", nil, "", "stand-in: generated data in place of the paper's"},
		{"level", "quick", []string{"level=C"}, "", "level C: "},
		{"short", "quick", []string{"short='trained for 5'"}, "", "cut short: trained for 5"},
		{"data", "quick", []string{"fail=data"}, "", "data missing: ml-1m: nothing there"},
		{"failed", "quick", []string{"fail=error"}, "", "failed: it broke; badly"},
	} {
		cells := madeCells(t, fakeGrid, c.size, c.sets...)
		x := cells[0]
		if x.Status != c.status || !strings.HasPrefix(x.Why, c.says) || (c.says == "") != (x.Why == "") || (x.Margin == nil) != (c.status == "") {
			t.Errorf("%s: status %q, why %q, margin %v; want %q, %q", c.name, x.Status, x.Why, x.Margin, c.status, c.says)
		}
		if x := cells[2]; x.Status != "" || x.Why != "the paper prints none" {
			t.Errorf("%s: what is not printed has status %q, why %q", c.name, x.Status, x.Why)
		}
	}
	// users' scores widen the margin where the split is ours
	narrow, wide := madeCells(t, fakeGrid, "full")[0], madeCells(t, fakeGrid, "full", "users=20")[0]
	if *wide.Margin <= *narrow.Margin || !strings.Contains(wide.Basis, "test users") || strings.Contains(narrow.Basis, "test users") {
		t.Errorf("margin %v (%s) with users' scores, %v (%s) without", *wide.Margin, wide.Basis, *narrow.Margin, narrow.Basis)
	}
	counts := CountStatuses(madeCells(t, fakeGrid, "quick", "value=0.9"))
	if counts.Printed != 3 || counts.Differs != 3 || counts.NoCause != 3 || len(counts.Silent) != 0 {
		t.Errorf("%+v", counts)
	}
	holds(t, CountStatuses(madeCells(t, fakeGrid, "quick", "fail=data")).String(), "of 3 printed numbers, 0 match", "nothing can be said of 3 (data missing 3)")
}
