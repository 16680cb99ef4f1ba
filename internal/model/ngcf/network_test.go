package ngcf

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// taped is the rows of a batch by single operations of the tape over all nodes.
func taped(m *Model, t *autograd.Tape, step int, users, items []int32) (u, p *autograd.Node) {
	m.lap.drop(t.Training(), m.c.NodeDropout, m.seed.Stream("ngcf.node", uint64(step)))
	e := [2]*autograd.Node{t.Use(m.User), t.Use(m.Item)}
	out := [2]*autograd.Node{e[0].Gather(users), e[1].Gather(items)}
	for l := range m.Sum {
		var next [2]*autograd.Node
		for side, batch := range [2][]int32{users, items} {
			to, from := e[side], e[1-side]
			s := t.SpMM(m.lap.to[side], m.lap.back[side], from).Add(to.MulCol(t.Const(m.lap.own[side])))
			x := m.Sum[l].Forward(t, s).Add(m.Bi[l].Forward(t, to.Mul(s)))
			x = x.ReLU().Sub(x.Scale(-1).ReLU().Scale(slope))
			next[side] = x.Dropout(m.c.MessageDropout, m.seed.Stream("ngcf.message", uint64(step), uint64(l), uint64(side)))
			out[side] = out[side].ConcatCols(next[side].Gather(batch).NormalizeRows(1, shortest))
		}
		e = next
	}
	return out[0], out[1]
}

// crowd is a graph of more nodes than a block has, and some without an edge.
func crowd(t testing.TB, users, items, edges int, seed rng.Seed) *graph.Bipartite {
	t.Helper()
	s := seed.Stream("crowd")
	seen := map[graph.Edge]bool{}
	var list []graph.Edge
	for range edges {
		e := graph.Edge{User: int32(s.IntN(users) * s.IntN(users) / users), Item: int32(s.IntN(items))}
		if !seen[e] {
			seen[e] = true
			list = append(list, e)
		}
	}
	g, err := graph.NewBipartite(users, items, list)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func nodes(s *rng.Stream, n, of int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(s.IntN(of))
	}
	return out
}

// gradients are those of the sum of squares of a model's rows times fixed numbers.
func gradients(m *Model, rows func(t *autograd.Tape) (u, p *autograd.Node)) (values []tensor.Matrix, grads map[string]tensor.Matrix) {
	t := autograd.NewTape()
	u, p := rows(t)
	for _, x := range []*autograd.Node{u, p} {
		v := tensor.New(x.Rows(), x.Cols())
		copy(v.Data, x.V.Data)
		values = append(values, v)
	}
	weigh := func(x *autograd.Node, name string) *autograd.Node {
		c := nn.NewParam(name, x.Rows(), x.Cols(), nn.Normal(9, 1))
		return x.Mul(t.Const(c.Value)).SumSq()
	}
	t.Backward(weigh(u, "u").Add(weigh(p, "p")))
	grads = map[string]tensor.Matrix{}
	for _, p := range m.Params() {
		g, _ := t.Grads().Dense(p)
		c := tensor.New(g.Rows, g.Cols)
		copy(c.Data, g.Data)
		grads[p.Name] = c
	}
	return values, grads
}

// near demands equal matrices to within a share of the largest value.
func near(t testing.TB, what string, got, want tensor.Matrix) {
	t.Helper()
	if got.Rows != want.Rows || got.Cols != want.Cols {
		t.Fatalf("%s is %dx%d, want %dx%d", what, got.Rows, got.Cols, want.Rows, want.Cols)
	}
	size := 0.0
	for _, v := range want.Data {
		size = math.Max(size, math.Abs(float64(v)))
	}
	for i, v := range want.Data {
		if d := math.Abs(float64(got.Data[i] - v)); !(d <= 2e-5*size) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got.Data[i], v)
		}
	}
}

// Rows and gradients are those of the same network by single operations, over several
// blocks of rows, several words of bits, nodes that repeat and nodes without an edge.
func TestNetworkEqualsSingleOperations(t *testing.T) {
	for _, c := range []struct {
		users, items, edges int
		shape               Config
	}{
		{2*blockRows + 77, blockRows, 9000, Config{Dim: 5, Layers: 3, MessageDropout: 0.2, NodeDropout: 0.3}},
		{blockRows + 1, 300, 4000, Config{Dim: 70, Layers: 2, MessageDropout: 0.1}},
		{400, blockRows + 64, 3000, Config{Dim: 8, Layers: 1, NodeDropout: 0.1}},
		{40, 50, 200, Config{Dim: 64, Layers: 4, MessageDropout: 0.5, NodeDropout: 0.5}},
	} {
		t.Run(fmt.Sprint(c.shape), func(t *testing.T) {
			m, err := New(crowd(t, c.users, c.items, c.edges, 4), c.shape, 3, nn.Uniform(5, 0.4))
			if err != nil {
				t.Fatal(err)
			}
			s := rng.Seed(8).Stream("batch")
			users, items := nodes(&s, 90, c.users), nodes(&s, 180, c.items)
			for step := range 2 {
				values, grads := gradients(m, func(tape *autograd.Tape) (u, p *autograd.Node) {
					x, err := m.Encode(tape, step, users, items)
					if err != nil {
						t.Fatal(err)
					}
					return x.Users, x.Items
				})
				plain, want := gradients(m, func(tape *autograd.Tape) (u, p *autograd.Node) { return taped(m, tape, step, users, items) })
				near(t, "users", values[0], plain[0])
				near(t, "items", values[1], plain[1])
				for name, g := range want {
					near(t, "gradient of "+name, grads[name], g)
				}
				// Memory of all vectors and of a step is the same: neither may show in the other.
				zu, zi := m.All()
				tape := autograd.NewTape()
				tape.SetTraining(false)
				u, p := taped(m, tape, 0, users, items)
				for side, z := range []tensor.Matrix{zu, zi} {
					got := tensor.New(len([][]int32{users, items}[side]), z.Cols)
					for k, v := range [][]int32{users, items}[side] {
						copy(tensor.Row(got, k), tensor.Row(z, int(v)))
					}
					near(t, "all", got, []*autograd.Node{u, p}[side].V)
				}
			}
		})
	}
}

