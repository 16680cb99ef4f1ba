package sequence

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"privrec/internal/privacy"
	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// repairedClaims is the power of the e^eps of a draw that each class of neighbours costs. Where a
// class is not here, the variant promises nothing of it.
func repairedClaims(v Variant, length int) map[law.SequenceClass]int {
	switch v {
	case SDPUser:
		return map[law.SequenceClass]int{law.AnyRow: length, law.ItemItem: 1, law.ZeroItem: 1, law.SwapZero: 1, law.SwapFront: 1}
	case SDPLengths:
		return map[law.SequenceClass]int{law.ItemItem: 1, law.SwapFull: 1, law.SwapClear: 1, law.SwapFront: 1, law.SwapAfter: 1, law.SameCells: length}
	}
	return map[law.SequenceClass]int{law.SameItems: 0, law.MoreItem: 1, law.OtherItem: 1, law.AnyRow: length}
}

// The worst ratio over all neighbours of all rows is what each variant promises, exactly. An item
// more in Set is the one that is cheaper.
func TestRepairedWorstRatios(t *testing.T) {
	seen := map[string]int{}
	for _, size := range [][2]int{{1, 2}, {2, 2}, {3, 2}, {2, 3}, {3, 3}, {4, 2}, {3, 4}} {
		m, length := size[0], size[1]
		for rejects := range drawing {
			for _, x := range []*big.Rat{big.NewRat(3, 1), big.NewRat(7, 2)} {
				if rejects == x.IsInt() {
					continue
				}
				for _, v := range []Variant{SDPUser, SDPLengths, Set} {
					if length == 4 && v != SDPLengths {
						continue // a zero that gets in front takes four cells
					}
					mech := sequenceMechanism(Mechanism{Variant: v, Epsilon: mechanismtest.Log(x), Items: m, Length: length}, rejects, x)
					var classes []law.Class[law.Row]
					for c, n := range repairedClaims(v, length) {
						classes = append(classes, law.Class[law.Row]{Name: string(c), Pairs: law.SequencePairs(c, m, length), Claim: law.Power(x, n)})
					}
					found, err := law.Verify(mech, classes, law.Limits{})
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range found {
						seen[string(v)+" "+f.Class] += f.Pairs
						// A full row without an item of the other needs as many items again. Which items of a
						// set are left out, where more were drawn than fit, tells less than which were drawn.
						short := f.Class == string(law.MoreItem) || f.Class == string(law.AnyRow) && v == Set ||
							m < 2*length && (f.Class == string(law.AnyRow) || f.Class == string(law.SameCells))
						if f.Pairs > 0 && (!f.Holds() || !f.Tight() && !short) {
							t.Errorf("%s, m %d, L %d, x %s: %v", v, m, length, x.RatString(), f)
						}
						want := new(big.Rat).Quo(new(big.Rat).Add(x, big.NewRat(1, 1)), big.NewRat(2, 1))
						if f.Pairs > 0 && f.Class == string(law.MoreItem) && f.Worst.Cmp(want) != 0 {
							t.Errorf("%s, m %d, L %d, x %s: %v, want (x+1)/2", v, m, length, x.RatString(), f)
						}
					}
				}
			}
		}
	}
	for _, v := range []Variant{SDPUser, SDPLengths, Set} {
		for c := range repairedClaims(v, 2) {
			if seen[string(v)+" "+string(c)] == 0 {
				t.Errorf("%s: no pair of class %q", v, c)
			}
		}
	}
}

// rowOfHistory makes the row of a history: every item at its first occurrence, the last length of
// them, padding in front.
func rowOfHistory(history []int, length int) law.Row {
	var items []int
	for _, i := range history {
		if !slices.Contains(items, i) {
			items = append(items, i)
		}
	}
	items = items[max(0, len(items)-length):]
	return mechanismtest.RowOf(append(make([]int, length-len(items)), items...)...)
}

// histories lists every sequence of at most so many of m items, with repeats.
func histories(m, most int) (all [][]int) {
	all = [][]int{{}}
	for at := 0; at < len(all); at++ {
		if len(all[at]) < most {
			for i := 1; i <= m; i++ {
				all = append(all, append(slices.Clone(all[at]), i))
			}
		}
	}
	return all
}

