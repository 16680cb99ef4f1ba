package sasrec

import (
	"slices"

	"privrec/internal/autograd"
)

// partRows is the approximate number of rows in a part of a batch, so that its intermediate results stay in the cache
// of a core.
const partRows = 384

// itemsPerRow bounds the rows of parts from below if each part has a gradient of the whole item table: all these
// gradients together have at most this many elements for each element of the batch's output.
const itemsPerRow = 8

// CrossEntropy returns the mean softmax cross-entropy over all items, for the rows of a batch with targets (1, 1). It
// is not the paper's loss. Later reproductions found it to be better (Petrov and Macdonald, RecSys 2023; Klenitskiy and
// Vasilev, RecSys 2023).
func (m *Model) CrossEntropy(t *autograd.Tape, b *Batch, step int) *autograd.Node {
	return m.mean(t, b, max(partRows, m.Items()/itemsPerRow), step, func(t *autograd.Tape, b *Batch, h *autograd.Node,
		_ int) *autograd.Node {
		return t.TiedCrossEntropy(h, m.Item, 1, b.Targets)
	})
}

// Sampled returns the paper's loss (eq. 7), as the mean over the rows of
// -log sigmoid(r_target) - log(1 - sigmoid(r_negative)), with one negative a row (1, 1).
func (m *Model) Sampled(t *autograd.Tape, b *Batch, negatives []int32, step int) *autograd.Node {
	return m.mean(t, b, partRows, step, func(t *autograd.Tape, b *Batch, h *autograd.Node, first int) *autograd.Node {
		up := h.RowDot(t.Rows(m.Item, b.Targets)).LogSigmoid()                                         // (L, 1)
		down := h.RowDot(t.Rows(m.Item, negatives[first:first+len(b.Targets)])).Scale(-1).LogSigmoid() // (L, 1)
		return up.Add(down).MeanAll().Scale(-1)
	})
}

// mean returns the mean of a loss over the rows with targets. loss returns that mean for a part of the batch: h are its
// rows of F with a target (L, d), and first is the number of targets before it. Parts have about rows rows each.
func (m *Model) mean(t *autograd.Tape, b *Batch, rows, step int, loss func(t *autograd.Tape, b *Batch, h *autograd.Node,
	first int) *autograd.Node) *autograd.Node {
	parts, firsts := b.cut(rows)
	if len(parts) == 1 {
		return loss(t, b, m.learned(t, b, at(step)), 0)
	}
	return t.Parts(len(parts), func(t *autograd.Tape, k int) *autograd.Node {
		p := &parts[k]
		share := float64(len(p.Targets)) / float64(max(1, len(b.Targets)))
		return loss(t, p, m.learned(t, p, at(step, k)), firsts[k]).Scale(share)
	})
}

// learned returns the rows of F that have a target (L, d).
func (m *Model) learned(t *autograd.Tape, b *Batch, d draw) *autograd.Node {
	h := m.forward(t, b, d) // (N, d)
	if len(b.Learned) == len(b.Items) {
		return h
	}
	return h.Gather(b.Learned)
}

// cut returns a batch divided into parts of whole sequences, with about as many rows each, and how many targets are
// before each part.
func (b *Batch) cut(rows int) (parts []Batch, firsts []int) {
	n := max(1, len(b.Items)/rows)
	from, first := 0, 0 // sequence and target
	for k := range n {
		to := from
		for to < b.Len() && int(b.Offsets[to])*n < (k+1)*len(b.Items) {
			to++
		}
		if to == from {
			continue // a long sequence has taken its rows
		}
		lo, hi := b.Offsets[from], b.Offsets[to]
		last, _ := slices.BinarySearch(b.Learned, hi)
		parts = append(parts, Batch{
			Items: b.Items[lo:hi], Positions: b.Positions[lo:hi], Targets: b.Targets[first:last],
			Learned: less(b.Learned[first:last], lo), Offsets: less(b.Offsets[from:to+1], lo),
			Last:   less(b.Last[from:to], lo),
			length: b.length,
		})
		firsts = append(firsts, first)
		from, first = to, last
	}
	return parts, firsts
}

// less returns x - y.
func less(x []int32, y int32) []int32 {
	x = slices.Clone(x)
	for i := range x {
		x[i] -= y
	}
	return x
}
