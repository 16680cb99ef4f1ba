package local

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// What comes out of a row depends on its number and its values, and on nothing else: not on how rows
// are cut into stretches, nor on who works when. One release is in the ledger.
func TestResponseRowsInAnyStretches(t *testing.T) {
	const rows, width = 90, 7
	m := Response{Purpose: "slates", Epsilon: 2, Categories: 50, Unit: privacy.Record}
	perturb := func(cut []int, backwards bool) []int32 {
		data := make([]int32, rows*width)
		for i := range data {
			data[i] = int32(i % 50)
		}
		l := mechanismtest.Ledger(t)
		run, err := m.Open(l, mechanism.Keyed(rng.Seed(3).Stream("rows")))
		if err != nil {
			t.Fatal(err)
		}
		var parts []*ResponseRows
		var at []int
		from := 0
		for _, n := range cut {
			p, err := run.Rows(n)
			if err != nil {
				t.Fatal(err)
			}
			parts, at = append(parts, p), append(at, from)
			from += n
		}
		for k := range parts {
			if backwards {
				k = len(parts) - 1 - k
			}
			for i := range cut[k] {
				if err := parts[k].Row(data[(at[k]+i)*width : (at[k]+i+1)*width]); err != nil {
					t.Fatal(err)
				}
			}
			if err := parts[k].Close(); err != nil {
				t.Fatal(err)
			}
		}
		kept, of := run.Kept()
		same := int64(0)
		for i, v := range data {
			if v == int32(i%50) {
				same++
			}
		}
		if of != rows*width || kept != same {
			t.Errorf("kept %d of %d, want %d of %d", kept, of, same, rows*width)
		}
		if err := run.Finish(); err != nil {
			t.Fatal(err)
		}
		if e := l.Entries(); len(e) != 1 || e[0].Event != m.Event() || e[0].Count != 1 {
			t.Errorf("ledger %v", e)
		}
		return data
	}
	whole := perturb([]int{rows}, false)
	if !slices.Equal(whole, perturb([]int{1, 40, 29, 20}, false)) || !slices.Equal(whole, perturb([]int{50, 40}, true)) {
		t.Error("other rows in other stretches")
	}
}

// Rows follow the law of randomised response: chi-square over the categories, false
// alarm 1e-9.
func TestResponseRowsFollowTheLaw(t *testing.T) {
	const n, k = 40_000, 6
	m := Response{Purpose: "law", Epsilon: 1.5, Categories: k, Unit: privacy.Record}
	run, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(8).Stream("law")))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := run.Rows(n)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]float64, k)
	for range n {
		row := []int32{2, 4}
		if err := rows.Row(row); err != nil {
			t.Fatal(err)
		}
		counts[row[1]]++
	}
	if err := errors.Join(rows.Close(), run.Finish()); err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for y, c := range counts {
		want := n * m.Other()
		if y == 4 {
			want = n * m.Keep()
		}
		sum += (c - want) * (c - want) / want
	}
	if p := (distuv.ChiSquared{K: k - 1}).Survival(sum); p < 1e-9 {
		t.Errorf("counts %v, chi-square %g, p %g", counts, sum, p)
	}
}

