package pricdsr

import (
	"math"

	"privrec/internal/privacy/mechanism/sequence"
)

// tally counts rows before and after: of true data, so it is not for release.
type tally struct {
	m       sequence.Mechanism
	rows    int64
	lengths []int64 // rows by their items
	inPlace int64   // items in their column afterwards
	written int64   // cells other than padding afterwards
	found   int64   // rows with an item in its column
	emptied int64   // rows that came out empty
	left    leftOut
}

func newTally(m sequence.Mechanism) *tally {
	return &tally{m: m, lengths: make([]int64, m.Length+1)}
}

func (t *tally) see(before, after []int32) {
	items, same, written := 0, 0, 0
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
	t.rows++
	t.lengths[items]++
	t.inPlace += int64(same)
	t.written += int64(written)
	if same > 0 {
		t.found++
	}
	if written == 0 {
		t.emptied++
	}
}

// sum takes together what the workers and the reader counted.
func (t *tally) sum(r *reader, ws []*worker) {
	for _, w := range ws {
		t.rows += w.t.rows
		t.inPlace += w.t.inPlace
		t.written += w.t.written
		t.found += w.t.found
		t.emptied += w.t.emptied
		for i, n := range w.t.lengths {
			t.lengths[i] += n
		}
	}
	t.left = r.left
}

// items is how many items the rows had.
func (t *tally) items() (n int64) {
	for k, rows := range t.lengths {
		n += int64(k) * rows
	}
	return n
}

// expected is the number of items that should be in their column, and its standard
// deviation, as if cells were independent: they are but for terms of 1/m.
func (t *tally) expected() (mean, sd float64) {
	s := Survivals(t.m)
	longer, v := int64(0), 0.0 // rows that have an item in the column
	for c := range s {
		longer += t.lengths[t.m.Length-c] // padding is in front: column c belongs to rows of at least L-c items
		mean += float64(longer) * s[c]
		v += float64(longer) * s[c] * (1 - s[c])
	}
	return mean, math.Sqrt(v)
}
