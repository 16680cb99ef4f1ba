package sasrec

import (
	"fmt"
	"slices"

	"privrec/internal/rng"
)

// Batch holds B sequences packed one after the other, N rows in all, without padding.
type Batch struct {
	Items     []int32 // (N) item read at each row, 1..V
	Positions []int32 // (N) row of the position table: the last row of a sequence reads the last one
	Learned   []int32 // (L) rows that have a target, ascending; none of sequences added by Add
	Targets   []int32 // (L) the item after the one read at each of them
	Offsets   []int32 // (B+1) sequence k is rows Offsets[k] to Offsets[k+1]
	Last      []int32 // (B) the last row of every sequence

	length int
}

// Reset empties the batch and keeps its memory. Of each sequence at most length items will be read.
func (b *Batch) Reset(length int) {
	*b = Batch{
		Items: b.Items[:0], Positions: b.Positions[:0], Learned: b.Learned[:0], Targets: b.Targets[:0],
		Offsets: append(b.Offsets[:0], 0), Last: b.Last[:0], length: length,
	}
}

// Len returns the number of sequences, B.
func (b *Batch) Len() int { return len(b.Last) }

// Add appends a sequence to be continued, oldest item first. Zeros before its first item are padding and are dropped.
// Add fails on a sequence without items, or with padding further on.
func (b *Batch) Add(sequence []int32) error {
	s, err := unpadded(sequence)
	if err != nil {
		return err
	}
	if len(s) == 0 {
		return fmt.Errorf("sasrec: sequence %d of the batch has no items to continue", b.Len())
	}
	b.rows(s[max(0, len(s)-b.length):])
	return nil
}

// AddPairs appends a sequence to learn from: each of its items except the last is read, and the item after it is its
// target. AddPairs fails on fewer than two items.
func (b *Batch) AddPairs(sequence []int32) error { return b.AddSome(sequence, nil) }

// AddSome appends a sequence like AddPairs, with only the targets at places, from 0, for which learn is true; nil: all.
func (b *Batch) AddSome(sequence []int32, learn func(place int) bool) error {
	s, err := unpadded(sequence)
	if err != nil {
		return err
	}
	if len(s) < 2 {
		return fmt.Errorf("sasrec: sequence %d of the batch has %d items, want 2 or more to learn from", b.Len(),
			len(s))
	}
	s = s[max(0, len(s)-1-b.length):]
	row, place := len(b.Items), len(sequence)-len(s)
	b.rows(s[:len(s)-1])
	for i, item := range s[1:] {
		if learn == nil || learn(place+1+i) {
			b.Learned, b.Targets = append(b.Learned, int32(row+i)), append(b.Targets, item)
		}
	}
	return nil
}

// unpadded returns a sequence without the zeros before its first item.
func unpadded(s []int32) ([]int32, error) {
	for len(s) > 0 && s[0] == 0 {
		s = s[1:]
	}
	for i, item := range s {
		if item <= 0 {
			return nil, fmt.Errorf("sasrec: item %d at place %d of a sequence, after its padding", item, i)
		}
	}
	return s, nil
}

func (b *Batch) rows(s []int32) {
	for i, item := range s {
		b.Items = append(b.Items, item)
		b.Positions = append(b.Positions, int32(b.length-len(s)+i))
	}
	b.Offsets = append(b.Offsets, int32(len(b.Items)))
	b.Last = append(b.Last, int32(len(b.Items)-1))
}

// Negatives draws items that a user does not have, uniformly.
type Negatives struct {
	items int
	have  [][]int32 // by user: distinct items, ascending
	draws rng.Stream
}

// NewNegatives returns a sampler, given the items 1..items that each user has, in any order. It fails on a user who has
// all of them, for whom nothing is left to draw.
func NewNegatives(users [][]int32, items int, seed rng.Seed) (*Negatives, error) {
	n := &Negatives{items: items, have: make([][]int32, len(users)), draws: seed.Stream("sasrec.negative")}
	for u, have := range users {
		have = slices.Clone(have)
		slices.Sort(have)
		if n.have[u] = slices.Compact(have); len(n.have[u]) >= items {
			return nil, fmt.Errorf("sasrec: user %d has all %d items, so no negative can be drawn; the loss over all "+
				"items needs none", u, items)
		}
	}
	return n, nil
}

// Draw appends count negatives of a user to dst. They depend only on the seed, the step and
// the user.
func (n *Negatives) Draw(dst []int32, step int, user int32, count int) []int32 {
	s := n.draws.Sub(uint64(step), uint64(user))
	for range count {
		for {
			item := int32(1 + s.IntN(n.items))
			if _, has := slices.BinarySearch(n.have[user], item); !has {
				dst = append(dst, item)
				break
			}
		}
	}
	return dst
}
