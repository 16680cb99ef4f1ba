package apgnn_test

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/model/apgnn"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// The formulas of the package comment on the dense adjacency of one session, beside the batched model. The
// loops of the cell and of the readout stand in package ggnn's examples.
func Example() {
	batch := ggnntest.Batch{Items: 4, Sequences: [][]int32{{1, 2, 1, 2, 1, 3}}, User: []int32{0}, Length: []int32{6}, Samples: []int32{0}}
	m := apgnn.New(4, 3, 2, 1, nn.Uniform(1, 1))
	user := []float64{0.5, -1} // e_u

	s := ggnntest.NewSession(batch.Prefix(0))
	in, out := ggnntest.Normalised(s.In), ggnntest.Normalised(s.Out) // counts, divided by degrees
	item := ggnntest.Values(m.Item)
	h := s.States(item)
	for range m.Steps {
		x := ggnntest.Join(h, ggnntest.Repeat(user, len(h))) // the weights hold [W U]
		arrived := ggnntest.Mul(in, ggnntest.Affine(m.In.W, m.In.B, x))
		left := ggnntest.Mul(out, ggnntest.Affine(m.Out.W, m.Out.B, x))
		h = ggnntest.Cell(m.Cell, ggnntest.Join(arrived, left), h)
	}
	z := ggnntest.Readout(m.Read, s, h, user)

	g, err := batch.Pack()
	if err != nil {
		fmt.Println(err)
	}
	t := autograd.NewTape()
	vector := ggnntest.Row(m.Forward(t, g, t.Const(tensor.From(1, 2, []tensor.Float{0.5, -1}))).V, 0)
	for i := 1; i <= 4; i++ {
		fmt.Printf("next item %d: formula %.4f, model %.4f\n", i, ggnntest.Dot(z, item[i]), ggnntest.Dot(vector, item[i]))
	}
	// Output:
	// next item 1: formula -0.0523, model -0.0523
	// next item 2: formula 1.1425, model 1.1425
	// next item 3: formula 1.0019, model 1.0019
	// next item 4: formula -0.2118, model -0.2118
}