// interactionNeighbours lists what one interaction added, removed, replaced or moved makes of a
// history.
func interactionNeighbours(h []int, m int) (all [][]int) {
	for at := 0; at <= len(h); at++ {
		for i := 1; i <= m; i++ {
			all = append(all, slices.Insert(slices.Clone(h), at, i))
		}
		if at == len(h) {
			continue
		}
		without := slices.Delete(slices.Clone(h), at, at+1)
		all = append(all, without)
		for i := 1; i <= m; i++ {
			all = append(all, slices.Insert(slices.Clone(without), at, i))
		}
		for to := range len(without) + 1 {
			all = append(all, slices.Insert(slices.Clone(without), to, h[at]))
		}
	}
	return all
}

// Set keeps its promise for histories, not only for rows: over every history of up to four
// interactions, longer than a row, with repeats, and everything that one interaction more, less,
// other or elsewhere makes of it. Under SDPFixed the same neighbours cost more than e^eps, as
// interactions behind one move.
func TestSetHoldsForHistories(t *testing.T) {
	const m, length = 3, 2
	x := big.NewRat(4, 1)
	for v, holds := range map[Variant]bool{Set: true, SDPFixed: false} {
		mech := sequenceMechanism(Mechanism{Variant: v, Epsilon: mechanismtest.Log(x), Items: m, Length: length}, true, x)
		laws := map[law.Row]law.Law[law.Row]{}
		of := func(h []int) law.Law[law.Row] {
			r := rowOfHistory(h, length)
			if laws[r] == nil {
				l, err := law.Enumerate(func(c *law.Choices) law.Row { return mech(r, c) }, law.Limits{})
				if err != nil {
					t.Fatal(err)
				}
				laws[r] = l
			}
			return laws[r]
		}
		worst, pairs := new(big.Rat), 0
		for _, h := range histories(m, 4) {
			for _, n := range interactionNeighbours(h, m) {
				pairs++
				if r, _ := of(h).Worst(of(n)); r.Cmp(worst) > 0 {
					worst = r
				}
			}
		}
		if (worst.Cmp(x) <= 0) != holds || holds && worst.Cmp(x) != 0 {
			t.Errorf("%s: worst ratio %s over %d pairs, at e^eps = %s", v, worst.RatString(), pairs, x.RatString())
		}
	}
}

