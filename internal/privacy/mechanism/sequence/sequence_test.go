package sequence

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// scripted forces the ids of a row, one a cell.
type scripted struct {
	s      *Sampler
	ids    []int32
	states [][]int32 // before each cell is drawn
	at     int
}

func (f *scripted) Keep(*mechanism.Odds) bool {
	f.states = append(f.states, slices.Clone(f.s.work))
	id := f.ids[f.at]
	f.at++
	return id == f.s.work[f.at-1]
}

func (f *scripted) Below(uint64) uint64 { return uint64(f.ids[f.at-1]) } // by rejection the id itself

func (f *scripted) Again() { panic("a forced id was refused") }

// The example of figure 3 of the paper with its intermediate states.
func TestToyOfTheFigure(t *testing.T) {
	m := Mechanism{Variant: SDPPaper, Epsilon: 1, Items: 8, Length: 8}
	s := newSampler(&Run{m: m, table: m.table()}, true)
	row := []int32{0, 0, 0, 1, 2, 3, 4, 5}
	f := &scripted{s: s, ids: []int32{0, 8, 1, 0, 2, 5, 0, 6}}
	if err := s.load(&m, row); err != nil {
		t.Fatal(err)
	}
	s.d.Forced = f
	s.perturb(&m, row)
	states := append(f.states, row)
	for i, want := range [][]int32{
		{0, 0, 0, 1, 2, 3, 4, 5}, {0, 0, 0, 1, 2, 3, 4, 5}, {0, 8, 0, 1, 2, 3, 4, 5}, {0, 8, 1, 0, 2, 3, 4, 5},
		{0, 8, 1, 0, 2, 3, 4, 5}, {0, 8, 1, 0, 2, 3, 4, 5}, {0, 8, 1, 0, 2, 5, 4, 3}, {0, 8, 1, 0, 2, 5, 0, 3}, {0, 8, 1, 0, 2, 5, 0, 6},
	} {
		if !slices.Equal(states[i], want) {
			t.Errorf("before cell %d: %v, want %v", i, states[i], want)
		}
	}
}

// Keep probabilities of the three Amazon domains as printed, and what float64
// alone would lose.
func TestRetention(t *testing.T) {
	for _, c := range []struct {
		eps  float64
		want [3]float64 // Movie, CD, Book
		tol  float64
	}{
		{1, [3]float64{4.57e-5, 2.98e-5, 1.15e-5}, 5e-3}, {2, [3]float64{1.24e-4, 8.10e-5, 3.13e-5}, 5e-3},
		{5, [3]float64{2.49e-3, 1.63e-3, 6.28e-4}, 5e-3}, {10, [3]float64{0.2701, 0.1946, 0.0853}, 1e-3},
		{20, [3]float64{0.99988, 0.99981, 0.99951}, 1e-5},
	} {
		for i, items := range []int{59_513, 91_169, 236_049} {
			m := Mechanism{Variant: SDPPaper, Epsilon: c.eps, Items: items, Length: 101}
			if got := m.Keep(0); math.Abs(got/c.want[i]-1) > c.tol {
				t.Errorf("eps %g, m %d: %g, want %g", c.eps, items, got, c.want[i])
			}
			if got := m.Keep(100); math.Abs(got/m.Keep(0)-1) > 2e-3 {
				t.Errorf("eps %g, m %d: %g after 100 ids", c.eps, items, got)
			}
			if sum := m.Keep(3) + m.Replace(3); math.Abs(sum-1) > 1e-15 {
				t.Errorf("eps %g: probabilities sum to %.17g", c.eps, sum)
			}
			fixed := m
			if fixed.Variant = SDPFixed; fixed.Keep(0) > m.Keep(0) || fixed.Keep(0) < m.Keep(0)*(1-2e-3) {
				t.Errorf("eps %g: fixed keeps %g, the paper %g", c.eps, fixed.Keep(0), m.Keep(0))
			}
		}
	}
	for i, want := range []float64{1.1e-17, 1.8e-17, 4.6e-17} {
		m := Mechanism{Variant: RR, Epsilon: 50, Items: []int{59_513, 91_169, 236_049}[i], Length: 101}
		if got := m.Replace(0); math.Abs(got/want-1) > 0.05 {
			t.Errorf("eps 50: replaced with %g, want %g", got, want)
		}
	}
	if m := (Mechanism{Variant: SDPPaper, Epsilon: 1, Items: 1, Length: 3}); m.Keep(1) != 1 || m.Replace(1) != 0 {
		t.Errorf("nothing left to draw: %g, %g", m.Keep(1), m.Replace(1))
	}
}

