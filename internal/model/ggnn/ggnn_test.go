package ggnn_test

import (
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// The readout computes attention once a node and weighs it by the node's
// positions; the formula sums over positions.
func TestReadoutEqualsTheFormula(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		b := ggnntest.Draw(pick)
		d, init := pick("d", 1, 5), nn.Uniform(rng.Seed(pick("seed", 0, 1000)), 1)
		item, r := nn.NewParam("item", b.Items+1, d, init), ggnn.NewReadout("read", d, 0, init)
		err := b.Compare(func(t *autograd.Tape, g *graph.Packed) *autograd.Node {
			return r.Forward(t, g, t.Rows(item, g.Node), nil)
		}, func(_ int, s ggnntest.Session) []float64 {
			return ggnntest.Readout(r, s, s.States(ggnntest.Values(item)), nil)
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// The readout knows the node set with its multiplicities and the last item, and
// nothing else of the order.
func TestReadoutIgnoresTheOrder(t *testing.T) {
	b := ggnntest.Batch{
		Items: 4, Sequences: [][]int32{{1, 2, 2, 4, 3, 1}, {2, 4, 1, 2, 3, 1}, {2, 4, 1, 3, 2, 1}},
		User: []int32{0, 1, 2}, Length: []int32{5, 5, 5}, Samples: []int32{0, 1, 2},
	}
	init := nn.Uniform(2, 1)
	item, r := nn.NewParam("item", 5, 3, init), ggnn.NewReadout("read", 3, 0, init)
	g, err := b.Pack()
	if err != nil {
		t.Fatal(err)
	}
	tape := autograd.NewTape()
	z := r.Forward(tape, g, tape.Rows(item, g.Node), nil).V
	if err := ggnntest.Near(tensor.Row(z, 1), ggnntest.Row(z, 0)); err != nil {
		t.Errorf("another order of the same items: %v", err)
	}
	if ggnntest.Near(tensor.Row(z, 2), ggnntest.Row(z, 0)) == nil {
		t.Error("another last item changes nothing")
	}
}

func TestCellGradients(t *testing.T) {
	init := nn.Uniform(5, 0.9)
	c := ggnn.NewCell("cell", 3, init)
	x, h := nn.NewParam("x", 4, 6, init), nn.NewParam("h", 4, 3, init)
	err := gradcheck.Check(append(c.Params(), x, h), func(t *autograd.Tape) *autograd.Node {
		return c.Forward(t, t.Use(x), t.Use(h)).SumSq()
	})
	if err != nil {
		t.Error(err)
	}
}

// An empty user width and a nil user are the same model; a user of some width
// changes the vector.
func TestReadoutUser(t *testing.T) {
	b := ggnntest.Tiny()
	init := nn.Uniform(6, 1)
	item, users := nn.NewParam("item", b.Items+1, 3, init), nn.NewParam("users", 2, 2, init)
	r := ggnn.NewReadout("read", 3, 2, init)
	ofUser := ggnntest.Values(users)
	err := b.Compare(func(t *autograd.Tape, g *graph.Packed) *autograd.Node {
		return r.Forward(t, g, t.Rows(item, g.Node), t.Rows(users, g.User))
	}, func(i int, s ggnntest.Session) []float64 {
		return ggnntest.Readout(r, s, s.States(ggnntest.Values(item)), ofUser[b.User[b.Samples[i]]])
	})
	if err != nil {
		t.Error(err)
	}
	ggnntest.CheckParams(t, r.Params(), 6, "read.last.W")
}