// Misuse is refused: a row too many, one too few, a value outside, a second end.
func TestResponseRowsRefuse(t *testing.T) {
	m := Response{Purpose: "slates", Epsilon: 2, Categories: 5, Unit: privacy.Record}
	open := func() (*ResponseRun, *ResponseRows) {
		run, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(3).Stream("rows")))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := run.Rows(1)
		if err != nil {
			t.Fatal(err)
		}
		return run, rows
	}
	wants := func(err error, part string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("error %v, want %q", err, part)
		}
	}
	run, rows := open()
	row := []int32{4, 5}
	wants(rows.Row(row), "value 1 is 5, want 0 to 4")
	if !slices.Equal(row, []int32{4, 5}) {
		t.Errorf("a refused row is now %v", row)
	}
	wants(run.Finish(), "1 stretches of rows are not closed")
	wants(rows.Close(), "1 rows of a stretch were not perturbed")
	if err := rows.Row([]int32{1}); err != nil {
		t.Fatal(err)
	}
	wants(rows.Row([]int32{1}), "more rows than the stretch has")
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	wants(rows.Close(), "closed twice")
	if err := run.Finish(); err != nil {
		t.Fatal(err)
	}
	wants(run.Finish(), "the run is finished")
	_, err := run.Rows(1)
	wants(err, "the run is finished")
	run, _ = open()
	_, err = run.Rows(0)
	wants(err, "0 rows")
	_, err = m.Open(mechanismtest.Ledger(t), mechanism.Secret())
	wants(err, "slates")
	m.Categories = 1
	_, err = m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(3).Stream("rows")))
	wants(err, "categories is 1")
}

// At an infinite epsilon rows stay as they are and the ledger says that nothing is
// protected.
func TestResponseRowsAtTheLimit(t *testing.T) {
	m := Response{Purpose: "slates", Epsilon: math.Inf(1), Categories: 5, Unit: privacy.Record, Limits: true}
	l := mechanismtest.Ledger(t)
	run, err := m.Open(l, mechanism.Keyed(rng.Seed(3).Stream("rows")))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := run.Rows(1)
	if err != nil {
		t.Fatal(err)
	}
	row := []int32{3, 1}
	if err := errors.Join(rows.Row(row), rows.Close(), run.Finish()); err != nil || !slices.Equal(row, []int32{3, 1}) {
		t.Errorf("row %v (%v)", row, err)
	}
	if _, ok := l.Entries()[0].Event.(privacy.Unprotected); !ok {
		t.Errorf("ledger %v", l.Entries())
	}
}

// A sampler that keeps too much, or puts the wrong values in place, is found out.
func TestResponseRowsCheckThemselves(t *testing.T) {
	for name, spoil := range map[string]func(x *ResponseRows){
		"number of values kept":                   func(x *ResponseRows) { x.seen.odds.Hi += x.seen.odds.Hi / 4 },
		"sum of replaced values about their mean": func(x *ResponseRows) { x.seen.odds.Others = 20 },
	} {
		m := Response{Purpose: "slates", Epsilon: 3, Categories: 50, Unit: privacy.Record}
		run, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(3).Stream("rows")))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := run.Rows(3000)
		if err != nil {
			t.Fatal(err)
		}
		spoil(rows)
		for range 3000 {
			row := []int32{40, 41, 42, 43, 44}
			if err := rows.Row(row); err != nil {
				t.Fatal(err)
			}
		}
		var bad *mechanism.CheckError
		if err := errors.Join(rows.Close(), run.Finish()); !errors.As(err, &bad) || bad.What != name {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Under one seed and in one place, other values of a row meet other noise. At next to no epsilon the output is noise
// alone, uniform over 1000 values: six of 20 agree by chance with probability 4e-14.
func TestOtherRowsMeetOtherNoise(t *testing.T) {
	const width, categories = 20, 1000
	perturbed := func(value int32) []int32 {
		m := Response{Purpose: "slates", Epsilon: 1e-9, Categories: categories, Unit: privacy.Record}
		run, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(3).Stream("rows")))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := run.Rows(1)
		if err != nil {
			t.Fatal(err)
		}
		row := slices.Repeat([]int32{value}, width)
		if err := rows.Row(row); err != nil {
			t.Fatal(err)
		}
		return row
	}
	same := 0
	a, b := perturbed(7), perturbed(8)
	for k := range a {
		if a[k] == b[k] {
			same++
		}
	}
	if same > 5 {
		t.Errorf("%d of %d outputs of another row are the same", same, width)
	}
	if !slices.Equal(a, perturbed(7)) {
		t.Error("the same row comes out otherwise the second time")
	}
}
