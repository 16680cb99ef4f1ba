package mechanism

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/privacy"
	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/rng"
)

// scripted forces the ids of a row, one a cell.
type scripted struct {
	s      *SequenceSampler
	ids    []int32
	states [][]int32 // before each cell is drawn
	at     int
}

func (f *scripted) keep(*odds) bool {
	f.states = append(f.states, slices.Clone(f.s.work))
	id := f.ids[f.at]
	f.at++
	return id == f.s.work[f.at-1]
}

func (f *scripted) below(uint64) uint64 { return uint64(f.ids[f.at-1]) } // by rejection the id itself
func (f *scripted) again()              { panic("a forced id was refused") }

// The example of figure 3 of the paper with its intermediate states.
func TestToyOfTheFigure(t *testing.T) {
	m := Sequence{Variant: SDPPaper, Epsilon: 1, Items: 8, Length: 8}
	s := newSequenceSampler(&SequenceRun{m: m, table: m.table()}, true)
	row := []int32{0, 0, 0, 1, 2, 3, 4, 5}
	f := &scripted{s: s, ids: []int32{0, 8, 1, 0, 2, 5, 0, 6}}
	if err := s.load(&m, row); err != nil {
		t.Fatal(err)
	}
	s.d.forced = f
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
			m := Sequence{Variant: SDPPaper, Epsilon: c.eps, Items: items, Length: 101}
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
		m := Sequence{Variant: RR, Epsilon: 50, Items: []int{59_513, 91_169, 236_049}[i], Length: 101}
		if got := m.Replace(0); math.Abs(got/want-1) > 0.05 {
			t.Errorf("eps 50: replaced with %g, want %g", got, want)
		}
	}
	if m := (Sequence{Variant: SDPPaper, Epsilon: 1, Items: 1, Length: 3}); m.Keep(1) != 1 || m.Replace(1) != 0 {
		t.Errorf("nothing left to draw: %g, %g", m.Keep(1), m.Replace(1))
	}
}

// chiSquare is the probability that independent outputs of a law lie as far from
// it as the counts do; 0 for an output that the law does not have. Outputs
// expected less than 30 times are taken together.
func chiSquare(l law.Law[law.Row], counts map[law.Row]int, n int) float64 {
	stat, cells, restWant, restGot := 0.0, -1.0, 0.0, n
	for out, p := range l {
		f, _ := p.Float64()
		if want := f * float64(n); want >= 30 {
			d := float64(counts[out]) - want
			stat += d * d / want
			cells++
			restGot -= counts[out]
		} else {
			restWant += want
		}
	}
	for out := range counts {
		if l[out] == nil {
			return 0
		}
	}
	if restWant >= 30 {
		d := float64(restGot) - restWant
		stat += d * d / restWant
		cells++
	}
	return distuv.ChiSquared{K: cells}.Survival(stat)
}

// sampled counts outputs of n users with the same row.
func sampled(t testing.TB, s *SequenceSampler, in law.Row, n int) map[law.Row]int {
	t.Helper()
	counts := map[law.Row]int{}
	row, out := make([]int32, len(in)), make([]byte, len(in))
	for u := range n {
		for i := range row {
			row[i] = int32(in[i])
		}
		if err := s.Row(uint64(u), row); err != nil {
			t.Fatal(err)
		}
		for i, id := range row {
			out[i] = byte(id)
		}
		counts[law.Row(out)]++
	}
	return counts
}

