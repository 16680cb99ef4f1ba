package apgnn

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/model/ggnn/ggnntest"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// dense is the model on one session, from its formulas.
func dense(m *Model, s ggnntest.Session, user []float64) []float64 {
	in, out := ggnntest.Normalised(s.In), ggnntest.Normalised(s.Out)
	h := s.States(ggnntest.Values(m.Item))
	for range m.Steps {
		x := ggnntest.Join(h, ggnntest.Repeat(user, len(h)))
		h = ggnntest.Cell(m.Cell, ggnntest.Join(
			ggnntest.Mul(in, ggnntest.Affine(m.In.W, m.In.B, x)),
			ggnntest.Mul(out, ggnntest.Affine(m.Out.W, m.Out.B, x)),
		), h)
	}
	return ggnntest.Readout(m.Read, s, h, user)
}

// withUsers is a model with one vector a user.
type withUsers struct {
	*Model
	users *autograd.Param
}

func newWithUsers(b ggnntest.Batch, d, userDim, steps int, init nn.Init) withUsers {
	return withUsers{New(b.Items, d, userDim, steps, init), nn.NewParam("user", len(b.Sequences), userDim, init)}
}

func (m withUsers) Forward(t *autograd.Tape, g *graph.Packed) *autograd.Node {
	return m.Model.Forward(t, g, t.Rows(m.users, g.User))
}

func TestForwardEqualsTheFormulas(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pick := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(rt, name) }
		b := ggnntest.Draw(pick)
		m := newWithUsers(b, pick("d", 1, 5), pick("user d", 1, 3), pick("steps", 1, 3), nn.Uniform(rng.Seed(pick("seed", 0, 1000)), 1))
		users := ggnntest.Values(m.users)
		err := b.Compare(m.Forward, func(i int, s ggnntest.Session) []float64 { return dense(m.Model, s, users[b.User[b.Samples[i]]]) })
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// A-PGNN counts repeats before it normalises: of 1's three transitions two go to
// item 2, which therefore weighs two thirds.
func TestRepeatsWeigh(t *testing.T) {
	b := ggnntest.Batch{Items: 3, Sequences: [][]int32{{1, 2, 1, 2, 1, 3, 1}}, User: []int32{0}, Length: []int32{6}, Samples: []int32{0}}
	g, err := b.Pack()
	if err != nil {
		t.Fatal(err)
	}
	_, out := g.CountWeights(nil, nil)
	sum := 0.0
	for e, s := range g.Src {
		if g.Node[s] == 1 && g.Node[g.Dst[e]] == 2 {
			sum += float64(out[e])
		}
	}
	if sum < 0.666 || sum > 0.667 {
		t.Errorf("1 -> 2 weighs %v of what leaves 1, want two thirds", sum)
	}
}

// So sessions that take the same transitions another number of times differ.
func TestCountsMatter(t *testing.T) {
	b := ggnntest.SameTransitions()
	b.User = []int32{0, 0} // one user's vector for both
	m := newWithUsers(b, 3, 2, 1, nn.Uniform(3, 1))
	g, err := ggnntest.SameTransitions().Pack()
	if err != nil {
		t.Fatal(err)
	}
	tape := autograd.NewTape()
	z := m.Model.Forward(tape, g, tape.Rows(m.users, b.User)).V
	if ggnntest.Near(tensor.Row(z, 0), ggnntest.Row(z, 1)) == nil {
		t.Error("the number of repeats changes nothing")
	}
}

func TestGradients(t *testing.T) {
	for steps := 1; steps <= 3; steps++ {
		t.Run(fmt.Sprintf("T=%d", steps), func(t *testing.T) {
			b := ggnntest.Tiny()
			m := newWithUsers(b, 3, 2, steps, nn.Uniform(8, 0.8))
			g, err := b.Pack()
			if err != nil {
				t.Fatal(err)
			}
			err = gradcheck.Check(append(m.Params(), m.users), func(t *autograd.Tape) *autograd.Node {
				return t.TiedCrossEntropy(m.Forward(t, g), m.Item, 1, g.Label)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestParamsHaveDistinctNames(t *testing.T) {
	ggnntest.CheckParams(t, New(3, 2, 2, 1, nn.Zeros).Params(), 15, "item")
}
