package exposure_test

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/attack/exposure"
	"privrec/internal/dataset/slate"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
)

// Sizes of the examples: width, tokens of the vocabulary, clicks to infer.
const d, vocab, clicks = 4, 9, 2

// weights holds the parameters of an attack by name. One matrix, "item", is for slates, for the decoder's
// input and for the output layer.
type weights map[string][][]float64

// attack makes an attack with a mean-pooling encoder, and returns its parameters and its loss on one pair:
// the slate 4, 6, 7, before which 5 was clicked, and 8 before that.
func attack(decoder string) (weights, float64) {
	c := exposure.Paper("mean", decoder)
	c.Dim, c.Heads, c.FFN, c.Smoothing = d, 1, 3, 0.01
	m, err := exposure.New(c, vocab, 3, clicks, 1)
	if err != nil {
		fmt.Println(err)
	}
	w := weights{}
	for _, p := range m.Params() {
		nn.Uniform(2, 1)(p.Value, p.Name) // biases and gains as well
		w[p.Name] = modeltest.Rows(p.Value)
	}
	pair := &slate.Pairs{T: 3, L: clicks, Slates: []int32{4, 6, 7}, Behaviours: []int32{5, 8}, Users: []int32{0}, Complete: []bool{true}}
	loss, err := m.ValidationLoss(context.Background(), pair, 1)
	if err != nil {
		fmt.Println(err)
	}
	return w, loss
}

// context is eq. 2: the mean of the items 4, 6 and 7, which enter multiplied by sqrt(d).
func (w weights) context() []float64 {
	c := make([]float64, d)
	for _, x := range []int{4, 6, 7} {
		for k, v := range w["item"][x] {
			c[k] += math.Sqrt(d) * v / 3
		}
	}
	return c
}

// logSoftmax is the logarithm of eq. 8: of every token's probability after the output layer.
func (w weights) logSoftmax(h []float64) []float64 {
	z, sum := modeltest.Affine(w["item"], h, w["output.b"][0]), 0.0
	for _, v := range z {
		sum += math.Exp(v)
	}
	for i := range z {
		z[i] -= math.Log(sum)
	}
	return z
}

func (w weights) linear(name string, x []float64) []float64 {
	return modeltest.Affine(w[name+".W"], x, w[name+".b"][0])
}

// norm is the layer normalisation of eq. 6 and 7.
func (w weights) norm(name string, x []float64) []float64 {
	mean, variance := 0.0, 1e-5
	for _, v := range x {
		mean += v / d
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / d
	}
	y := make([]float64, d)
	for k, v := range x {
		y[k] = w[name+".gain"][0][k]*(v-mean)/math.Sqrt(variance) + w[name+".shift"][0][k]
	}
	return y
}

// attend is eq. 4 and 5 with one head, for one row over the rows of memory.
func (w weights) attend(name string, row []float64, memory [][]float64) []float64 {
	q, out, total := w.linear(name+".query", row), make([]float64, d), 0.0
	for _, r := range memory {
		e := math.Exp(modeltest.Dot(q, w.linear(name+".key", r)) / math.Sqrt(d))
		total += e
		for k, v := range w.linear(name+".value", r) {
			out[k] += e * v
		}
	}
	for k := range out {
		out[k] /= total
	}
	return w.linear(name+".out", out)
}

// point is the feed-forward network of eq. 7.
func (w weights) point(name string, x []float64) []float64 {
	h := w.linear(name+".up", x)
	for k := range h {
		h[k] = max(h[k], 0)
	}
	return w.linear(name+".down", h)
}

func plus(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for k := range z {
		z[k] = x[k] + y[k]
	}
	return z
}

// Point-wise decoding, equations 8 to 10: one distribution over the vocabulary, and a smoothed target.
func ExampleModel_point() {
	w, model := attack("point")

	loss := 0.0
	for v, logP := range w.logSoftmax(w.context()) { // eq. 8
		q := 0.01 // eq. 9: the smoothing, or 1/L for a click
		if v == 5 || v == 8 {
			q = 1.0 / clicks
		}
		loss -= q * logP // eq. 10
	}
	fmt.Printf("loss: formula %.4f, model %.4f\n", loss, model)
	// Output:
	// loss: formula 2.2222, model 2.2222
}

