package pricdsr

import (
	"math"

	"privrec/internal/privacy/mechanism/sequence"
)

// Counts are of rows before and after: of true data, so they are not for release.
type Counts struct {
	Users   int64
	Lengths []int64 // users by their items, 0 to L
	InPlace int64   // items in their column afterwards
	Written int64   // cells other than padding afterwards
	Found   int64   // rows with an item in its column
	Emptied int64   // rows without any item afterwards
}

// see counts a row.
func (t *Counts) see(before, after []int32) {
	items, same, written := 0, int64(0), int64(0)
	for c, id := range before {
		if after[c] != 0 {
			written++
		}
		if id != 0 {
			items++
			if after[c] == id {
				same++
			}
		}
	}
	t.Lengths[items]++
	t.add(Counts{Users: 1, InPlace: same, Written: written, Found: min(same, 1), Emptied: 1 - min(written, 1)})
}

// add adds what others counted.
func (t *Counts) add(o Counts) {
	t.Users += o.Users
	t.InPlace += o.InPlace
	t.Written += o.Written
	t.Found += o.Found
	t.Emptied += o.Emptied
	for i, n := range o.Lengths {
		t.Lengths[i] += n
	}
}

// Items counts the items that the rows had.
func (t *Counts) Items() (n int64) {
	for k, rows := range t.Lengths {
		n += int64(k) * rows
	}
	return n
}

// expected returns the number of items that should be in their column, and its standard
// deviation, as if cells were independent: they are but for terms of 1/m.
func (t *Counts) expected(m sequence.Mechanism) (mean, sd float64) {
	longer, v := int64(0), 0.0 // rows that have an item in the column
	for c, s := range Survivals(m) {
		longer += t.Lengths[m.Length-c] // padding is in front: column c belongs to rows of at least L-c items
		mean += float64(longer) * s
		v += float64(longer) * s * (1 - s)
	}
	return mean, math.Sqrt(v)
}