func exactLaw(t testing.TB, m Sequence, rejects bool, in law.Row) law.Law[law.Row] {
	t.Helper()
	mech := sequenceMechanism(m, rejects, nil)
	l, err := law.Enumerate(func(c *law.Choices) law.Row { return mech(in, c) }, law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sampler(m Sequence, rejects bool, b Bits) *SequenceSampler {
	s := newSequenceSampler(&SequenceRun{m: m, bits: b, table: m.table()}, rejects)
	s.to = math.MaxUint64
	return s
}

// Random outputs follow the exact law: chi-square, false alarm 1e-9 a row.
func TestSequenceSamplesFollowTheLaw(t *testing.T) {
	const n = 60_000
	for _, c := range []struct {
		m, length int
		rows      []law.Row
	}{
		{1, 2, []law.Row{law.RowOf(0, 1), law.RowOf(1, 0)}},
		{2, 2, []law.Row{law.RowOf(0, 0), law.RowOf(0, 2), law.RowOf(2, 1)}},
		{2, 3, []law.Row{law.RowOf(0, 1, 2), law.RowOf(1, 0, 0)}},
		{3, 3, []law.Row{law.RowOf(0, 1, 2), law.RowOf(3, 2, 1)}},
	} {
		for v := range sequenceClaims {
			for rejects, name := range drawing {
				m := Sequence{Purpose: "s", Variant: v, Epsilon: 1.2, Items: c.m, Length: c.length}
				for i, in := range c.rows {
					b := Keyed(rng.Seed(11).Stream("battery", uint64(i)))
					if rejects && i == 0 {
						b = Secret()
					}
					s := sampler(m, rejects, b)
					if p := chiSquare(exactLaw(t, m, rejects, in), sampled(t, s, in, n), n); p < 1e-9 {
						t.Errorf("%s by %s, m %d, row %v: as far from its law with probability %g", v, name, c.m, in, p)
					}
					if err := s.watch.check(m, s.size, s.odds); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
}

// sabotage draws as a sampler does, but with a fault.
type sabotage struct {
	d     draws
	s     *SequenceSampler
	fault string
	row   int64
}

func (f *sabotage) keep(o *odds) bool {
	if f.row != f.s.watch.rows {
		f.row = f.s.watch.rows
		f.d.row(uint64(f.row))
	}
	length := uint32(len(f.s.work))
	switch f.fault {
	case "missing renormalisation":
		o = &f.s.odds[0]
	case "missing exchange": // nothing stands further on
		for i, at := range f.s.marks {
			if at-f.s.base-1 < length {
				f.s.marks[i] = f.s.base
			}
		}
	case "wrong neighbour": // the exchange is with the cell before the right one
		for c := len(f.s.work) - 1; c > 0; c-- {
			if t := f.s.work[c]; t != f.s.special && f.s.marks[t] == f.s.base+1+uint32(c) {
				f.s.marks[t]--
			}
		}
	}
	return f.d.keep(o)
}

func (f *sabotage) below(n uint64) uint64 { return f.d.below(n) }
func (f *sabotage) again()                {}

// Each planted fault is told from the exact law by the chi-square that right
// samplers pass.
func TestBatteryCatchesPlantedFaults(t *testing.T) {
	const n = 60_000
	in := law.RowOf(1, 2, 3)
	for v := range map[Variant]bool{SDPPaper: true, SDPFixed: true} {
		m := Sequence{Purpose: "s", Variant: v, Epsilon: 1.2, Items: 3, Length: 3}
		want := exactLaw(t, m, true, in)
		for _, fault := range []string{"", "missing renormalisation", "missing exchange", "wrong neighbour", "one item short", "one item more", "of another epsilon", "of a neighbour's row"} {
			bits := Keyed(rng.Seed(12).Stream("faults"))
			made, row := m, in
			switch fault {
			case "one item more":
				made.Items++
			case "of another epsilon":
				made.Epsilon *= 1.1
			case "of a neighbour's row":
				row = law.RowOf(1, 3, 2)
			}
			s := sampler(made, true, bits)
			if fault == "one item short" && v == SDPPaper {
				s.size--
			} else if fault == "one item short" {
				s.size, s.odds = s.size-1, Sequence{Variant: v, Epsilon: m.Epsilon, Items: 2, Length: 3}.table()
			}
			s.d.forced = &sabotage{d: bits.draws(), s: s, fault: fault}
			p := chiSquare(want, sampled(t, s, row, n), n)
			if (p < 1e-9) != (fault != "") {
				t.Errorf("%s, fault %q: as far from the law with probability %g", v, fault, p)
			}
		}
	}
}

// What a run checks of itself sees gross faults in time: another epsilon, ids
// that never come.
func TestSequenceSelfCheck(t *testing.T) {
	m := Sequence{Purpose: "s", Variant: SDPFixed, Epsilon: 6, Items: 400, Length: 10}
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		m.Variant = v
		for _, fault := range []string{"", "epsilon", "half the items"} {
			s := sampler(m, true, Keyed(rng.Seed(13).Stream("check")))
			switch fault {
			case "epsilon":
				other := m
				other.Epsilon = 5.8
				s.odds = other.table()
			case "half the items":
				s.d.forced = &halved{s.d}
			}
			row := make([]int32, m.Length)
			for u := range uint64(5000) {
				clear(row)
				row[9] = 7
				if err := s.Row(u, row); err != nil {
					t.Fatal(err)
				}
			}
			err := s.watch.check(m, s.size, m.table())
			var failed *CheckError
			if fault == "" && err != nil || fault != "" && !errors.As(err, &failed) {
				t.Errorf("%s, fault %q: %v", v, fault, err)
			}
		}
	}
}

type halved struct{ d draws }

func (f *halved) keep(o *odds) bool     { return f.d.keep(o) }
func (f *halved) below(n uint64) uint64 { return f.d.below((n + 1) / 2) }
func (f *halved) again()                {}

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
	bits := Keyed(rng.Seed(4).Stream("seq"))
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		m := Sequence{Purpose: "seq", Variant: v, Epsilon: 5, Items: items, Length: length}
		one := slices.Clone(clean)
		l := newLedger(t)
		if err := PerturbSequences(m, l, bits, nil, one, 1); err != nil {
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
			if err := PerturbSequences(m, newLedger(t), bits, nil, again, workers); err != nil || !slices.Equal(one, again) {
				t.Errorf("%s: other rows with %d workers (%v)", v, workers, err)
			}
		}
		// A few users alone, backwards, by samplers of their own.
		run, err := m.Open(newLedger(t), bits)
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
		if err := PerturbSequences(m, newLedger(t), bits, keys, some, 2); err != nil || slices.Equal(some[:length], one[:length]) {
			t.Errorf("%s: users make no difference (%v)", v, err)
		}
		// Secret bits: another result each time, on a ledger that promises it too.
		secure, err := privacy.NewLedger(privacy.Secure)
		if err != nil {
			t.Fatal(err)
		}
		a, b := slices.Clone(clean), slices.Clone(clean)
		if err := errors.Join(PerturbSequences(m, secure, Secret(), nil, a, 2), PerturbSequences(m, secure, Secret(), nil, b, 2)); err != nil || slices.Equal(a, b) {
			t.Errorf("%s: secret bits repeat (%v)", v, err)
		}
	}
}

// Marks count up over rows and start over before they overflow.
func TestMarksStartOver(t *testing.T) {
	m := Sequence{Purpose: "seq", Variant: SDPFixed, Epsilon: 2, Items: 50, Length: 4}
	bits := Keyed(rng.Seed(4).Stream("seq"))
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
			m := Sequence{Purpose: "seq", Variant: v, Epsilon: eps, Items: items, Length: length}
			rows := make([]int32, users*length)
			for i := 0; i < len(rows); i += length { // the first cell alone: the favoured id is still there
				rows[i] = int32(1 + i%items)
			}
			clean := slices.Clone(rows)
			if err := PerturbSequences(m, newLedger(t), Keyed(rng.Seed(8).Stream("seq")), nil, rows, 2); err != nil {
				t.Fatal(err)
			}
			kept := 0.0
			for i := 0; i < len(rows); i += length {
				if rows[i] == clean[i] {
					kept++
				}
			}
			p := m.Keep(0)
			if d := (kept - users*p) / math.Sqrt(users*p*(1-p)); math.Abs(d) > sigmas {
				t.Errorf("%s, eps %g: %g kept of %d, want a share %g (%.1f standard errors)", v, eps, kept, users, p, d)
			}
		}
		for _, eps := range []float64{80, 1e300} {
			m := Sequence{Purpose: "seq", Variant: v, Epsilon: eps, Items: items, Length: length}
			rows := someRows(users, items, length)
			clean := slices.Clone(rows)
			if err := PerturbSequences(m, newLedger(t), Secret(), nil, rows, 2); err != nil || !slices.Equal(rows, clean) {
				t.Errorf("%s, eps %g: something was replaced (%v)", v, eps, err)
			}
		}
	}
}

// The ends of the range, where they are asked for.
func TestSequenceLimits(t *testing.T) {
	bits := Keyed(rng.Seed(4).Stream("seq"))
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		m := Sequence{Purpose: "seq", Variant: v, Epsilon: math.Inf(1), Items: 30, Length: 5, Limits: true}
		rows, l := someRows(50, 30, 5), newLedger(t)
		clean := slices.Clone(rows)
		if err := PerturbSequences(m, l, bits, nil, rows, 2); err != nil || !slices.Equal(rows, clean) {
			t.Errorf("%s: not the identity (%v)", v, err)
		}
		if u, ok := l.Entries()[0].Event.(privacy.Unprotected); !ok || !strings.Contains(u.Why, "infinite") || u.Unit != "" {
			t.Errorf("%s: ledger %v", v, l.Entries())
		}
		if m.UserEvent() != m.Event() {
			t.Errorf("%s: user event %v", v, m.UserEvent())
		}
		m.Epsilon, l = 0, newLedger(t)
		if err := PerturbSequences(m, l, bits, nil, rows, 2); err != nil || slices.Equal(rows, clean) {
			t.Errorf("%s: not uniform (%v)", v, err)
		}
		if e, ok := l.Entries()[0].Event.(privacy.PureLDP); !ok || !(e.Epsilon > 0 && e.Epsilon < 1e-19) {
			t.Errorf("%s: ledger %v", v, l.Entries())
		}
		if e := m.UserEvent().(privacy.PureLDP); e.Unit != privacy.User || e.Epsilon > 1e-19 || e.Validate() != nil {
			t.Errorf("%s: user event %v", v, e)
		}
	}
}