// Any batch of any small graph gives what single operations give, an empty one too.
func TestNetworkOnAnyGraph(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		users, items := rapid.IntRange(1, 6).Draw(rt, "users"), rapid.IntRange(1, 6).Draw(rt, "items")
		var edges []graph.Edge
		for u := range users {
			for i := range items {
				if rapid.Bool().Draw(rt, "edge") {
					edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
				}
			}
		}
		g, err := graph.NewBipartite(users, items, edges)
		if err != nil {
			rt.Fatal(err)
		}
		share := rapid.SampledFrom([]float64{0, 0.5})
		c := Config{Dim: rapid.IntRange(1, 4).Draw(rt, "dim"), Layers: rapid.IntRange(1, 3).Draw(rt, "layers"),
			MessageDropout: share.Draw(rt, "messages"), NodeDropout: share.Draw(rt, "nodes")}
		// Weights and biases away from 0 keep rows from being too short to be normalised alike.
		m, err := New(g, c, 3, nn.Uniform(rng.Seed(rapid.Uint64().Draw(rt, "seed")), 0.8))
		if err != nil {
			rt.Fatal(err)
		}
		batch := func(of int) []int32 { return rapid.SliceOfN(rapid.Int32Range(0, int32(of-1)), 0, 5).Draw(rt, "batch") }
		bu, bi := batch(users), batch(items)
		x, err := m.Encode(autograd.NewTape(), 1, bu, bi)
		if err != nil {
			rt.Fatal(err)
		}
		u, p := taped(m, autograd.NewTape(), 1, bu, bi)
		for side, pair := range [2][2]*autograd.Node{{x.Users, u}, {x.Items, p}} {
			for i, v := range pair[1].V.Data {
				if d := math.Abs(float64(pair[0].V.Data[i] - v)); d > 1e-3 {
					rt.Fatalf("side %d, value %d: %v, want %v", side, i, pair[0].V.Data[i], v)
				}
			}
		}
	})
}

// The bytes of a step do not depend on the number of workers.
func TestNetworkWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g := crowd(t, blockRows+200, 700, 6000, 2)
	var want map[string]tensor.Matrix
	for _, workers := range []int{1, 2, 5} {
		tensor.SetWorkers(workers)
		m, err := New(g, Config{Dim: 40, Layers: 3, MessageDropout: 0.1, NodeDropout: 0.1}, 3, nn.Uniform(5, 0.4))
		if err != nil {
			t.Fatal(err)
		}
		s := rng.Seed(8).Stream("batch")
		users, items := nodes(&s, 200, g.Users), nodes(&s, 400, g.Items)
		_, got := gradients(m, func(tape *autograd.Tape) (u, p *autograd.Node) {
			x, err := m.Encode(tape, 0, users, items)
			if err != nil {
				t.Fatal(err)
			}
			return x.Users, x.Items
		})
		if want == nil {
			want = got
		}
		for name, g := range want {
			for i, v := range g.Data {
				if got[name].Data[i] != v {
					t.Fatalf("%d workers: gradient of %s differs at %d", workers, name, i)
				}
			}
		}
	}
}

// What a step keeps is gone after the next call: the way back says so.
func TestBackwardOfAnEarlierCall(t *testing.T) {
	for name, call := range map[string]func(m *Model){
		"another step": func(m *Model) {
			if _, err := m.Encode(autograd.NewTape(), 1, []int32{0}, []int32{0}); err != nil {
				t.Fatal(err)
			}
		},
		"all vectors": func(m *Model) { m.All() },
	} {
		m := model(t, Config{Dim: 2, Layers: 2})
		tape := autograd.NewTape()
		x, err := m.Encode(tape, 0, []int32{0, 1}, []int32{2, 3})
		if err != nil {
			t.Fatal(err)
		}
		loss := x.Users.SumSq().Add(x.Items.SumSq())
		call(m)
		func() {
			defer func() {
				if e, ok := recover().(*autograd.Error); !ok || e.Op != "ngcf" {
					t.Errorf("%s: %v", name, e)
				}
			}()
			tape.Backward(loss)
		}()
	}
}

func TestEncodeRefusesNodes(t *testing.T) {
	m := model(t, Config{Dim: 2, Layers: 1})
	for _, c := range [][2][]int32{{{5}, {0}}, {{-1}, {0}}, {{0}, {6}}, {{0}, {-1}}} {
		if _, err := m.Encode(autograd.NewTape(), 0, c[0], c[1]); err == nil {
			t.Errorf("%v: no error", c)
		}
	}
}
