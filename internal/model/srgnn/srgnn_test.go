package srgnn

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// dense is the model on one session, from its formulas.
func dense(m *Model, s ggnntest.Session) []float64 {
	in, out := ggnntest.Normalised(ggnntest.Binary(s.In)), ggnntest.Normalised(ggnntest.Binary(s.Out))
	h := s.States(ggnntest.Values(m.Item))
	message := func(adjacency ggnntest.Dense, w *nn.Linear, after *autograd.Param) ggnntest.Dense {
		y := ggnntest.Mul(adjacency, ggnntest.Affine(w.W, w.B, h))
		for i := range y {
			for k, c := range ggnntest.Values(after)[0] {
				y[i][k] += c
			}
		}
		return y
	}
	for range m.Steps {
		h = ggnntest.Cell(m.Cell, ggnntest.Join(message(in, m.In, m.BiasIn), message(out, m.Out, m.BiasOut)), h)
	}
	return ggnntest.Readout(m.Read, s, h, nil)
}

func TestForwardEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		b := ggnntest.Draw(pick)
		m := New(b.Items, pick("d", 1, 5), pick("steps", 1, 3), nn.Uniform(rng.Seed(pick("seed", 0, 1000)), 1))
		err := b.Compare(m.Forward, func(_ int, s ggnntest.Session) []float64 { return dense(m, s) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// The edge weights kept between batches must not leak from one to the next.
func TestBatchesAreIndependent(t *testing.T) {
	m := New(4, 3, 1, nn.Uniform(1, 1))
	long := ggnntest.Batch{Items: 4, Sequences: [][]int32{{1, 2, 1, 2, 3, 4, 4, 1}}, User: []int32{0}, Length: []int32{7}, Samples: []int32{0, 0}}
	short := ggnntest.Batch{Items: 4, Sequences: [][]int32{{2, 3}}, User: []int32{0}, Length: []int32{1}, Samples: []int32{0}}
	for i, b := range []ggnntest.Batch{long, short, long} {
		if err := b.Compare(m.Forward, func(_ int, s ggnntest.Session) []float64 { return dense(m, s) }); err != nil {
			t.Errorf("batch %d: %v", i, err)
		}
	}
}

// SR-GNN's adjacency is binary: sessions with the same distinct transitions, the
// same items and the same last item are one session, however often they take each.
func TestRepeatsCountOnce(t *testing.T) {
	m := New(2, 3, 2, nn.Uniform(3, 1))
	g, err := ggnntest.SameTransitions().Pack()
	if err != nil {
		t.Fatal(err)
	}
	z := m.Forward(autograd.NewTape(), g).V
	if err := ggnntest.Near(tensor.Row(z, 0), ggnntest.Row(z, 1)); err != nil {
		t.Error(err)
	}
}

func TestGradients(t *testing.T) {
	for steps := 1; steps <= 3; steps++ {
		t.Run(fmt.Sprintf("T=%d", steps), func(t *testing.T) {
			b := ggnntest.Tiny()
			m := New(b.Items, 3, steps, nn.Uniform(7, 0.8))
			g, err := b.Pack()
			if err != nil {
				t.Fatal(err)
			}
			if err := gradcheck.Check(m.Params(), loss(m, g)); err != nil {
				t.Error(err)
			}
		})
	}
}

func loss(m *Model, g *graph.Packed) func(*autograd.Tape) *autograd.Node {
	return func(t *autograd.Tape) *autograd.Node {
		return t.TiedCrossEntropy(m.Forward(t, g), m.Item, 1, g.Label)
	}
}

func TestParamsHaveDistinctNames(t *testing.T) {
	ggnntest.CheckParams(t, New(3, 2, 1, nn.Zeros).Params(), 17, "item")
}