func TestSequenceEvents(t *testing.T) {
	m := Sequence{Purpose: "seq", Epsilon: 10, Items: 500, Length: 101}
	for v, want := range map[Variant]privacy.Event{
		SDPPaper: privacy.PureLDP{Epsilon: 20, Unit: privacy.Cell},
		SDPFixed: privacy.PureLDP{Epsilon: 10, Unit: privacy.Cell},
		RR:       privacy.SelfComposed{Count: 2, Event: privacy.RandomizedResponse{Epsilon: 10, Categories: 501, Unit: privacy.Cell}},
	} {
		if m.Variant = v; m.Event() != want || want.Validate() != nil {
			t.Errorf("%s: %v, want %v", v, m.Event(), want)
		}
		if m.UserEvent() != (privacy.PureLDP{Epsilon: 1010, Unit: privacy.User}) {
			t.Errorf("%s: user %v", v, m.UserEvent())
		}
	}
}

func TestSequencesRefuse(t *testing.T) {
	good := Sequence{Purpose: "seq", Variant: SDPFixed, Epsilon: 1, Items: 9, Length: 3}
	with := func(change func(m *Sequence)) Sequence { m := good; change(&m); return m }
	bits := Keyed(rng.Seed(1).Stream("seq"))
	secure, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		t.Fatal(err)
	}
	row := func(ids ...int32) []int32 { return ids }
	for name, c := range map[string]struct {
		m       Sequence
		l       *privacy.Ledger
		b       Bits
		users   []uint64
		rows    []int32
		workers int
		want    string
	}{
		"no purpose":         {with(func(m *Sequence) { m.Purpose = "" }), newLedger(t), bits, nil, row(0, 1, 2), 1, "purpose"},
		"no variant":         {with(func(m *Sequence) { m.Variant = "" }), newLedger(t), bits, nil, row(0, 1, 2), 1, "variant"},
		"no epsilon":         {with(func(m *Sequence) { m.Epsilon = 0 }), newLedger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"NaN":                {with(func(m *Sequence) { m.Epsilon = math.NaN(); m.Limits = true }), newLedger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"negative":           {with(func(m *Sequence) { m.Epsilon = -1; m.Limits = true }), newLedger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"infinite":           {with(func(m *Sequence) { m.Epsilon = math.Inf(1) }), newLedger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"twice is infinite":  {with(func(m *Sequence) { m.Epsilon = 1e308; m.Variant = SDPPaper }), newLedger(t), bits, nil, row(0, 1, 2), 1, "epsilon"},
		"no items":           {with(func(m *Sequence) { m.Items = 0 }), newLedger(t), bits, nil, row(0, 0, 0), 1, "items"},
		"too many items":     {with(func(m *Sequence) { m.Items = 1 << 40 }), newLedger(t), bits, nil, row(0, 0, 0), 1, "items"},
		"no length":          {with(func(m *Sequence) { m.Length = 0 }), newLedger(t), bits, nil, nil, 1, "length"},
		"too long":           {with(func(m *Sequence) { m.Length = 1 << 30 }), newLedger(t), bits, nil, nil, 1, "length"},
		"share":              {with(func(m *Sequence) { m.Share = 2 }), newLedger(t), bits, nil, row(0, 1, 2), 1, "share"},
		"no ledger":          {good, nil, bits, nil, row(0, 1, 2), 1, "ledger"},
		"no ledger, secret":  {good, nil, Secret(), nil, row(0, 1, 2), 1, "ledger"},
		"no bits":            {good, newLedger(t), Bits{}, nil, row(0, 1, 2), 1, "random bits"},
		"keyed and secure":   {good, secure, bits, nil, row(0, 1, 2), 1, "secure"},
		"ragged":             {good, newLedger(t), bits, nil, row(0, 1, 2, 3), 1, "rows of 3"},
		"above the items":    {good, newLedger(t), bits, nil, row(0, 1, 10), 1, "holds 10"},
		"below zero":         {good, newLedger(t), bits, nil, row(0, -1, 2), 1, "holds -1"},
		"an item twice":      {good, newLedger(t), bits, nil, row(0, 0, 0, 4, 0, 4), 2, "cells 0 and 2 hold the same item 4"},
		"rr above the items": {with(func(m *Sequence) { m.Variant = RR }), newLedger(t), bits, nil, row(0, 1, 10), 1, "holds 10"},
		"too few users":      {good, newLedger(t), bits, []uint64{1}, row(0, 1, 2, 0, 1, 2), 1, "1 users for 2 rows"},
		"a user twice":       {good, newLedger(t), bits, []uint64{4, 4}, row(0, 1, 2, 0, 1, 2), 1, "ascend"},
		"the largest user":   {good, newLedger(t), bits, []uint64{math.MaxUint64}, row(0, 1, 2), 1, "want less"},
		"no workers":         {good, newLedger(t), bits, nil, row(0, 1, 2), 0, "workers"},
	} {
		before := slices.Clone(c.rows)
		err := PerturbSequences(c.m, c.l, c.b, c.users, c.rows, c.workers)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want it to name %q", name, err, c.want)
		}
		if !slices.Equal(before, c.rows) || c.l != nil && len(c.l.Entries()) != 0 {
			t.Errorf("%s: refused after something was done", name)
		}
	}
	l := newLedger(t)
	if err := PerturbSequences(good, l, bits, nil, nil, 2); err != nil || len(l.Entries()) != 0 {
		t.Errorf("no rows: %v, %v", err, l.Entries())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	rows := row(0, 1, 2)
	if err := PerturbSequences(good, l, bits, nil, rows, 1); err == nil || !slices.Equal(rows, row(0, 1, 2)) {
		t.Errorf("a closed ledger: %v, %v", err, rows)
	}
	if _, err := good.Open(l, bits); err == nil {
		t.Error("opened on a closed ledger")
	}
	if _, err := with(func(m *Sequence) { m.Items = -1 }).Open(newLedger(t), bits); err == nil {
		t.Error("opened without items")
	}
}

// Samplers of one run never share a user, and a user never comes twice.
func TestSamplersRefuse(t *testing.T) {
	m := Sequence{Purpose: "seq", Variant: SDPPaper, Epsilon: 1, Items: 9, Length: 3}
	run, err := m.Open(newLedger(t), Keyed(rng.Seed(1).Stream("seq")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := run.Sampler(10, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][2]uint64{{0, 11}, {19, 25}, {12, 13}, {0, 100}, {5, 5}, {6, 5}} {
		if _, err := run.Sampler(r[0], r[1]); err == nil {
			t.Errorf("users from %d to %d: accepted", r[0], r[1])
		}
	}
	row := []int32{0, 0, 5}
	for _, c := range []struct {
		user uint64
		ok   bool
	}{{9, false}, {20, false}, {12, true}, {12, false}, {11, false}, {13, true}} {
		row[0], row[1], row[2] = 0, 0, 5
		if err := s.Row(c.user, row); (err == nil) != c.ok {
			t.Errorf("user %d: %v", c.user, err)
		}
	}
	if err := s.Row(15, []int32{1, 2}); err == nil {
		t.Error("a short row was accepted")
	}
	if err := s.Row(15, []int32{1, 2, 1}); err == nil {
		t.Error("an item twice was accepted")
	}
	if err := run.Finish(); err != nil {
		t.Error(err)
	}
	if err := s.Row(16, row); err == nil {
		t.Error("a row after the end was accepted")
	}
	if _, err := run.Sampler(30, 40); err == nil {
		t.Error("a sampler after the end")
	}
	if run.Finish() == nil {
		t.Error("finished twice")
	}
	empty, err := m.Open(newLedger(t), Secret())
	if err != nil || empty.Finish() != nil {
		t.Error("a run without rows")
	}
}

// A row costs no allocation, in either way of drawing.
func TestRowsAllocateNothing(t *testing.T) {
	for _, items := range []int{5, 5000} {
		for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
			m := Sequence{Purpose: "seq", Variant: v, Epsilon: 3, Items: items, Length: 6}
			s := sampler(m, m.rejects(), Keyed(rng.Seed(1).Stream("seq")))
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

// Thresholds against rational arithmetic: never above, and below by less than
// one step of 2^-128 where e^eps is known from both sides.
func TestThresholds(t *testing.T) {
	for _, eps := range []float64{1e-15, 0.5, 1, math.Ln2, 10, 50, 88, 200, 700, 1024, 1e308} {
		low := expBelow(eps)
		x, _ := low.Rat(nil)
		for _, n := range []uint64{1, 2, 1000, 236_049, 1 << 31} {
			o := newOdds(eps, n)[0]
			step := big.NewRat(1, 1)
			exactly := func(x *big.Rat) *big.Rat {
				sum := new(big.Rat).Add(x, new(big.Rat).SetInt(new(big.Int).SetUint64(n)))
				return sum.Mul(two128(), sum.Quo(x, sum))
			}
			got := o.threshold()
			if got.Cmp(exactly(x)) > 0 {
				t.Errorf("eps %g, %d others: threshold %s above the odds", eps, n, got.RatString())
			}
			if d := new(big.Rat).Sub(exactly(above(x)), got); d.Cmp(step) > 0 {
				t.Errorf("eps %g, %d others: threshold off by %s", eps, n, d.FloatString(3))
			}
			f, _ := new(big.Rat).Quo(got, two128()).Float64()
			if math.Abs(f-o.p) > 1e-14*o.p {
				t.Errorf("eps %g, %d others: %g, in float64 %g", eps, n, f, o.p)
			}
		}
	}
	// e to sixty digits, and e^a e^b = e^(a+b).
	e, _ := new(big.Rat).SetString("2.71828182845904523536028747135266249775724709369995957496696763")
	got, _ := expBelow(1).Rat(nil)
	if d := new(big.Rat).Sub(e, got); new(big.Rat).Abs(d).Cmp(new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(59), nil))) > 0 {
		t.Errorf("e is %s", got.FloatString(65))
	}
	for _, c := range [][2]float64{{0.25, 3}, {40, 60.5}, {0x1p-40, 5}, {500, 524}} {
		a, b, ab := expBelow(c[0]), expBelow(c[1]), expBelow(c[0]+c[1])
		q := new(big.Float).SetPrec(bigPrecision).Mul(a, b)
		q.Sub(q.Quo(q, ab), new(big.Float).SetInt64(1))
		if q.Sign() != 0 && q.MantExp(nil) > -197 {
			t.Errorf("e^%g e^%g is off by 2^%d", c[0], c[1], q.MantExp(nil))
		}
	}
}

// Odds of 128 bits against their probability by counting, on a scale where
// the lower half decides: false alarm 1e-9.
func TestOddsDecideInTheLowerHalf(t *testing.T) {
	o := odds{hi: 0, lo: 1 << 63} // 2^-65
	s := &counted{words: []uint64{0, 1<<63 - 1, 0, 1 << 63, 1, 0, math.MaxUint64}}
	d := draws{secret: s}
	for i, want := range []bool{true, false, false, false} {
		if got := d.keep(&o); got != want {
			t.Errorf("draw %d: %v, want %v", i, got, want)
		}
	}
	if s.at != 7 {
		t.Errorf("%d words used, want 7: the lower half is drawn where it decides", s.at)
	}
	const n = 200_000
	for _, p := range []float64{0.5, 0.001, 0.999} {
		o := odds{hi: uint64(p * 0x1p64)}
		d := Keyed(rng.Seed(5).Stream("odds")).draws()
		d.row(0)
		kept := 0.0
		for range n {
			if d.keep(&o) {
				kept++
			}
		}
		if z := (kept - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(z) > sigmas {
			t.Errorf("%g kept of %d at %g", kept, n, p)
		}
	}
}

type counted struct {
	words []uint64
	at    int
}

func (c *counted) Uint64() uint64 {
	c.at++
	return c.words[c.at-1]
}

func ExampleSequence() {
	m := Sequence{Purpose: "sequences", Variant: SDPFixed, Epsilon: 10, Items: 236_049, Length: 101}
	fmt.Printf("a cell keeps its item with probability %.4f\n", m.Keep(0))
	fmt.Printf("a user's row is protected with epsilon %g only\n", m.UserEvent().(privacy.PureLDP).Epsilon)
	// Output:
	// a cell keeps its item with probability 0.0853
	// a user's row is protected with epsilon 1010 only
}
