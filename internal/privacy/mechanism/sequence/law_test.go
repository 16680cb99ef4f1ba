package sequence

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/rng"
)

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
func sampled(t testing.TB, s *Sampler, in law.Row, n int) map[law.Row]int {
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

func exactLaw(t testing.TB, m Mechanism, rejects bool, in law.Row) law.Law[law.Row] {
	t.Helper()
	mech := sequenceMechanism(m, rejects, nil)
	l, err := law.Enumerate(func(c *law.Choices) law.Row { return mech(in, c) }, law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func sampler(m Mechanism, rejects bool, b mechanism.Bits) *Sampler {
	s := newSampler(&Run{m: m, bits: b, table: m.table()}, rejects)
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
		{1, 2, []law.Row{mechanismtest.RowOf(0, 1), mechanismtest.RowOf(1, 0)}},
		{2, 2, []law.Row{mechanismtest.RowOf(0, 0), mechanismtest.RowOf(0, 2), mechanismtest.RowOf(2, 1)}},
		{2, 3, []law.Row{mechanismtest.RowOf(0, 1, 2), mechanismtest.RowOf(1, 0, 0)}},
		{3, 3, []law.Row{mechanismtest.RowOf(0, 1, 2), mechanismtest.RowOf(3, 2, 1)}},
	} {
		for v := range sequenceClaims {
			for rejects, name := range drawing {
				m := Mechanism{Purpose: "s", Variant: v, Epsilon: 1.2, Items: c.m, Length: c.length}
				for i, in := range c.rows {
					b := mechanism.Keyed(rng.Seed(11).Stream("battery", uint64(i)))
					if rejects && i == 0 {
						b = mechanism.Secret()
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
	d     mechanism.Draws
	s     *Sampler
	fault string
	row   int64
}

func (f *sabotage) Keep(o *mechanism.Odds) bool {
	if f.row != f.s.watch.rows {
		f.row = f.s.watch.rows
		f.d.Row(uint64(f.row))
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
	return f.d.Keep(o)
}

func (f *sabotage) Below(n uint64) uint64 { return f.d.Below(n) }
func (f *sabotage) Again()                { f.d.Again() }

// Each planted fault is told from the exact law by the chi-square that right
// samplers pass.
func TestBatteryCatchesPlantedFaults(t *testing.T) {
	const n = 60_000
	in := mechanismtest.RowOf(1, 2, 3)
	for v := range map[Variant]bool{SDPPaper: true, SDPFixed: true} {
		m := Mechanism{Purpose: "s", Variant: v, Epsilon: 1.2, Items: 3, Length: 3}
		want := exactLaw(t, m, true, in)
		for _, fault := range []string{"", "missing renormalisation", "missing exchange", "wrong neighbour", "one item short", "one item more", "of another epsilon", "of a neighbour's row"} {
			bits := mechanism.Keyed(rng.Seed(12).Stream("faults"))
			made, row := m, in
			switch fault {
			case "one item more":
				made.Items++
			case "of another epsilon":
				made.Epsilon *= 1.1
			case "of a neighbour's row":
				row = mechanismtest.RowOf(1, 3, 2)
			}
			s := sampler(made, true, bits)
			if fault == "one item short" && v == SDPPaper {
				s.size--
			} else if fault == "one item short" {
				s.size, s.odds = s.size-1, Mechanism{Variant: v, Epsilon: m.Epsilon, Items: 2, Length: 3}.table()
			}
			s.d.Forced = &sabotage{d: bits.Draws(), s: s, fault: fault}
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
	m := Mechanism{Purpose: "s", Variant: SDPFixed, Epsilon: 6, Items: 400, Length: 10}
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		m.Variant = v
		for _, fault := range []string{"", "epsilon", "half the items"} {
			s := sampler(m, true, mechanism.Keyed(rng.Seed(13).Stream("check")))
			switch fault {
			case "epsilon":
				other := m
				other.Epsilon = 5.8
				s.odds = other.table()
			case "half the items":
				s.d.Forced = &choices.Halved{D: s.d}
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
			var failed *mechanism.CheckError
			if fault == "" && err != nil || fault != "" && !errors.As(err, &failed) {
				t.Errorf("%s, fault %q: %v", v, fault, err)
			}
		}
	}
}

// The end of a run reports what its samplers' check finds, over all of them.
func TestFinishChecks(t *testing.T) {
	m := Mechanism{Purpose: "s", Variant: SDPFixed, Epsilon: 6, Items: 400, Length: 10}
	other := m
	other.Epsilon = 5.8
	for _, wrong := range []bool{false, true} {
		run, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(13).Stream("check")))
		if err != nil {
			t.Fatal(err)
		}
		for w := range uint64(2) {
			s, err := run.Sampler(w*2500, w*2500+2500)
			if err != nil {
				t.Fatal(err)
			}
			if wrong {
				s.odds = other.table()
			}
			for u := range uint64(2500) {
				if err := s.Row(w*2500+u, make([]int32, m.Length)); err != nil {
					t.Fatal(err)
				}
			}
		}
		var failed *mechanism.CheckError
		if err := run.Finish(); errors.As(err, &failed) != wrong {
			t.Errorf("wrong odds %v: %v", wrong, err)
		}
	}
	if !m.rejects() || (Mechanism{Items: 39, Length: 10}).rejects() {
		t.Error("rejection from four times the length on")
	}
}
