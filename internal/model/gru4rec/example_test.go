package gru4rec_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/gru4rec"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
)

// Equations 2 to 5 by a loop over a session, beside the batched model. The parameters hold r, z and c one
// above the other; both of the cell's biases are in b.
func Example() {
	const d = 3
	session := []int32{2, 1, 2, 4}
	m := gru4rec.New(4, gru4rec.Config{Dim: d}, nn.Uniform(1, 1))
	item, w, u := modeltest.Rows(m.Item.Value), modeltest.Rows(m.GRU.Wih.Value), modeltest.Rows(m.GRU.Whh.Value)
	b := modeltest.Rows(m.GRU.Bih.Value)[0]
	for k, v := range modeltest.Rows(m.GRU.Bhh.Value)[0] {
		b[k] += v
	}

	h := make([]float64, d)
	for _, i := range session {
		x, uh := modeltest.Affine(w, item[i], b), modeltest.Affine(u, h, nil)
		z, reset := make([]float64, d), make([]float64, d) // z, and r ∘ h
		for k := range d {
			reset[k] = modeltest.Sigmoid(x[k]+uh[k]) * h[k] // eq. 5
			z[k] = modeltest.Sigmoid(x[d+k] + uh[d+k])      // eq. 3
		}
		uh = modeltest.Affine(u, reset, nil)
		for k := range d {
			c := math.Tanh(x[2*d+k] + uh[2*d+k]) // eq. 4
			h[k] = (1-z[k])*h[k] + z[k]*c        // eq. 2
		}
	}

	sessions, err := graph.NewSessions([][]int32{session}, 4)
	if err != nil {
		fmt.Println(err)
	}
	batch := new(graph.Packed)
	batch.Pack(sessions, []int32{0}, []int32{4}, []int32{0}) // the whole sequence of user 0
	out := modeltest.Rows(m.Forward(autograd.NewTape(), batch).V)[0]
	for i := 1; i <= 4; i++ {
		fmt.Printf("next item %d: formula %.4f, model %.4f\n", i, modeltest.Dot(h, item[i]), modeltest.Dot(out, item[i]))
	}
	// Output:
	// next item 1: formula 0.2281, model 0.2281
	// next item 2: formula -0.2633, model -0.2633
	// next item 3: formula -0.7135, model -0.7135
	// next item 4: formula 1.2758, model 1.2758
}