// With the thresholds of 128 bits that the sampler compares with, no ratio of the promised
// neighbours exceeds e^Epsilon, and little of it is given away.
func TestRepairedRatiosOfTheVeryThresholds(t *testing.T) {
	unit := map[Variant]law.SequenceClass{SDPUser: law.AnyRow, SDPLengths: law.ItemItem, Set: law.OtherItem}
	for _, eps := range []float64{0, 0x1p-60, 0.1, 1, 10, 44, 80, 300} {
		x, _ := mechanism.ExpBelow(max(eps, 1e-18)).Rat(nil)
		if eps < mechanism.FlatBelow {
			x = big.NewRat(1, 1)
		}
		for v, class := range unit {
			m := Mechanism{Variant: v, Epsilon: eps, Items: 4, Length: 2, Limits: true}
			found, err := law.Verify(sequenceMechanism(m, true, nil), []law.Class[law.Row]{
				{Name: string(class), Pairs: law.SequencePairs(class, 4, 2), Claim: mechanismtest.Above(x)}}, law.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			f := found[0]
			if !f.Holds() || f.Pairs == 0 {
				t.Errorf("eps %g, %s: %v", eps, v, f)
			}
			if want := math.Min(eps, 80); eps > 1e-9 && f.Epsilon() < want*(1-1e-5) {
				t.Errorf("eps %g, %s: epsilon is %g", eps, v, f.Epsilon())
			}
		}
	}
}

// The draws of a row together spend its epsilon at most, whatever the length.
func TestDrawsOfARow(t *testing.T) {
	for length := 1; length < 400; length++ {
		for _, eps := range []float64{1e-3, 0.1, 1, 10, 20, 101.3} {
			m := Mechanism{Variant: SDPUser, Epsilon: eps, Items: 9, Length: length}
			spent := new(big.Rat).Mul(new(big.Rat).SetFloat64(m.Draw()), big.NewRat(int64(length), 1))
			if whole := new(big.Rat).SetFloat64(eps); spent.Cmp(whole) > 0 || m.Draw()*float64(length) < eps*(1-1e-15) {
				t.Errorf("%d draws of %v spend more or less than %v", length, m.Draw(), eps)
			}
		}
	}
}

// The ledger has the unit that epsilon protects, before a row changes, and what a user has of it.
func TestRepairedLedger(t *testing.T) {
	for v, want := range map[Variant]struct {
		unit privacy.Unit
		of   []privacy.Holding
	}{
		SDPUser:    {privacy.User, nil},
		SDPLengths: {privacy.Cell, []privacy.Holding{{Unit: privacy.User, Of: privacy.Cell, Most: 3}}},
		Set:        {privacy.Interaction, []privacy.Holding{{Unit: privacy.User, Of: privacy.Interaction, Most: 3}}},
	} {
		m := Mechanism{Purpose: "p", Variant: v, Epsilon: 2, Items: 9, Length: 3}
		l := mechanismtest.Ledger(t)
		rows := []int32{0, 1, 2, 7, 8, 9}
		if err := Perturb(m, l, mechanism.Keyed(rng.Seed(1).Stream("s")), nil, rows, 1); err != nil {
			t.Fatal(err)
		}
		entries := l.Entries()
		if len(entries) != 1 || entries[0].Event != privacy.Event(privacy.PureLDP{Epsilon: 2, Unit: want.unit}) || !slices.Equal(l.Holdings(), want.of) {
			t.Errorf("%s: %+v, %+v", v, entries, l.Holdings())
		}
	}
}

// The rows come out as promised: of sdp-lengths with padding where it was, of a set with items in
// front of which padding stands, half of its own and as many others as epsilon says. 10,000 rows
// of 5 items: the bounds are those of Bernstein's inequality at 1e-9.
func TestRepairedRows(t *testing.T) {
	const users, items, length = 10_000, 200, 20
	clean := make([]int32, users*length)
	for u := range users {
		s := rng.Seed(7).Stream("rows", uint64(u))
		for c, p := range s.Perm(items)[:5] {
			clean[u*length+length-5+c] = p + 1
		}
	}
	for _, v := range []Variant{SDPLengths, Set, SDPUser} {
		m := Mechanism{Purpose: "p", Variant: v, Epsilon: 6, Items: items, Length: length}
		var before []int32
		for _, workers := range []int{1, 3} {
			rows := slices.Clone(clean)
			if err := Perturb(m, mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(1).Stream("s")), nil, rows, workers); err != nil {
				t.Fatal(err)
			}
			if before != nil && !slices.Equal(before, rows) {
				t.Errorf("%s: %d workers make other rows", v, workers)
			}
			before = rows
		}
		own, others := 0, 0
		for u := range users {
			row, was := before[u*length:(u+1)*length], clean[u*length:(u+1)*length]
			ids := map[int32]bool{}
			for c, id := range row {
				if v == SDPLengths && (id == 0) != (was[c] == 0) || v == Set && c > 0 && row[c-1] != 0 && id == 0 {
					t.Fatalf("%s: row %v of %v", v, row, was)
				}
				if id != 0 && ids[id] {
					t.Fatalf("%s: item %d is twice in %v", v, id, row)
				}
				ids[id] = true
				if id != 0 && slices.Contains(was, id) {
					own++
				} else if id != 0 {
					others++
				}
			}
		}
		if v != Set {
			continue
		}
		q := 1 / (math.Exp(6) + 1)
		for what, c := range map[string]struct {
			got  int
			n, p float64
		}{"own": {own, users * 5, 0.5}, "other": {others, users * (items - 5), q}} {
			x := math.Log(2e9)
			if d := math.Abs(float64(c.got) - c.n*c.p); d > math.Sqrt(2*c.n*c.p*(1-c.p)*x)+2*x/3 {
				t.Errorf("%s items drawn: %d, want about %.0f", what, c.got, c.n*c.p)
			}
		}
	}
}

// A sampler that draws other items than the law says is found at the end of a run.
func TestSetsAreChecked(t *testing.T) {
	m := Mechanism{Purpose: "p", Variant: Set, Epsilon: 3, Items: 100, Length: 5}
	for _, fault := range []string{"", "own", "other"} {
		r, err := m.Open(mechanismtest.Ledger(t), mechanism.Keyed(rng.Seed(2).Stream("s")))
		if err != nil {
			t.Fatal(err)
		}
		switch other := mechanism.NewOdds(2.5, 1)[0]; fault {
		case "own":
			r.table[0].Hi += 1 << 59
		case "other":
			r.table[1].Hi, r.table[1].Lo = other.Hi, other.Lo
		}
		s, err := r.Sampler(0, 20_000)
		if err != nil {
			t.Fatal(err)
		}
		row := make([]int32, m.Length)
		for u := range uint64(20_000) {
			copy(row, []int32{0, 5, 9, 11, 90})
			if err := s.Row(u, row); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Finish(); (err != nil) != (fault != "") {
			t.Errorf("fault %q: %v", fault, err)
		}
	}
	if fmt.Sprint(m.Keep(0), m.Replace(0)) != "0.5 0.5" {
		t.Error("half of the items of a row are kept")
	}
}
