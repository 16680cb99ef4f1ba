package sasrec

import (
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/rng"
)

// CrossEntropy returns the softmax cross-entropy over all items, the mean over the rows of a
// batch with targets (1, 1). It is not the paper's loss. Later reproductions found it to be
// better (Petrov and Macdonald, RecSys 2023; Klenitskiy and Vasilev, RecSys 2023).
func (m *Model) CrossEntropy(t *autograd.Tape, b *Batch, step int) *autograd.Node {
	return t.TiedCrossEntropy(m.learned(t, b, step), m.Item, 1, b.Targets)
}

// learned returns the rows of F that have a target (L, d).
func (m *Model) learned(t *autograd.Tape, b *Batch, step int) *autograd.Node {
	h := m.Forward(t, b, step) // (N, d)
	if len(b.Learned) == len(b.Items) {
		return h
	}
	return h.Gather(b.Learned)
}

// Sampled returns the paper's loss (eq. 7), as the mean over the rows of
// -log sigmoid(r_target) - log(1 - sigmoid(r_negative)), with one negative a row (1, 1).
func (m *Model) Sampled(t *autograd.Tape, b *Batch, negatives []int32, step int) *autograd.Node {
	h := m.learned(t, b, step)
	up := h.RowDot(t.Rows(m.Item, b.Targets)).LogSigmoid()             // (N, 1)
	down := h.RowDot(t.Rows(m.Item, negatives)).Scale(-1).LogSigmoid() // (N, 1)
	return up.Add(down).MeanAll().Scale(-1)
}

// Negatives draws items that a user does not have, uniformly.
type Negatives struct {
	items int
	have  [][]int32 // by user: distinct items, ascending
	draws rng.Stream
}

// NewNegatives takes the items 1..items that each user has, in any order. It fails on a user
// who has all of them, for whom there is nothing to draw.
func NewNegatives(users [][]int32, items int, seed rng.Seed) (*Negatives, error) {
	n := &Negatives{items: items, have: make([][]int32, len(users)), draws: seed.Stream("sasrec.negative")}
	for u, have := range users {
		have = slices.Clone(have)
		slices.Sort(have)
		if n.have[u] = slices.Compact(have); len(n.have[u]) >= items {
			return nil, fmt.Errorf("sasrec: user %d has all %d items, so no negative can be drawn; the loss over all items needs none", u, items)
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
