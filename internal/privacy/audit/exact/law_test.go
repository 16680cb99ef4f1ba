package exact

import (
	"fmt"
	"math/big"
)

// Total returns the sum of the probabilities, which is 1 in a law from Enumerate.
func (l Law[O]) Total() *big.Rat {
	t := new(big.Rat)
	for _, p := range l {
		t.Add(t, p)
	}
	return t
}

// Difference describes in a sentence an output to which the two laws give different probabilities. It returns "" if the
// laws are equal.
func (l Law[O]) Difference(o Law[O]) string {
	at := func(l Law[O], out O) *big.Rat {
		if p := l[out]; p != nil {
			return p
		}
		return new(big.Rat)
	}
	for _, law := range []Law[O]{l, o} {
		for out := range law {
			if p, q := at(l, out), at(o, out); p.Cmp(q) != 0 {
				return fmt.Sprintf("output %v has probability %s and %s", out, p.RatString(), q.RatString())
			}
		}
	}
	return ""
}

// RowOf returns the row of the ids, which are below 256.
func RowOf(ids ...int) Row {
	b := make([]byte, len(ids))
	for i, id := range ids {
		b[i] = byte(id)
	}
	return Row(b)
}

// String returns the finding in one line.
func (f Finding[I, O]) String() string {
	if f.Pairs == 0 {
		return f.Class + ": no pairs"
	}
	worst, verdict := "unbounded", "exceeds"
	if f.Worst != nil {
		worst = f.Worst.RatString()
	}
	if f.Tight() {
		verdict = "meets"
	} else if f.Holds() {
		verdict = "is below"
	}
	return fmt.Sprintf("%s: worst ratio %s of %d pairs %s the claim %s: output %v from %v against %v",
		f.Class, worst, f.Pairs, verdict, f.Claim.RatString(), f.Output, f.A, f.B)
}
