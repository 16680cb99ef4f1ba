package sasrec_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/modeltest"
	"privrec/internal/model/sasrec"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// weights holds the parameters of a model by name.
type weights map[string][][]float64

func (w weights) linear(name string, x []float64) []float64 {
	return modeltest.Affine(w[name+".W"], x, w[name+".b"][0])
}

// norm is layer normalisation, section III-C.
func (w weights) norm(name string, x []float64) []float64 {
	mean, variance := 0.0, 1e-8
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	y := make([]float64, len(x))
	for k, v := range x {
		y[k] = w[name+".gain"][0][k]*(v-mean)/math.Sqrt(variance) + w[name+".shift"][0][k]
	}
	return y
}

// attend is eq. 2 and 3 for the last of some rows: it looks at them all.
func (w weights) attend(block string, rows [][]float64) []float64 {
	q := w.linear(block+".query", rows[len(rows)-1])
	out, total := make([]float64, len(q)), 0.0
	for _, row := range rows {
		e := math.Exp(modeltest.Dot(q, w.linear(block+".key", row)) / math.Sqrt(float64(len(q))))
		total += e
		for k, v := range w.linear(block+".value", row) {
			out[k] += e * v
		}
	}
	for k := range out {
		out[k] /= total
	}
	return out
}

// point is the network of eq. 4.
func (w weights) point(block string, x []float64) []float64 {
	h := w.linear(block+".up", x)
	for k := range h {
		h[k] = max(h[k], 0)
	}
	return w.linear(block+".down", h)
}

// block is section III-C around eq. 3 and 4: x + SA(LN(x)), then x + FFN(LN(x)).
func (w weights) block(name string, x [][]float64) [][]float64 {
	var normed, out [][]float64
	for i := range x {
		normed = append(normed, w.norm(name+".attend", x[i]))
		y := plus(x[i], w.attend(name, normed)) // of rows 0 to i
		out = append(out, plus(y, w.point(name, w.norm(name+".point", y))))
	}
	return out
}

func plus(x, y []float64) []float64 {
	z := make([]float64, len(x))
	for k := range z {
		z[k] = x[k] + y[k]
	}
	return z
}

// Equations 1 to 6 by loops over positions, beside the packed model.
func Example() {
	const d = 4
	session := []int32{3, 1, 4}
	m, err := sasrec.New(4, sasrec.Config{Dim: d, Blocks: 2, Heads: 1, Length: 5, Norm: sasrec.NormPaper}, 1)
	if err != nil {
		fmt.Println(err)
	}
	w := weights{}
	for _, p := range m.Params() {
		nn.Uniform(2, 1)(p.Value, p.Name) // biases and gains as well
		w[p.Name] = modeltest.Rows(p.Value)
	}

	var x [][]float64
	for k, item := range session { // eq. 1; the latest item stands at the last of the 5 positions
		row := make([]float64, d)
		for f := range row {
			row[f] = math.Sqrt(d)*w["item"][item][f] + w["position"][2+k][f]
		}
		x = append(x, row)
	}
	for b := range 2 { // eq. 5
		x = w.block(fmt.Sprintf("block%d", b), x)
	}
	last := w.norm("final", x[2])

	batch := new(sasrec.Batch)
	batch.Reset(5)
	if err := batch.Add(session); err != nil {
		fmt.Println(err)
	}
	t, scores := autograd.NewTape(), tensor.New(1, 4)
	t.SetTraining(false)
	m.Score(t, batch, scores)
	for i := 1; i <= 4; i++ {
		fmt.Printf("next item %d: formula %.4f, model %.4f\n", i, modeltest.Dot(last, w["item"][i]), scores.Data[i-1]) // eq. 6
	}
	// Output:
	// next item 1: formula 0.9830, model 0.9830
	// next item 2: formula 1.4618, model 1.4618
	// next item 3: formula -1.5589, model -1.5589
	// next item 4: formula 0.0803, model 0.0803
}
