package sequence

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
)

// referencePaper is the mechanism of figure 2 of the paper as it is written
// there, with a weight for every id, which takes O(m) a cell.
func referencePaper(m int, x *big.Rat) law.Mechanism[law.Row, law.Row] {
	return func(in law.Row, c *law.Choices) law.Row {
		row := []byte(in)
		written := map[byte]bool{}
		for l := range row {
			weights := make([]*big.Rat, m+1)
			for i := range weights {
				weights[i] = big.NewRat(1, 1)
				if i != 0 && written[byte(i)] {
					weights[i] = new(big.Rat)
				}
			}
			weights[row[l]] = x
			i := byte(c.Choose(weights...))
			if later := slices.Index(row[l+1:], i); i != row[l] && i != 0 && later >= 0 {
				row[l], row[l+1+later] = row[l+1+later], row[l]
			} else {
				row[l] = i
			}
			written[i] = true
		}
		return law.Row(row)
	}
}

// referenceFixed is the repaired one: tokens m+1 .. m+L in a random order of all
// columns, no special case, tokens written back as 0. The sampler names zeros from
// the left instead, which must make no difference.
func referenceFixed(m int, x *big.Rat) law.Mechanism[law.Row, law.Row] {
	return func(in law.Row, c *law.Choices) law.Row {
		length := len(in)
		var left []int
		for t := range length {
			left = append(left, m+1+t)
		}
		row := make([]int, length)
		for i := range row {
			at := c.Below(len(left))
			if row[i] = int(in[i]); row[i] == 0 {
				row[i] = left[at]
			}
			left = slices.Delete(left, at, at+1)
		}
		written := map[int]bool{}
		out := make([]byte, length)
		for l := range row {
			weights := make([]*big.Rat, m+length)
			for i := range weights {
				weights[i] = big.NewRat(1, 1)
				if written[i+1] {
					weights[i] = new(big.Rat)
				}
			}
			weights[row[l]-1] = x
			i := c.Choose(weights...) + 1
			if later := slices.Index(row[l:], i); later >= 0 {
				row[l+later] = row[l]
			}
			row[l] = i
			if written[i] = true; i <= m {
				out[l] = byte(i)
			}
		}
		return law.Row(out)
	}
}

// referenceRR answers each cell for itself.
func referenceRR(m int, x *big.Rat) law.Mechanism[law.Row, law.Row] {
	return func(in law.Row, c *law.Choices) law.Row {
		out := make([]byte, len(in))
		for l, id := range []byte(in) {
			weights := make([]*big.Rat, m+1)
			for i := range weights {
				weights[i] = big.NewRat(1, 1)
			}
			weights[id] = x
			out[l] = byte(c.Choose(weights...))
		}
		return law.Row(out)
	}
}

// The shipped samplers, which draw in constant time, and the mechanisms as they
// are defined have one law, for random sizes, odds and rows, in both ways of
// drawing.
func TestSamplersAreTheDefinition(t *testing.T) {
	references := map[Variant]func(int, *big.Rat) law.Mechanism[law.Row, law.Row]{SDPPaper: referencePaper, SDPFixed: referenceFixed, RR: referenceRR}
	seen := map[Variant]int{}
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.SampledFrom([]Variant{SDPPaper, SDPFixed, RR}).Draw(t, "variant")
		items, length := rapid.IntRange(1, 4).Draw(t, "items"), rapid.IntRange(1, 3).Draw(t, "length")
		x := big.NewRat(rapid.Int64Range(0, 30).Draw(t, "x"), rapid.Int64Range(1, 7).Draw(t, "by"))
		if x.Sign() == 0 {
			x = big.NewRat(1, 1)
		}
		perm := rapid.Permutation([]int{1, 2, 3, 4}).Draw(t, "ids")
		ids := make([]int, length)
		for i := range ids {
			if perm[i] <= items && rapid.Bool().Draw(t, "item") {
				ids[i] = perm[i]
			}
		}
		in := mechanismtest.RowOf(ids...)
		laws := []law.Law[law.Row]{}
		m := Mechanism{Variant: v, Epsilon: 1, Items: items, Length: length}
		for _, mech := range []law.Mechanism[law.Row, law.Row]{
			references[v](items, x), sequenceMechanism(m, false, x), sequenceMechanism(m, true, x),
		} {
			l, err := law.Enumerate(func(c *law.Choices) law.Row { return mech(in, c) }, law.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			laws = append(laws, l)
		}
		for i, l := range laws[1:] {
			if d := mechanismtest.Difference(l, laws[0]); d != "" {
				t.Fatalf("%s, m %d, x %s, row %v, sampler %d: %s", v, items, x.RatString(), in, i, d)
			}
		}
		seen[v]++
	})
	if len(seen) != 3 {
		t.Errorf("tested %v", seen)
	}
}

