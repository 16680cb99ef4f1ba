package hrnn_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/hrnn"
	"privrec/internal/model/modeltest"
	"privrec/internal/tensor"
)

// Equations 1 to 5 by a loop over a user's sessions, beside the batched model.
func Example() {
	const d, items = 3, 5
	sessions := [][]int32{{2, 1, 4}, {3, 3, 5}}
	m, err := hrnn.New(items, hrnn.Config{Dim: d, Variant: hrnn.VariantAll}, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, out := modeltest.Rows(m.In.Value), modeltest.Rows(m.Out.Value)
	userW, userU, sessionU := modeltest.Rows(m.UserW.Value), modeltest.Rows(m.UserU.Value), modeltest.Rows(m.SessionU.Value)
	first, all := modeltest.Rows(m.First.W.Value), modeltest.Rows(m.All.Value)

	s, c := make([]float64, d), make([]float64, d) // biases begin at 0 and are left out
	next := s
	for k, session := range sessions {
		if k > 0 {
			c = gru(modeltest.Affine(userW, s, nil), userU, c) // eq. 1
			s = modeltest.Affine(first, c, nil)
			for j := range s {
				s[j] = math.Tanh(s[j]) // eq. 2
			}
		}
		for at, item := range session {
			next = gru(modeltest.Affine(all, c, in[item]), sessionU, s) // eq. 4
			if at < len(session)-1 {                                    // nothing goes on from the last item
				s = next
			}
		}
	}

	var states []float64
	m.Read(autograd.NewTape(), hrnn.NewMemory(1, d), []hrnn.Sequence{{Items: []int32{2, 1, 4, 3, 3, 5}, Begins: []bool{true, false, false, true, false, false}}},
		func(_ int, _ []int32, h tensor.Matrix) { states = modeltest.Rows(h)[0] })
	for i := 1; i <= items; i++ {
		fmt.Printf("next item %d: formula %.4f, model %.4f\n", i, modeltest.Dot(next, out[i]), modeltest.Dot(states, out[i]))
	}
	// Output:
	// next item 1: formula 0.2756, model 0.2756
	// next item 2: formula 0.2507, model 0.2507
	// next item 3: formula -0.0225, model -0.0225
	// next item 4: formula -0.0045, model -0.0045
	// next item 5: formula -0.0419, model -0.0419
}

// gru returns the next state, given what the input gives to the gates r, z and a.
func gru(x []float64, u [][]float64, h []float64) []float64 {
	d := len(h)
	uh := modeltest.Affine(u, h, nil)
	reset, next := make([]float64, d), make([]float64, d)
	for k := range d {
		reset[k] = modeltest.Sigmoid(x[k]+uh[k]) * h[k]
	}
	ur := modeltest.Affine(u, reset, nil)
	for k := range d {
		z := modeltest.Sigmoid(x[d+k] + uh[d+k])
		next[k] = (1-z)*h[k] + z*math.Tanh(x[2*d+k]+ur[2*d+k])
	}
	return next
}
