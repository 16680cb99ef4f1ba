package release

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/report"
	"privrec/internal/rng"
)

// people are small data: rows of items by user, with ids.
type people struct {
	ids  []string
	rows [][]int32
}

func drawPeople(rt *rapid.T, items int) people {
	var p people
	for u := range rapid.IntRange(1, 7).Draw(rt, "users") {
		p.ids = append(p.ids, fmt.Sprint("user", u))
		row := rapid.SliceOfNDistinct(rapid.Int32Range(0, int32(items-1)), 0, items, rapid.ID[int32]).Draw(rt, "row")
		slices.Sort(row)
		p.rows = append(p.rows, row)
	}
	return p
}

func (p people) without(u int) people {
	return people{slices.Delete(slices.Clone(p.ids), u, u+1), slices.Delete(slices.Clone(p.rows), u, u+1)}
}

// sums counts what was contributed, by the definition.
func sums(contributed [][]int32, items int) []float64 {
	c := make([]float64, items)
	for _, list := range contributed {
		for _, i := range list {
			c[i]++
		}
	}
	return c
}

// Over all neighbours of small data: others contribute the same, and the counts move by at most the
// stated sensitivity. Somewhere they move by all of it.
func TestCountsMoveByTheirSensitivity(t *testing.T) {
	const items = 6
	largest := 0.0
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPeople(rt, items)
		d := Draw{Items: rapid.IntRange(1, 4).Draw(rt, "k"), Stream: rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("draw")}
		if rapid.Bool().Draw(rt, "weights") {
			d.Weights = []float64{1, 0, 3, 0.1, 20, 2}
		}
		whole := d.All(p.ids, p.rows)
		all, want := sums(whole, items), CountSum(d.Items).Sensitivity
		for u := range p.ids {
			less := p.without(u)
			others := d.All(less.ids, less.rows)
			if !slices.EqualFunc(others, slices.Delete(slices.Clone(whole), u, u+1), slices.Equal) {
				rt.Fatalf("without user %d others contribute %v, with them %v", u, others, whole)
			}
			moved := 0.0
			for i, c := range sums(others, items) {
				moved += (all[i] - c) * (all[i] - c)
			}
			if moved = math.Sqrt(moved); moved > want {
				rt.Fatalf("the counts move by %g, want at most %g", moved, want)
			}
			largest = max(largest, moved/want)
		}
	})
	if largest < 1 {
		t.Errorf("the counts move by at most %g of the stated sensitivity", largest)
	}
}

func TestDrawTakesNoMoreThanItShould(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawPeople(rt, 6)
		weights := rapid.SliceOfN(rapid.SampledFrom([]float64{0, 0.5, 2}), 6, 6).Draw(rt, "weights")
		d := Draw{Items: rapid.IntRange(1, 6).Draw(rt, "k"), Weights: weights, Stream: rng.Seed(1).Stream("draw")}
		for u, got := range d.All(p.ids, p.rows) {
			free := 0
			for _, i := range p.rows[u] {
				if weights[i] > 0 {
					free++
				}
			}
			if len(got) != min(d.Items, free) || !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) != len(got) {
				rt.Fatalf("%v of row %v with weights %v", got, p.rows[u], weights)
			}
			for _, i := range got {
				if weights[i] == 0 || !slices.Contains(p.rows[u], i) {
					rt.Fatalf("item %d of row %v with weights %v", i, p.rows[u], weights)
				}
			}
		}
	})
}

// The first of one is drawn in proportion to the weights, and users draw apart. 20,000 users: each
// share is within 6.2 standard deviations, which a correct draw leaves with probability below 1e-9.
func TestDrawFollowsTheWeights(t *testing.T) {
	const n = 20_000
	weights := []float64{1, 2, 5}
	d := Draw{Items: 1, Weights: weights, Stream: rng.Seed(3).Stream("draw")}
	got := make([]float64, 3)
	for u := range n {
		for _, i := range d.Of(fmt.Sprint(u), []int32{0, 1, 2}) {
			got[i]++
		}
	}
	for i, w := range weights {
		p := w / 8
		if off := math.Abs(got[i] - n*p); off > 6.2*math.Sqrt(n*p*(1-p)) {
			t.Errorf("item %d of weight %g was drawn %g times of %d", i, w, got[i], n)
		}
	}
}