// verifySabotaged verifies a sampler with a planted fault.
func verifySabotaged(t *testing.T, v Variant, items, length int, fault string, x *big.Rat) (mech law.Mechanism[law.Row, law.Row], holds bool) {
	t.Helper()
	m := Mechanism{Variant: v, Epsilon: mechanismtest.Log(x), Items: items, Length: length}
	s := newSampler(&Run{m: m, table: m.table()}, true)
	row := make([]int32, length)
	mech = func(in law.Row, c *law.Choices) law.Row {
		for i := range row {
			row[i] = int32(in[i])
		}
		if err := s.load(&m, row); err != nil {
			panic(err)
		}
		s.d.Forced = &sabotage{d: mechanism.Draws{Forced: choices.Enumerated{C: c, X: x}}, s: s, fault: fault}
		s.perturb(&m, row)
		out := make([]byte, length)
		for i, id := range row {
			out[i] = byte(id)
		}
		return law.Row(out)
	}
	found, err := law.Verify(mech, sequenceClasses(v, items, length, x), law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	holds = true
	for _, f := range found {
		holds = holds && f.Holds()
	}
	return mech, holds
}

// What the exhaustive verification finds of planted faults: each changes the
// law, and those that cost privacy break the claim.
func TestVerificationCatchesPlantedFaults(t *testing.T) {
	x := big.NewRat(3, 1)
	for _, c := range []struct {
		v       Variant
		fault   string
		private bool // still, as claimed
		same    bool // law
	}{
		{SDPFixed, "", true, true},
		{SDPFixed, "missing exchange", false, false},
		{SDPFixed, "wrong neighbour", false, false},
		{SDPFixed, "missing renormalisation", true, false}, // it keeps less than it might
		{SDPPaper, "", true, true},
		{SDPPaper, "missing exchange", false, false},
		{SDPPaper, "missing renormalisation", true, false},
	} {
		mech, private := verifySabotaged(t, c.v, 2, 3, c.fault, x)
		if private != c.private {
			t.Errorf("%s, fault %q: claim holds: %v", c.v, c.fault, private)
		}
		right := map[Variant]law.Mechanism[law.Row, law.Row]{SDPPaper: referencePaper(2, x), SDPFixed: referenceFixed(2, x)}[c.v]
		same := true
		for in := range law.Rows(2, 3) {
			a, err := law.Enumerate(func(ch *law.Choices) law.Row { return mech(in, ch) }, law.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			b, err := law.Enumerate(func(ch *law.Choices) law.Row { return right(in, ch) }, law.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			same = same && mechanismtest.Difference(a, b) == ""
		}
		if same != c.same {
			t.Errorf("%s, fault %q: laws are the right ones: %v", c.v, c.fault, same)
		}
	}
}

// Adding or removing an interaction shifts what stands before it: j cells differ
// and the ratio is e^(j eps) at most. That is what the unit of one cell does not
// cover, and a full row shows e^(L eps).
func TestRemovingAnInteraction(t *testing.T) {
	x := big.NewRat(3, 1)
	for _, v := range []Variant{SDPPaper, SDPFixed, RR} {
		const items, length = 3, 3
		mech := sequenceMechanism(Mechanism{Variant: v, Epsilon: mechanismtest.Log(x), Items: items, Length: length}, true, x)
		var classes []law.Class[law.Row]
		for j := 1; j <= length; j++ {
			classes = append(classes, law.Class[law.Row]{Name: fmt.Sprintf("%d cells shift", j), Claim: law.Power(x, j), Pairs: func(yield func(a, b law.Row) bool) {
				for a := range law.Rows(items, length) {
					at := j - 1 // the interaction that goes; those before it move on by one
					first := 0
					for first < length && a[first] == 0 {
						first++
					}
					if a[at] == 0 || at-first+1 != j || slices.Contains([]byte(a[first:]), 0) {
						continue
					}
					b := law.Row([]byte{0}) + a[:at] + a[at+1:]
					if !yield(a, b) {
						return
					}
				}
			}})
		}
		found, err := law.Verify(mech, classes, law.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		for j, f := range found {
			if f.Pairs == 0 || !f.Holds() {
				t.Errorf("%s: %v", v, f)
			}
			if j > 0 && f.Worst.Cmp(x) <= 0 {
				t.Errorf("%s: no more than one cell costs: %v", v, f)
			}
		}
	}
}
