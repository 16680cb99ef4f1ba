package bprmf

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/tensor"
)

// blocks is a graph of two groups: users of a group have half of its items.
func blocks(t *testing.T) *graph.Bipartite {
	t.Helper()
	var edges []graph.Edge
	for u := range int32(8) {
		for i := range int32(8) {
			if u/4 == i/4 && (u+i)%2 == 0 {
				edges = append(edges, graph.Edge{User: u, Item: i})
			}
		}
	}
	g, err := graph.NewBipartite(8, 8, edges)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func objective(t *testing.T, g *graph.Bipartite, m *Model, batch int) *bpr.Objective {
	t.Helper()
	s, err := bpr.NewSampler(g, bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: batch, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	return &bpr.Objective{Encoder: m, Sampler: s, Scale: 1, L2: 0.02}
}

func TestGradients(t *testing.T) {
	g := blocks(t)
	m := New(8, 8, 3, nn.Uniform(7, 0.8))
	o := objective(t, g, m, 4)
	err := gradcheck.Check(m.Params(), func(tape *autograd.Tape) *autograd.Node {
		y, err := o.Loss(tape, 5, []int32{0, 3, 3, 9})
		if err != nil {
			t.Fatal(err)
		}
		return y
	})
	if err != nil {
		t.Error(err)
	}
}

// The loss is that of the formula on the rows of the triples, repeats penalised each
// time.
func TestLossEqualsTheFormula(t *testing.T) {
	g := blocks(t)
	m := New(8, 8, 3, nn.Uniform(7, 0.8))
	o := objective(t, g, m, 4)
	samples := []int32{0, 3, 3, 9}
	y, err := o.Loss(autograd.NewTape(), 5, samples)
	if err != nil {
		t.Fatal(err)
	}
	d := o.Sampler.Draw(5, samples)
	row := func(p *autograd.Param, k int32) []tensor.Float { return tensor.Row(p.Value, int(k)) }
	want, squares := 0.0, 0.0
	for k, u := range d.Users {
		x := 0.0
		for j, v := range row(m.User, u) {
			p, n := float64(row(m.Item, d.Items[k])[j]), float64(row(m.Item, d.Items[4+k])[j])
			x += float64(v) * (p - n)
			squares += float64(v)*float64(v) + p*p + n*n
		}
		want += math.Log1p(math.Exp(-x)) / 4
	}
	if want += 0.02 / 2 * squares / 4; math.Abs(y.Scalar()-want) > 1e-5 {
		t.Errorf("loss %v, want %v", y.Scalar(), want)
	}
}

// Trained on two groups, users score the items of their own group above the others.
func TestLearnsGroups(t *testing.T) {
	g := blocks(t)
	m := New(8, 8, 4, nn.Normal(1, 0.1))
	o := objective(t, g, m, g.Edges())
	all := make([]int32, g.Edges())
	for e := range all {
		all[e] = int32(e)
	}
	tape, adam := autograd.NewTape(), optim.NewAdam(0)
	for step := range 300 {
		tape.Reset()
		y, err := o.Loss(tape, step, all)
		if err != nil {
			t.Fatal(err)
		}
		tape.Backward(y)
		if err := adam.Step(m.Params(), tape.Grads(), 0.02); err != nil {
			t.Fatal(err)
		}
	}
	users, items := m.All()
	r := &bpr.Ranking{Users: users, Goods: items}
	scores := tensor.New(8, r.Items())
	if err := r.Score(nil, []int32{7, 6, 5, 4, 3, 2, 1, 0}, scores); err != nil {
		t.Fatal(err)
	}
	for k := range 8 {
		u := 7 - k
		own, other := math.Inf(1), math.Inf(-1)
		for i, s := range tensor.Row(scores, k) {
			switch {
			case g.Has(int32(u), int32(i)):
				own = min(own, float64(s))
			case i/4 != u/4:
				other = max(other, float64(s))
			}
		}
		if own <= other {
			t.Errorf("user %d scores an item of the other group %v, an own one %v", u, other, own)
		}
	}
}

func TestParams(t *testing.T) {
	p := New(3, 5, 2, nn.Zeros).Params()
	if len(p) != 2 || p[0].Name != "user" || p[1].Name != "item" || p[0].Value.Rows != 3 || p[1].Value.Rows != 5 || p[1].Value.Cols != 2 {
		t.Errorf("%+v", p)
	}
}