func TestTopAndWeights(t *testing.T) {
	counts := []float64{3, 9, -2, 9, 4}
	if got := Top(counts, 3); !slices.Equal(got, []int32{1, 3, 4}) {
		t.Errorf("top %v", got)
	}
	if got := Top(counts, 9); !slices.Equal(got, []int32{1, 3, 4, 0, 2}) {
		t.Errorf("all %v", got)
	}
	if got := Weights(counts, []int32{1, 2, 4}, 1, 0.5); !slices.Equal(got, []float64{0, 1. / 3, 1, 0, 0.5}) {
		t.Errorf("weights %v", got)
	}
}

// For every epsilon that is promised, releases that are made with the multipliers come out at it, by the ledger and
// by the accountants beside, seeded and secure.
func TestBudgetIsUsedUp(t *testing.T) {
	for _, eps := range []float64{0.5, 1, 4, 16} {
		for _, secret := range []bool{false, true} {
			p := Default()
			p.Epsilon, p.Secure = eps, secret
			some := Sum{Sensitivity: 0.7, Dimension: 10, Grid: 0x1p-20}
			a1, a2 := some, some
			a1.Purpose, a2.Purpose = "a", "b"
			sums, err := p.Split([]Sum{CountSum(p.Items), a1, a2}, p.Counts, (1-p.Counts)/2, (1-p.Counts)/2)
			if err != nil {
				t.Fatal(err)
			}
			a := NewAccount(p, "the Gaussian mechanism", []string{"a file"})
			l := mechanismtest.LedgerFor(t, p.Marks())
			r := Releaser{Ledger: l, Secure: secret, Noise: func(purpose string) (rng.Stream, error) { return rng.Seed(1).Stream(purpose), nil }, Releases: 3}
			if _, err := r.Counts(sums[0], [][]int32{{0, 1}, {1}}, 2); err != nil {
				t.Fatal(err)
			}
			for _, s := range sums[1:] {
				if err := r.Release(s, []float64{1, 2.5}, 2); err != nil {
					t.Fatal(err)
				}
			}
			if err := l.Flush("all"); err != nil {
				t.Fatal(err)
			}
			if err := a.Compose(l); err != nil {
				t.Fatal(err)
			}
			if len(a.Unbounded) > 0 || len(a.Units) != 1 || a.Units[0].Unit != "user" {
				t.Fatalf("account %+v", a)
			}
			if secret {
				if len(a.Beside) != 1 || a.Beside[0].Eps != a.Total || a.Noise != "secure" {
					t.Errorf("epsilon %v, secure: total %v, beside %v", eps, a.Total, a.Beside)
				}
			} else if bracket, renyi := a.Beside[0], a.Beside[1]; !(bracket.Lower > 0 && bracket.Lower <= a.Total && a.Total <= bracket.Eps && a.Total < renyi.Eps) {
				t.Errorf("epsilon %v: exact %v, bracket %v to %v, Rényi %v", eps, a.Total, bracket.Lower, bracket.Eps, renyi.Eps)
			}
			d := &report.Document{}
			a.Show(d)
			if d.Facts[0].Note != Threat || !strings.Contains(d.Notes[len(d.Notes)-1], "a file") {
				t.Errorf("the result does not name the threat model and the file: %v %v", d.Facts, d.Notes)
			}
		}
	}
}