func someRows(users, items, length int) []int32 {
	rows := make([]int32, users*length)
	for u := range users {
		s := rng.Seed(3).Stream("rows", uint64(u))
		perm := s.Perm(items)
		for c := s.IntN(length + 1); c < length; c++ {
			rows[u*length+c] = perm[c] + 1
		}
	}
	return rows
}

// The row of a user depends on the stream and on who it is, not on the workers,
// the other rows or the way of calling; items are distinct, the shape is kept.
func TestSequencesAreKeyed(t *testing.T) {
	const users, items, length = 200, 300, 12
	clean := someRows(users, items, length)
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		m := Mechanism{Purpose: "seq", Variant: v, Epsilon: 5, Items: items, Length: length}
		one := slices.Clone(clean)
		l := mechanismtest.Ledger(t)
		if err := Perturb(m, l, bits, nil, one, 1); err != nil {
			t.Fatal(err)
		}
		if e := l.Entries(); len(e) != 1 || e[0].Event != m.Event() || e[0].Count != 1 {
			t.Errorf("%s: ledger %v", v, e)
		}
		if slices.Equal(one, clean) {
			t.Errorf("%s: nothing happened", v)
		}
		for i := 0; i < len(one) && v != RR; i += length {
			used := map[int32]bool{}
			for _, id := range one[i : i+length] {
				if id < 0 || id > items || id > 0 && used[id] {
					t.Fatalf("%s: row %v", v, one[i:i+length])
				}
				used[id] = true
			}
		}
		for _, workers := range []int{2, 3, 7, 1000} {
			again := slices.Clone(clean)
			if err := Perturb(m, mechanismtest.Ledger(t), bits, nil, again, workers); err != nil || !slices.Equal(one, again) {
				t.Errorf("%s: other rows with %d workers (%v)", v, workers, err)
			}
		}
		// A few users alone, backwards, by samplers of their own.
		run, err := m.Open(mechanismtest.Ledger(t), bits)
		if err != nil {
			t.Fatal(err)
		}
		for u := uint64(150); u > 3; u -= 49 {
			s, err := run.Sampler(u, u+1)
			if err != nil {
				t.Fatal(err)
			}
			row := slices.Clone(clean[u*length : (u+1)*length])
			if err := s.Row(u, row); err != nil || !slices.Equal(row, one[u*length:(u+1)*length]) {
				t.Errorf("%s: user %d alone has another row (%v)", v, u, err)
			}
		}
		if err := run.Finish(); err != nil {
			t.Error(err)
		}
		keys := []uint64{5, 1 << 40, 1 << 50}
		some := slices.Clone(clean[:3*length])
		if err := Perturb(m, mechanismtest.Ledger(t), bits, keys, some, 2); err != nil || slices.Equal(some[:length], one[:length]) {
			t.Errorf("%s: users make no difference (%v)", v, err)
		}
		// Secret bits: another result each time.
		secure := mechanismtest.LedgerFor(t, mechanism.Secret().Noise())
		a, b := slices.Clone(clean), slices.Clone(clean)
		if err := errors.Join(Perturb(m, secure, mechanism.Secret(), nil, a, 2), Perturb(m, secure, mechanism.Secret(), nil, b, 2)); err != nil || slices.Equal(a, b) {
			t.Errorf("%s: secret bits repeat (%v)", v, err)
		}
	}
}

