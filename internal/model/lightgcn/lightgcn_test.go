package lightgcn

import (
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/tensor"
)

// some is a graph with a user and an item without any edge.
func some(t *testing.T) *graph.Bipartite {
	t.Helper()
	g, err := graph.NewBipartite(5, 6, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}, {User: 1, Item: 2}, {User: 2, Item: 0}, {User: 2, Item: 3}, {User: 3, Item: 4}, {User: 3, Item: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func model(t *testing.T, g *graph.Bipartite, layers int) *Model {
	t.Helper()
	norm, err := graph.ParseNormalizer("sym")
	if err != nil {
		t.Fatal(err)
	}
	m := New(g, norm, layers, 3, nn.Uniform(5, 0.8))
	t.Cleanup(m.Close)
	return m
}

// plain is Z from eq. 3-4, by dense sums over all pairs.
func plain(g *graph.Bipartite, m *Model, layers int) (zu, zi [][]float64) {
	read := func(x tensor.Matrix) [][]float64 {
		rows := make([][]float64, x.Rows)
		for i := range rows {
			for _, v := range tensor.Row(x, i) {
				rows[i] = append(rows[i], float64(v))
			}
		}
		return rows
	}
	eu, ei := read(m.User.Value), read(m.Item.Value)
	zu, zi = read(m.User.Value), read(m.Item.Value)
	for range layers {
		nu, ni := make([][]float64, len(eu)), make([][]float64, len(ei))
		for u := range eu {
			nu[u] = make([]float64, 3)
		}
		for i := range ei {
			ni[i] = make([]float64, 3)
		}
		for u := range eu {
			for i := range ei {
				if !g.Has(int32(u), int32(i)) {
					continue
				}
				w := 1 / math.Sqrt(float64(g.UserDegree(u)*g.ItemDegree(i)))
				for k := range 3 {
					nu[u][k] += w * ei[i][k]
					ni[i][k] += w * eu[u][k]
				}
			}
		}
		eu, ei = nu, ni
		for u := range eu {
			for k := range 3 {
				zu[u][k] += eu[u][k]
			}
		}
		for i := range ei {
			for k := range 3 {
				zi[i][k] += ei[i][k]
			}
		}
	}
	for _, z := range [][][]float64{zu, zi} {
		for _, row := range z {
			for k := range row {
				row[k] /= float64(layers + 1)
			}
		}
	}
	return zu, zi
}

func same(t *testing.T, what string, got tensor.Matrix, want [][]float64) {
	t.Helper()
	if got.Rows != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, got.Rows, len(want))
	}
	for i, row := range want {
		for k, w := range row {
			if d := math.Abs(float64(tensor.Row(got, i)[k]) - w); d > 1e-5 {
				t.Errorf("%s: (%d,%d) is off by %v", what, i, k, d)
			}
		}
	}
}

func TestVectorsEqualTheFormulas(t *testing.T) {
	g := some(t)
	for layers := 1; layers <= 4; layers++ {
		m := model(t, g, layers)
		zu, zi := plain(g, m, layers)
		users, items, err := m.All()
		if err != nil {
			t.Fatal(err)
		}
		same(t, "users", users, zu)
		same(t, "items", items, zi)
		bu, bi := []int32{3, 0, 3, 4}, []int32{5, 1, 1, 0, 2}
		x, err := m.Encode(autograd.NewTape(), 0, bu, bi)
		if err != nil {
			t.Fatal(err)
		}
		for k, u := range bu {
			same(t, "users of a batch", tensor.RowsView(x.Users.V, k, k+1), zu[u:u+1])
		}
		for k, i := range bi {
			same(t, "items of a batch", tensor.RowsView(x.Items.V, k, k+1), zi[i:i+1])
		}
		for k, i := range bi { // the raw rows are penalised
			if got := tensor.Row(x.Penalised[1].V, k)[0]; got != tensor.Row(m.Item.Value, int(i))[0] {
				t.Errorf("penalised row %d is not the table's", k)
			}
		}
	}
}

func TestGradients(t *testing.T) {
	g := some(t)
	m := model(t, g, 2)
	s, err := bpr.NewSampler(g, bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: 4, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	o := bpr.Objective{Encoder: m, Sampler: s, Scale: 2, L2: 0.1}
	err = gradcheck.Check(m.Params(), func(tape *autograd.Tape) *autograd.Node {
		y, err := o.Loss(tape, 1, []int32{0, 3, 3, 7})
		if err != nil {
			t.Fatal(err)
		}
		return y
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEncodeReportsNodesOutside(t *testing.T) {
	m := model(t, some(t), 1)
	if _, err := m.Encode(autograd.NewTape(), 0, []int32{5}, []int32{0, 1}); err == nil {
		t.Error("no error for a user outside the graph")
	}
}

func TestParams(t *testing.T) {
	p := model(t, some(t), 1).Params()
	if len(p) != 2 || p[0].Name != "user" || p[1].Name != "item" || p[0].Value.Rows != 5 || p[1].Value.Rows != 6 {
		t.Errorf("%+v", p)
	}
}