// A ledger that comes to less or more than the setting is an error.
func TestComposeRefusesAnotherTotal(t *testing.T) {
	p := Default()
	m, err := p.Multipliers(1)
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []float64{0.999, 1.001} {
		l := mechanismtest.Ledger(t)
		r := Releaser{Ledger: l, Noise: func(purpose string) (rng.Stream, error) { return rng.Seed(1).Stream(purpose), nil }}
		if err := r.Release(Sum{Purpose: "a", Sensitivity: 1, Multiplier: m[0] * by, Dimension: 1}, []float64{1}, 1); err != nil {
			t.Fatal(err)
		}
		if err := NewAccount(p, "t", nil).Compose(l); err == nil || !strings.Contains(err.Error(), "want 1") {
			t.Errorf("noise by %v: %v", by, err)
		}
	}
}

func TestReleaserRefuses(t *testing.T) {
	noise := func(purpose string) (rng.Stream, error) { return rng.Seed(1).Stream(purpose), nil }
	good := Sum{Purpose: "a", Sensitivity: 1, Multiplier: 1, Dimension: 2, Grid: 0.25}
	with := func(change func(*Sum)) Sum { s := good; change(&s); return s }
	for name, c := range map[string]struct {
		sum    Sum
		values []float64
		secure bool
		want   string
	}{
		"off the grid":    {good, []float64{0.3}, false, "multiple"},
		"not finite":      {good, []float64{math.Inf(1)}, false, "finite"},
		"no dimension":    {with(func(s *Sum) { s.Dimension = 0 }), []float64{1}, false, "at least 1"},
		"floats, secure":  {with(func(s *Sum) { s.Grid = 0 }), []float64{1}, true, "no secure form"},
		"no sensitivity":  {with(func(s *Sum) { s.Sensitivity = 0 }), []float64{1}, false, "sigma"},
		"without purpose": {with(func(s *Sum) { s.Purpose = "" }), []float64{1}, true, "purpose"},
	} {
		l := mechanismtest.Ledger(t)
		if c.secure {
			l = mechanismtest.SecureLedger(t)
		}
		x := slices.Clone(c.values)
		r := Releaser{Ledger: l, Secure: c.secure, Noise: noise}
		if err := r.Release(c.sum, x, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(x, c.values) || len(l.Entries()) > 0 {
			t.Errorf("%s: the values are %v, the ledger has %v", name, x, l.Entries())
		}
	}
	r := Releaser{Ledger: mechanismtest.Ledger(t), Noise: noise}
	if err := r.Release(good, []float64{1}, 1); err != nil {
		t.Fatal(err)
	}
	if err := r.Release(good, []float64{1}, 1); err == nil {
		t.Error("one purpose was released twice")
	}
	if _, err := r.Counts(CountSum(1), [][]int32{{0, 1}}, 2); err == nil {
		t.Error("a user contributed more than was said")
	}
	if _, err := r.Counts(CountSum(2), [][]int32{{0, 0}}, 2); err == nil {
		t.Error("a user contributed one item twice")
	}
}

// What a stopped run released before is recorded again as the same event.
func TestRepeatRecordsTheSameEvent(t *testing.T) {
	for _, secret := range []bool{false, true} {
		var events []privacy.Event
		for _, again := range []bool{false, true} {
			p := Privacy{Secure: secret}
			l := mechanismtest.LedgerFor(t, p.Marks())
			r := Releaser{Ledger: l, Secure: secret, Noise: func(purpose string) (rng.Stream, error) { return rng.Seed(1).Stream(purpose), nil }}
			s := CountSum(3)
			s.Multiplier = 1.5
			var err error
			if again {
				err = r.Repeat(s)
			} else {
				err = r.Release(s, []float64{1, 4}, 2)
			}
			if err != nil {
				t.Fatal(err)
			}
			e := l.Entries()
			if len(e) != 1 || e[0].Purpose != CountsPurpose {
				t.Fatalf("ledger %v", e)
			}
			events = append(events, e[0].Event)
		}
		if events[0] != events[1] {
			t.Errorf("%v, and again %v", events[0], events[1])
		}
	}
}
