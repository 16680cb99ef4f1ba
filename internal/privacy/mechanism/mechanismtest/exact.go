package mechanismtest

import (
	"fmt"
	"math/big"

	"privrec/internal/privacy/audit/exact"
)

// RowOf returns the row of the ids, which are below 256.
func RowOf(ids ...int) exact.Row {
	b := make([]byte, len(ids))
	for i, id := range ids {
		b[i] = byte(id)
	}
	return exact.Row(b)
}

// Total returns the sum of the probabilities, which is 1 in a law from Enumerate.
func Total[O comparable](l exact.Law[O]) *big.Rat {
	t := new(big.Rat)
	for _, p := range l {
		t.Add(t, p)
	}
	return t
}

// Difference describes in a sentence an output to which the two laws give different probabilities. It returns "" if the
// laws are equal.
func Difference[O comparable](l, o exact.Law[O]) string {
	at := func(l exact.Law[O], out O) *big.Rat {
		if p := l[out]; p != nil {
			return p
		}
		return new(big.Rat)
	}
	for _, law := range []exact.Law[O]{l, o} {
		for out := range law {
			if p, q := at(l, out), at(o, out); p.Cmp(q) != 0 {
				return fmt.Sprintf("output %v has probability %s and %s", out, p.RatString(), q.RatString())
			}
		}
	}
	return ""
}
