package srgnn_test

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/model/srgnn"
	"privrec/internal/nn"
)

// plus adds the row c to every row of x.
func plus(x ggnntest.Dense, c []float64) ggnntest.Dense {
	for i := range x {
		for k := range c {
			x[i][k] += c[k]
		}
	}
	return x
}

// Equations 1 to 8 on the dense adjacency of one session, beside the batched model. The loops of the cell and
// of the readout stand in package ggnn's examples.
func Example() {
	batch := ggnntest.Batch{Items: 4, Sequences: [][]int32{{1, 2, 1, 2, 1, 3}}, User: []int32{0}, Length: []int32{6}, Samples: []int32{0}}
	m := srgnn.New(4, 3, 2, nn.Uniform(1, 1))

	s := ggnntest.NewSession(batch.Prefix(0))
	in, out := ggnntest.Normalised(ggnntest.Binary(s.In)), ggnntest.Normalised(ggnntest.Binary(s.Out))
	item := ggnntest.Values(m.Item)
	h := s.States(item)
	for range m.Steps {
		arrived := plus(ggnntest.Mul(in, ggnntest.Affine(m.In.W, m.In.B, h)), ggnntest.Values(m.BiasIn)[0])  // eq. 1
		left := plus(ggnntest.Mul(out, ggnntest.Affine(m.Out.W, m.Out.B, h)), ggnntest.Values(m.BiasOut)[0]) // eq. 1
		h = ggnntest.Cell(m.Cell, ggnntest.Join(arrived, left), h)                                           // eq. 2 to 5
	}
	z := ggnntest.Readout(m.Read, s, h, nil) // eq. 6, 7

	g, err := batch.Pack()
	if err != nil {
		fmt.Println(err)
	}
	vector := ggnntest.Row(m.Forward(autograd.NewTape(), g).V, 0)
	for i := 1; i <= 4; i++ {
		fmt.Printf("next item %d: formula %.4f, model %.4f\n", i, ggnntest.Dot(z, item[i]), ggnntest.Dot(vector, item[i])) // eq. 8
	}
	// Output:
	// next item 1: formula -0.1616, model -0.1616
	// next item 2: formula 0.7512, model 0.7512
	// next item 3: formula 0.9534, model 0.9534
	// next item 4: formula -0.9062, model -0.9062
}
