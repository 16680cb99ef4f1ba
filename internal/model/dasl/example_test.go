package dasl_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/dasl"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
)

// weights holds the parameters of a model by name.
type weights map[string][][]float64

// read is the recurrence G of a domain over a window: the states after each of its items. The parameters
// hold r, z and the candidate one above the other.
func (w weights) read(domain string, window []int32, user []float64) (states [][]float64) {
	unit := domain + ".gru"
	d := 2 * len(user)
	s := make([]float64, d)
	for _, item := range window {
		x := modeltest.Affine(w[unit+".item"], w[domain+".item"][item], w[unit+".bias"][0])
		x = modeltest.Affine(w[unit+".user"], user, x)
		gates := modeltest.Affine(w[unit+".state"], s, x)
		reset, next := make([]float64, d), make([]float64, d)
		for k := range d {
			reset[k] = modeltest.Sigmoid(gates[k]) * s[k] // r ∘ s
		}
		candidate := modeltest.Affine(w[unit+".state"], reset, x)
		for k := range d {
			z := modeltest.Sigmoid(gates[d+k])
			next[k] = z*s[k] + (1-z)*math.Tanh(candidate[2*d+k])
		}
		states, s = append(states, next), next
	}
	return states
}

// attend is the dual attention of a domain over all states.
func (w weights) attend(domain string, states [][]float64) []float64 {
	p, total := make([]float64, len(states[0])), 0.0
	for _, s := range states {
		energy := 0.0
		for k, a := range modeltest.Affine(w[domain+".attention.W"], s, w[domain+".attention.b"][0]) {
			energy += w[domain+".attention.v"][0][k] * math.Tanh(a)
		}
		total += math.Exp(energy)
		for k := range p {
			p[k] += math.Exp(energy) * s[k]
		}
	}
	for k := range p {
		p[k] /= total
	}
	return p
}

// The formulas of the package comment by loops over the items of one user's windows, beside the batched model.
func Example() {
	c := dasl.Paper()
	c.Dim, c.Window = 4, 3
	m := dasl.New(2, [2]int{4, 5}, c, false, 1) // 2 users, 4 items of the target domain, 5 of the other
	w := weights{}
	for _, p := range m.Params() {
		nn.Uniform(2, 1)(p.Value, p.Name) // biases as well
		w[p.Name] = modeltest.Rows(p.Value)
	}
	own, cross := []int32{2, 1, 4}, []int32{5, 3, 1} // of user 1

	user := w["target.user"][1]
	states := append(w.read("target", own, user), w.read("auxiliary", cross, user)...)
	p := w.attend("target", states)

	items := []int32{1, 2, 3, 4}
	b := &dasl.Batch{User: []int32{1}, Own: own, Cross: cross}
	scores := m.Sampled(autograd.NewTape(), 0, b, items, []int32{0, 0, 0, 0})
	for k, i := range items {
		q := append(append([]float64(nil), w["target.item"][i]...), user...)
		score := modeltest.Dot(p, q) + w["target.itembias"][i][0] + w["target.userbias"][1][0]
		fmt.Printf("next item %d: formula %.4f, model %.4f\n", i, score, scores[k])
	}
	// Output:
	// next item 1: formula -0.3905, model -0.3905
	// next item 2: formula 1.2336, model 1.2336
	// next item 3: formula 0.8405, model 0.8405
	// next item 4: formula -0.0161, model -0.0161
}