// Marks count up over rows and start over before they overflow.
func TestMarksStartOver(t *testing.T) {
	m := Mechanism{Purpose: "seq", Variant: SDPFixed, Epsilon: 2, Items: 50, Length: 4}
	bits := mechanism.Keyed(rng.Seed(4).Stream("seq"))
	a, b := sampler(m, true, bits), sampler(m, true, bits)
	b.base = math.MaxUint32 - 40
	for u := range uint64(30) {
		x, y := []int32{0, 3, 0, 9}, []int32{0, 3, 0, 9}
		if err := errors.Join(a.Row(u, x), b.Row(u, y)); err != nil || !slices.Equal(x, y) {
			t.Fatalf("user %d: %v and %v (%v)", u, x, y, err)
		}
	}
	if b.base > 1000 {
		t.Error("did not start over")
	}
}

// Expected number of ids kept at their place, by simulation and in closed form:
// 6.11 standard errors, a false alarm of 1e-9. The largest epsilon keeps all.
func TestSurvival(t *testing.T) {
	const users, items, length = 4000, 2000, 10
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		for _, eps := range []float64{4, math.Log(items), 9} {
			m := Mechanism{Purpose: "seq", Variant: v, Epsilon: eps, Items: items, Length: length}
			rows := make([]int32, users*length)
			for i := 0; i < len(rows); i += length { // the first cell alone: the favoured id is still there
				rows[i] = int32(1 + i%items)
			}
			clean := slices.Clone(rows)
			if err := Perturb(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(8).Stream("seq")), nil, rows, 2); err != nil {
				t.Fatal(err)
			}
			kept := 0.0
			for i := 0; i < len(rows); i += length {
				if rows[i] == clean[i] {
					kept++
				}
			}
			p := m.Keep(0)
			if d := (kept - users*p) / math.Sqrt(users*p*(1-p)); math.Abs(d) > mechanismtest.Sigmas {
				t.Errorf("%s, eps %g: %g kept of %d, want a share %g (%.1f standard errors)", v, eps, kept, users, p, d)
			}
		}
		for _, eps := range []float64{80, 1e300} {
			m := Mechanism{Purpose: "seq", Variant: v, Epsilon: eps, Items: items, Length: length}
			rows := someRows(users, items, length)
			clean := slices.Clone(rows)
			if err := Perturb(m, mechanismtest.LedgerFor(t, mechanism.Secret().Noise()), mechanism.Secret(), nil, rows, 2); err != nil || !slices.Equal(rows, clean) {
				t.Errorf("%s, eps %g: something was replaced (%v)", v, eps, err)
			}
		}
	}
}

// A row costs no allocation, in either way of drawing.
func TestRowsAllocateNothing(t *testing.T) {
	for _, items := range []int{5, 5000} {
		for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
			m := Mechanism{Purpose: "seq", Variant: v, Epsilon: 3, Items: items, Length: 6}
			s := sampler(m, m.rejects(), mechanism.Keyed(rng.Seed(1).Stream("seq")))
			row, user := make([]int32, 6), uint64(0)
			if n := testing.AllocsPerRun(100, func() {
				clear(row)
				if err := s.Row(user, row); err != nil {
					t.Fatal(err)
				}
				user++
			}); n != 0 {
				t.Errorf("%s, m %d: %g allocations a row", v, items, n)
			}
		}
	}
}

func ExampleMechanism() {
	m := Mechanism{Purpose: "sequences", Variant: SDPFixed, Epsilon: 10, Items: 236_049, Length: 101}
	fmt.Printf("a cell keeps its item with probability %.4f\n", m.Keep(0))
	fmt.Printf("a user's row is protected with epsilon %g only\n", m.UserEvent().(privacy.PureLDP).Epsilon)
	// Output:
	// a cell keeps its item with probability 0.0853
	// a user's row is protected with epsilon 1010 only
}
