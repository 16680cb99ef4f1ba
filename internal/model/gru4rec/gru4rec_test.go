package gru4rec

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/rng"
)

// plain is the model on one session, from its formulas.
func plain(m *Model, s ggnntest.Session) []float64 {
	sigmoid := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	d := m.Item.Value.Cols
	table, u, bias := ggnntest.Values(m.Item), ggnntest.Values(m.GRU.Whh), ggnntest.Values(m.GRU.Bhh)[0]
	h := make([]float64, d)
	for _, at := range s.At {
		x := ggnntest.Affine(m.GRU.Wih, m.GRU.Bih, ggnntest.Dense{table[s.Items[at]]})[0]
		next, reset := make([]float64, d), make([]float64, d)
		for k := range d {
			reset[k] = h[k] * sigmoid(x[k]+ggnntest.Dot(u[k], h)+bias[k])
		}
		for k := range d {
			z := sigmoid(x[d+k] + ggnntest.Dot(u[d+k], h) + bias[d+k])
			c := math.Tanh(x[2*d+k] + ggnntest.Dot(u[2*d+k], reset) + bias[2*d+k])
			next[k] = (1-z)*h[k] + z*c
		}
		h = next
	}
	return h
}

func TestForwardEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		b := ggnntest.Draw(pick)
		m := New(b.Items, Config{Dim: pick("d", 1, 5)}, nn.Uniform(rng.Seed(pick("seed", 0, 1000)), 1))
		if err := b.Compare(m.Forward, func(_ int, s ggnntest.Session) []float64 { return plain(m, s) }); err != nil {
			rt.Fatal(err)
		}
	})
}

func TestGradients(t *testing.T) {
	b := ggnntest.Tiny()
	m := New(b.Items, Config{Dim: 3}, nn.Uniform(7, 0.8))
	g, err := b.Pack()
	if err != nil {
		t.Fatal(err)
	}
	err = gradcheck.Check(m.Params(), func(t *autograd.Tape) *autograd.Node {
		return t.TiedCrossEntropy(m.Forward(t, g), m.Item, 1, g.Label)
	})
	if err != nil {
		t.Error(err)
	}
}

func TestParamsHaveDistinctNames(t *testing.T) {
	ggnntest.CheckParams(t, New(3, Config{Dim: 2}, nn.Zeros).Params(), 5, "item")
}
