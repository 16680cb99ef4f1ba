package ngcf

import (
	"fmt"
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
func some(t testing.TB) *graph.Bipartite {
	t.Helper()
	g, err := graph.NewBipartite(5, 6, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}, {User: 1, Item: 2}, {User: 2, Item: 0}, {User: 2, Item: 3}, {User: 3, Item: 4}, {User: 3, Item: 1}})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func model(t testing.TB, c Config) *Model {
	t.Helper()
	m, err := New(some(t), c, 3, nn.Uniform(5, 0.8))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// entries is Lap as a dense matrix of all nodes.
func entries(m *Model) [][]float64 {
	users, n := m.User.Value.Rows, m.User.Value.Rows+m.Item.Value.Rows
	lap := make([][]float64, n)
	for v := range lap {
		lap[v] = make([]float64, n)
	}
	for side, off := range []int{0, users} {
		to := m.lap.to[side]
		for v := range to.Rows {
			lap[off+v][off+v] = float64(m.lap.own[side].Data[v])
			for e := to.Ptr[v]; e < to.Ptr[v+1]; e++ {
				lap[off+v][users-off+int(to.Idx[e])] = float64(to.Val[e])
			}
		}
	}
	return lap
}

// plain is the final vectors by dense sums over a given Lap.
func plain(m *Model, lap [][]float64) [][]float64 {
	d := m.c.Dim
	var e, out [][]float64
	for _, p := range []*autograd.Param{m.User, m.Item} {
		for i := range p.Value.Rows {
			var row []float64
			for _, v := range tensor.Row(p.Value, i) {
				row = append(row, float64(v))
			}
			e, out = append(e, row), append(out, append([]float64(nil), row...))
		}
	}
	for l := range m.Sum {
		next := make([][]float64, len(e))
		for v := range e {
			s := make([]float64, d)
			for w, a := range lap[v] {
				for k := range d {
					s[k] += a * e[w][k]
				}
			}
			next[v] = make([]float64, d)
			norm := 0.0
			for k := range d {
				x := float64(m.Sum[l].B.Value.Data[k]) + float64(m.Bi[l].B.Value.Data[k])
				for j := range d {
					x += float64(tensor.Row(m.Sum[l].W.Value, k)[j])*s[j] + float64(tensor.Row(m.Bi[l].W.Value, k)[j])*s[j]*e[v][j]
				}
				if x < 0 {
					x *= 0.2
				}
				next[v][k] = x
				norm += x * x
			}
			for _, x := range next[v] {
				out[v] = append(out[v], x/math.Sqrt(norm))
			}
		}
		e = next
	}
	return out
}

func same(t *testing.T, what string, got tensor.Matrix, want [][]float64) {
	t.Helper()
	for i, row := range want {
		if len(row) != got.Cols {
			t.Fatalf("%s: rows of %d, want %d", what, got.Cols, len(row))
		}
		for k, w := range row {
			if d := math.Abs(float64(tensor.Row(got, i)[k]) - w); d > 2e-5 {
				t.Errorf("%s: (%d,%d) is off by %v", what, i, k, d)
			}
		}
	}
}

func TestVectorsEqualTheFormulas(t *testing.T) {
	for _, c := range []Config{{Dim: 3, Layers: 1}, {Dim: 2, Layers: 3}, {Dim: 3, Layers: 2, MessageDropout: 0.5, NodeDropout: 0.5}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m := model(t, c)
			users, items := m.All() // without dropout, whatever the setting
			lap := entries(m)
			for v, row := range lap {
				sum := 0.0
				for _, a := range row {
					sum += a
				}
				if math.Abs(sum-1) > 1e-6 {
					t.Errorf("row %d of the propagation adds up to %v", v, sum)
				}
			}
			want := plain(m, lap)
			same(t, "users", users, want[:5])
			same(t, "items", items, want[5:])
		})
	}
}

