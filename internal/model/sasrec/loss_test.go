package sasrec

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// sequences returns random ones of 2 to most items.
func sequences(n, most, items int) (all [][]int32) {
	s := rng.Seed(5).Stream("sequences")
	for range n {
		q := make([]int32, 2+s.IntN(most-1))
		for i := range q {
			q[i] = int32(1 + s.IntN(items))
		}
		all = append(all, q)
	}
	return all
}

// Parts hold all sequences once, in order, none is empty, and none has more than a sequence beyond its share.
func TestCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.IntRange(1, 12).Draw(t, "length")
		var b, again Batch
		b.Reset(length)
		again.Reset(length)
		learn := func(place int) bool { return place%3 != 0 }
		for range rapid.IntRange(1, 40).Draw(t, "sequences") {
			s := rapid.SliceOfN(rapid.Int32Range(1, 9), 2, 30).Draw(t, "sequence")
			if err := b.AddSome(s, learn); err != nil {
				t.Fatal(err)
			}
		}
		rows := rapid.IntRange(1, 100).Draw(t, "rows")
		parts, firsts := b.cut(rows)
		for k, p := range parts {
			row := int32(len(again.Items))
			if p.Len() == 0 || len(p.Items) > len(b.Items)/max(1, len(b.Items)/rows)+1+length {
				t.Fatalf("part %d of %d has %d sequences, %d rows of %d", k, len(parts), p.Len(), len(p.Items), len(b.Items))
			}
			if firsts[k] != len(again.Targets) {
				t.Fatalf("part %d: %d targets before it, want %d", k, firsts[k], len(again.Targets))
			}
			again.Items, again.Positions = append(again.Items, p.Items...), append(again.Positions, p.Positions...)
			again.Targets = append(again.Targets, p.Targets...)
			for _, x := range p.Learned {
				again.Learned = append(again.Learned, x+row)
			}
			for _, x := range p.Offsets[1:] {
				again.Offsets = append(again.Offsets, x+row)
			}
			for _, x := range p.Last {
				again.Last = append(again.Last, x+row)
			}
		}
		if got, want := fmt.Sprint(again), fmt.Sprint(b); got != want {
			t.Fatalf("parts together are\n%s\nof\n%s", got, want)
		}
	})
}

// A batch of several parts has the loss and the gradients of the whole, up to rounding.
func TestPartsOfABatch(t *testing.T) {
	const items = 50
	c := Config{Dim: 8, Blocks: 2, Heads: 1, Length: 20, Norm: NormCode}
	m := small(t, items, c, 3)
	b := pack(t, c.Length, func(b *Batch, s []int32) error { return b.AddSome(s, func(place int) bool { return place%4 != 1 }) }, sequences(150, 30, items)...)
	if parts, _ := b.cut(partRows); len(parts) < 3 {
		t.Fatalf("%d rows make %d parts", len(b.Items), len(parts))
	}
	negatives := slices.Clone(b.Targets)
	slices.Reverse(negatives)
	for name, c := range map[string]struct {
		parts, whole func(t *autograd.Tape) *autograd.Node
	}{
		"all items": {
			func(t *autograd.Tape) *autograd.Node { return m.CrossEntropy(t, b, 0) },
			func(t *autograd.Tape) *autograd.Node {
				return t.TiedCrossEntropy(m.Forward(t, b, 0).Gather(b.Learned), m.Item, 1, b.Targets)
			}},
		"sampled": {
			func(t *autograd.Tape) *autograd.Node { return m.Sampled(t, b, negatives, 0) },
			func(t *autograd.Tape) *autograd.Node {
				h := m.Forward(t, b, 0).Gather(b.Learned)
				up, down := h.RowDot(t.Rows(m.Item, b.Targets)), h.RowDot(t.Rows(m.Item, negatives)).Scale(-1)
				return up.LogSigmoid().Add(down.LogSigmoid()).MeanAll().Scale(-1)
			}},
	} {
		parts, whole := autograd.NewTape(), autograd.NewTape()
		got, want := c.parts(parts), c.whole(whole)
		if math.Abs(got.Scalar()-want.Scalar()) > 1e-5*math.Abs(want.Scalar()) {
			t.Errorf("%s: %v, want %v", name, got.Scalar(), want.Scalar())
		}
		parts.Backward(got)
		whole.Backward(want)
		for _, p := range m.Params() {
			x, y := dense(parts, p), dense(whole, p)
			most := 0.0
			for _, v := range y {
				most = max(most, math.Abs(float64(v)))
			}
			for i, v := range y {
				if math.Abs(float64(x[i]-v)) > 1e-4*(most+1e-3) {
					t.Fatalf("%s: gradient %d of %s is %v, want %v", name, i, p.Name, x[i], v)
				}
			}
		}
	}
}

// dense returns all elements of a gradient.
func dense(t *autograd.Tape, p *autograd.Param) []tensor.Float {
	if g, ok := t.Grads().Dense(p); ok {
		return g.Data
	}
	m := tensor.New(p.Value.Rows, p.Value.Cols)
	rows, vals, _ := t.Grads().Sparse(p)
	for i, r := range rows {
		copy(tensor.Row(m, int(r)), tensor.Row(vals, i))
	}
	return m.Data
}

// Parts have masks of their own, which depend on the step, and the bytes do not depend on the workers.
func TestPartsDropByStepAndPart(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	c := Config{Dim: 8, Blocks: 1, Heads: 1, Length: 20, Norm: NormCode, Dropout: 0.5}
	m := small(t, 50, c, 3)
	same := pack(t, c.Length, (*Batch).AddPairs, slices.Repeat(sequences(1, 20, 50), partRows)...)
	seen := map[string]bool{}
	for _, step := range []int{1, 2} {
		var want string
		for _, workers := range []int{1, 2, 5} {
			tensor.SetWorkers(workers)
			tape := autograd.NewTape()
			loss := m.Sampled(tape, same, same.Targets, step)
			tape.Backward(loss)
			got := fmt.Sprint(loss.Scalar(), dense(tape, m.Item), dense(tape, m.Position))
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("step %d: %d workers give other bytes", step, workers)
			}
		}
		seen[want] = true
	}
	if len(seen) != 2 {
		t.Error("two steps drop the same")
	}
	parts, _ := same.cut(partRows)
	if len(parts) < 2 || len(parts[0].Items) != len(parts[1].Items) {
		t.Fatalf("%d parts", len(parts))
	}
	loss := func(part int) float64 {
		return m.learned(autograd.NewTape(), &parts[part], at(1, part)).SumAll().Scalar()
	}
	if loss(0) == loss(1) {
		t.Error("two parts with the same rows drop the same")
	}
}
