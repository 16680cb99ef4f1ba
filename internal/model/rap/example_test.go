package rap_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/modeltest"
	"privrec/internal/model/rap"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// Equations 1 to 5 by a loop over a user's items, beside the batched model. The parameters hold
// r, z and c one above the other.
func Example() {
	const d, temperature = 3, 0.5
	users := nn.NewParam("user", 1, 2, nn.Uniform(1, 1))
	items := nn.NewParam("item", 5, 2, nn.Uniform(2, 1))
	m := rap.New(5, d, []int{2}, nn.Uniform(3, 1))
	read := []int32{3, 0}   // i_1 and i_2
	top := []int32{4, 1, 2} // T(u)
	class := []int32{1}     // y_u

	u, v, e := modeltest.Rows(users.Value)[0], modeltest.Rows(items.Value), modeltest.Rows(m.Item.Value)
	sum, w := 0.0, make([]float64, len(top))
	for k, j := range top {
		w[k] = math.Exp(modeltest.Dot(u, v[j]) / temperature)
		sum += w[k]
	}
	z := make([]float64, d) // z_u
	for k, j := range top {
		w[k] /= sum // eq. 1
		for f := range d {
			z[f] += w[k] * e[j][f] // eq. 2
		}
	}
	h := make([]float64, d)
	for _, x := range [][]float64{e[read[0]], e[read[1]], z} { // eq. 3
		gi := modeltest.Affine(modeltest.Rows(m.GRU.Wih.Value), x, modeltest.Rows(m.GRU.Bih.Value)[0])
		gh := modeltest.Affine(modeltest.Rows(m.GRU.Whh.Value), h, modeltest.Rows(m.GRU.Bhh.Value)[0])
		for k := range d {
			r, keep := modeltest.Sigmoid(gi[k]+gh[k]), modeltest.Sigmoid(gi[d+k]+gh[d+k])
			c := math.Tanh(gi[2*d+k] + r*gh[2*d+k])
			h[k] = (1-keep)*c + keep*h[k]
		}
	}
	logits := modeltest.Affine(modeltest.Rows(m.Heads[0].W.Value), h, modeltest.Rows(m.Heads[0].B.Value)[0])
	p := math.Exp(logits[1]) / (math.Exp(logits[0]) + math.Exp(logits[1])) // eq. 4

	tape := autograd.NewTape()
	list := tensor.New(1, 5)
	list.Data[3], list.Data[0] = rap.Outside, rap.Outside
	weights := rap.Weights(tape.Use(users), tape.Use(items), list, temperature)
	loss := m.Loss(tape, rap.Reading{Items: [][]int32{read}, Labels: [][]int32{class}}, weights)
	fmt.Printf("weight of item 4: formula %.4f, model %.4f\n", w[0], weights.V.Data[4])
	fmt.Printf("loss: formula %.4f, model %.4f\n", -math.Log(p), loss.Scalar()) // eq. 5
	// Output:
	// weight of item 4: formula 0.3738, model 0.3738
	// loss: formula 0.4251, model 0.4251
}
