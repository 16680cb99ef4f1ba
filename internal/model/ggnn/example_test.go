package ggnn_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Equations 2 to 5 of SR-GNN for one node by loops, beside the cell. The parameters hold r, z and c one above
// the other.
func ExampleCell() {
	const d = 2
	cell := ggnn.NewCell("cell", d, nn.Uniform(1, 1))
	x, h := []float64{0.5, -1, 0.25, 2}, []float64{1, -0.5} // what arrived over edges, and the state
	arrived := modeltest.Affine(modeltest.Rows(cell.GRU.Wih.Value), x, modeltest.Rows(cell.GRU.Bih.Value)[0])
	own := modeltest.Affine(modeltest.Rows(cell.GRU.Whh.Value), h, modeltest.Rows(cell.GRU.Bhh.Value)[0])

	t := autograd.NewTape()
	next := cell.Forward(t, t.Const(tensor.From(1, 4, []tensor.Float{0.5, -1, 0.25, 2})), t.Const(tensor.From(1, d, []tensor.Float{1, -0.5})))
	for k := range d {
		z := modeltest.Sigmoid(arrived[d+k] + own[d+k]) // eq. 2
		r := modeltest.Sigmoid(arrived[k] + own[k])     // eq. 3
		c := math.Tanh(arrived[2*d+k] + r*own[2*d+k])   // eq. 4
		plain := (1-z)*h[k] + z*c                       // eq. 5
		fmt.Printf("h'[%d]: formula %.4f, model %.4f\n", k, plain, next.V.Data[k])
	}
	// Output:
	// h'[0]: formula 0.6560, model 0.6560
	// h'[1]: formula -0.9106, model -0.9106
}

// Equations 6 and 7 of SR-GNN by a loop over positions, beside the readout, which computes the attention once
// a node. The nodes of the session are its items in order of first appearance.
func ExampleReadout() {
	const d = 2
	session := []int32{3, 1, 3, 2}
	state := map[int32][]float64{3: {1, -0.5}, 1: {0.5, 2}, 2: {-1, 0.25}} // of each item's node
	r := ggnn.NewReadout("read", d, 0, nn.Uniform(1, 1))
	w1, w2, c := modeltest.Rows(r.Last.W.Value), modeltest.Rows(r.Each.W.Value), modeltest.Rows(r.Each.B.Value)[0]
	q, w3, b := modeltest.Rows(r.Query.Value)[0], modeltest.Rows(r.Join.W.Value), modeltest.Rows(r.Join.B.Value)[0]

	last, sum := state[session[3]], make([]float64, d)
	for _, item := range session {
		s, alpha := state[item], 0.0
		key, each := modeltest.Affine(w1, last, c), modeltest.Affine(w2, s, nil)
		for k := range q {
			alpha += q[k] * modeltest.Sigmoid(key[k]+each[k]) // eq. 6
		}
		for k := range sum {
			sum[k] += alpha * s[k]
		}
	}
	plain := modeltest.Affine(w3, append(sum, last...), b) // eq. 7

	sessions, err := graph.NewSessions([][]int32{session}, 3)
	if err != nil {
		fmt.Println(err)
	}
	batch := new(graph.Packed)
	batch.Pack(sessions, []int32{0}, []int32{4}, []int32{0}) // the whole sequence of user 0
	t := autograd.NewTape()
	z := r.Forward(t, batch, t.Const(tensor.From(3, d, []tensor.Float{1, -0.5, 0.5, 2, -1, 0.25})), nil)
	for k := range plain {
		fmt.Printf("z[%d]: formula %.4f, model %.4f\n", k, plain[k], z.V.Data[k])
	}
	// Output:
	// z[0]: formula -0.3989, model -0.3989
	// z[1]: formula -1.0329, model -1.0329
}