// In training a batch's rows are those of the entries that were kept.
func TestNodeDropout(t *testing.T) {
	m := model(t, Config{Dim: 3, Layers: 2, NodeDropout: 0.4})
	bu, bi := []int32{3, 0, 3, 4}, []int32{5, 1, 1, 0}
	x, err := m.Encode(autograd.NewTape(), 9, bu, bi)
	if err != nil {
		t.Fatal(err)
	}
	lap := entries(m)
	want := plain(m, lap)
	var wu, wi [][]float64
	for _, u := range bu {
		wu = append(wu, want[u])
	}
	for _, i := range bi {
		wi = append(wi, want[5+i])
	}
	same(t, "users", x.Users.V, wu)
	same(t, "items", x.Items.V, wi)
	dropped, whole := 0, model(t, Config{Dim: 3, Layers: 2})
	whole.All()
	for v, row := range entries(whole) {
		for w, a := range row {
			switch got := lap[v][w]; {
			case a > 0 && got == 0:
				dropped++
			case math.Abs(got-a/0.6) > 1e-6:
				t.Errorf("entry (%d,%d) is %v, want 0 or %v", v, w, got, a/0.6)
			}
		}
	}
	if dropped == 0 {
		t.Error("nothing was dropped")
	}
	for side := range 2 {
		if b := m.lap.to[side].Transpose(); fmt.Sprint(*b) != fmt.Sprint(*m.lap.back[side]) {
			t.Errorf("side %d: the way back is not the transpose", side)
		}
	}
}

// Entries are dropped as often as asked for (Bernstein's bound, 1e-9 over all
// counts), anew each step, and alike in the same step.
func TestDropRate(t *testing.T) {
	m := model(t, Config{Dim: 1, Layers: 1})
	const steps, p = 20_000, 0.3
	counts := map[string]int{}
	for step := range steps {
		m.lap.drop(true, p, m.seed.Stream("ngcf.node", uint64(step)))
		for side := range 2 {
			for e, v := range m.lap.to[side].Val {
				if v == 0 {
					counts[fmt.Sprint("edge ", side, " ", e)]++
				}
			}
			for v, x := range m.lap.own[side].Data {
				if x == 0 {
					counts[fmt.Sprint("own ", side, " ", v)]++
				}
			}
		}
	}
	if len(counts) != 8+8+5+6 {
		t.Errorf("%d entries were dropped at some step, want all 27", len(counts))
	}
	l := math.Log(2 * 27 * 1e9)
	allowed := math.Sqrt(2*steps*p*(1-p)*l) + 2*l/3
	for name, n := range counts {
		if math.Abs(float64(n)-p*steps) > allowed {
			t.Errorf("%s dropped %d times of %d, want %.0f within %.0f", name, n, steps, p*steps, allowed)
		}
	}
}

func TestMessageDropoutIsKeyedByStep(t *testing.T) {
	m := model(t, Config{Dim: 3, Layers: 1, MessageDropout: 0.5})
	at := func(step int) []tensor.Float {
		x, err := m.Encode(autograd.NewTape(), step, []int32{0, 1, 2, 3}, []int32{0, 1, 2, 3, 4, 5, 0, 0})
		if err != nil {
			t.Fatal(err)
		}
		return append([]tensor.Float(nil), x.Items.V.Data...)
	}
	a := at(4)
	b := at(5)
	if fmt.Sprint(a) == fmt.Sprint(b) {
		t.Error("steps 4 and 5 drop alike")
	}
	if fmt.Sprint(a) != fmt.Sprint(at(4)) {
		t.Error("step 4 differs when made again")
	}
}

func TestGradients(t *testing.T) {
	m := model(t, Config{Dim: 3, Layers: 2, MessageDropout: 0.3, NodeDropout: 0.3})
	s, err := bpr.NewSampler(some(t), bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: 4, Seed: 2})
	if err != nil {
		t.Fatal(err)
	}
	o := bpr.Objective{Encoder: m, Sampler: s, Scale: 1, L2: 0.1}
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

func TestNewRefuses(t *testing.T) {
	for _, c := range []Config{{Layers: 1}, {Dim: 2}, {Dim: 2, Layers: 1, NodeDropout: 1}, {Dim: 2, Layers: 1, MessageDropout: -0.1}, {Dim: 2, Layers: 1, NodeDropout: math.NaN()}} {
		if _, err := New(some(t), c, 1, nn.Zeros); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}

func TestParamsHaveDistinctNames(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range model(t, Config{Dim: 2, Layers: 3}).Params() {
		if seen[p.Name] {
			t.Errorf("two parameters are named %q", p.Name)
		}
		seen[p.Name] = true
	}
	if len(seen) != 2+3*4 {
		t.Errorf("%d parameters, want 14", len(seen))
	}
}