// Decoding by a GRU, equation 13, and its loss, equation 14. Its input is the last click beside the context,
// which is the first state as well. The parameters hold r, z and the candidate one above the other; z keeps
// the old state.
func ExampleModel_gru() {
	w, model := attack("gru")

	c := w.context()
	h, loss := c, 0.0
	for _, step := range []struct{ in, target int32 }{{slate.Start, 5}, {5, 8}, {8, slate.End}} {
		x := append(append([]float64(nil), w["item"][step.in]...), c...)
		in, own := modeltest.Affine(w["gru.Wih"], x, w["gru.bih"][0]), modeltest.Affine(w["gru.Whh"], h, w["gru.bhh"][0])
		next := make([]float64, d)
		for k := range d {
			r, z := modeltest.Sigmoid(in[k]+own[k]), modeltest.Sigmoid(in[d+k]+own[d+k])
			next[k] = (1-z)*math.Tanh(in[2*d+k]+r*own[2*d+k]) + z*h[k]
		}
		h = next
		loss -= w.logSoftmax(h)[step.target] / (clicks + 1) // the mean over steps
	}
	fmt.Printf("loss: formula %.4f, model %.4f\n", loss, model)
	// Output:
	// loss: formula 2.3223, model 2.3223
}

// Decoding by an LSTM, equation 12, and its loss, equation 14. Its input is the last click beside the
// context, which is the first state and the first cell as well. The parameters hold the input gate, the
// forget gate, the candidate and the output gate one above the other.
func ExampleModel_lstm() {
	w, model := attack("lstm")

	c := w.context()
	h, cell, loss := c, append([]float64(nil), c...), 0.0
	for _, step := range []struct{ in, target int32 }{{slate.Start, 5}, {5, 8}, {8, slate.End}} {
		x := append(append([]float64(nil), w["item"][step.in]...), c...)
		a := plus(modeltest.Affine(w["lstm.Wih"], x, w["lstm.bih"][0]), modeltest.Affine(w["lstm.Whh"], h, w["lstm.bhh"][0]))
		h = make([]float64, d)
		for k := range d {
			i, f, o := modeltest.Sigmoid(a[k]), modeltest.Sigmoid(a[d+k]), modeltest.Sigmoid(a[3*d+k])
			cell[k] = f*cell[k] + i*math.Tanh(a[2*d+k])
			h[k] = o * math.Tanh(cell[k])
		}
		loss -= w.logSoftmax(h)[step.target] / (clicks + 1) // the mean over steps
	}
	fmt.Printf("loss: formula %.4f, model %.4f\n", loss, model)
	// Output:
	// loss: formula 2.2613, model 2.2613
}

// Decoding by a transformer, equations 4 to 7 with a mask, and its loss, equation 14: every step looks back at
// what was clicked so far, then at the context.
func ExampleModel_transformer() {
	w, model := attack("transformer")

	memory, loss := [][]float64{w.context()}, 0.0
	var rows [][]float64 // of the steps so far
	for p, step := range []struct{ in, target int32 }{{slate.Start, 5}, {5, 8}, {8, slate.End}} {
		x := make([]float64, d)
		for k := range x { // the last click and its position, a sine or a cosine
			x[k] = math.Sqrt(d) * w["item"][step.in][k]
			if angle := float64(p) / math.Pow(10000, float64(k-k%2)/d); k%2 == 0 {
				x[k] += math.Sin(angle)
			} else {
				x[k] += math.Cos(angle)
			}
		}
		rows = append(rows, x)
		x = w.norm("decoder.0.self.norm", plus(x, w.attend("decoder.0.self", x, rows)))     // eq. 6
		x = w.norm("decoder.0.cross.norm", plus(x, w.attend("decoder.0.cross", x, memory))) // eq. 6
		x = w.norm("decoder.0.ffn.norm", plus(x, w.point("decoder.0.ffn", x)))              // eq. 7
		loss -= w.logSoftmax(w.norm("decoder.norm", x))[step.target] / (clicks + 1)         // the mean over steps
	}
	fmt.Printf("loss: formula %.4f, model %.4f\n", loss, model)
	// Output:
	// loss: formula 1.8285, model 1.8285
}
