package nn_test

import (
	"fmt"
	"math"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// randomGraph draws edges with heavy-tailed degrees; some nodes stay isolated.
func randomGraph(t testing.TB, seed rng.Seed, users, items, edges int) *graph.Bipartite {
	t.Helper()
	s := seed.Stream("graph")
	seen := map[graph.Edge]bool{}
	var list []graph.Edge
	for tries := 0; len(list) < edges && tries < 50*edges; tries++ {
		u, i := math.Pow(s.Float64(), 2), math.Pow(s.Float64(), 2)
		e := graph.Edge{User: int32(u * float64(users)), Item: int32(i * float64(items))}
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

// keyedNoise adds sigma times normals keyed by step, layer, side and node.
type keyedNoise struct {
	sigma  float64
	stream rng.Stream
	step   uint64
	cols   int
}

func (n *keyedNoise) Begin(_ int, _ [2]int, cols int) error {
	n.cols = cols
	return nil
}
func (n *keyedNoise) End(int) error { return nil }
func (n *keyedNoise) Add(layer int, side nn.Side, first, _ int, rows []tensor.Float) error {
	return n.each(layer, side, first, rows)
}

// testCols is the length of rows in tests that do not say.
const testCols = 5

func (n *keyedNoise) each(layer int, side nn.Side, first int, rows []tensor.Float) error {
	for k := 0; k < len(rows); k += n.cols {
		s := n.stream.Sub(n.step, uint64(layer), uint64(side), uint64(first+k/n.cols))
		for i := range n.cols {
			rows[k+i] += tensor.Float(n.sigma * s.NormFloat64())
		}
	}
	return nil
}

// dense is the propagation as its formulas read, in float64 over the full matrix.
func dense(p *nn.Propagation, users, items tensor.Matrix, noise *keyedNoise) [][]float64 {
	g := p.Graph
	n := g.Nodes()
	l, r := p.Norm.Factors(g)
	a := make([][]float64, n)
	for v := range a {
		a[v] = make([]float64, n)
	}
	for e := range g.Edges() {
		x := g.Edge(e)
		u, i := int(x.User), g.Users+int(x.Item)
		a[u][i], a[i][u] = l[u]*r[i], l[i]*r[u]
	}
	normalize := func(x []float64) {
		sum := 0.0
		for _, v := range x {
			sum += v * v
		}
		if p.NormalizeRows && sum > 0 {
			for k := range x {
				x[k] /= math.Sqrt(sum)
			}
		}
	}
	x, z := make([][]float64, n), make([][]float64, n)
	for v := range x {
		row := users
		k := v
		if v >= g.Users {
			row, k = items, v-g.Users
		}
		x[v] = make([]float64, row.Cols)
		for c, f := range tensor.Row(row, k) {
			x[v][c] = float64(f)
		}
		normalize(x[v])
		z[v] = make([]float64, row.Cols)
		for c := range z[v] {
			z[v][c] = p.Weights[0] * x[v][c]
		}
	}
	for layer := 1; layer <= p.Layers; layer++ {
		y := make([][]float64, n)
		for v := range y {
			y[v] = make([]float64, len(x[v]))
			for c := range y[v] {
				for j := range x {
					y[v][c] += a[v][j] * x[j][c]
				}
			}
			if noise != nil {
				side, id := nn.UserSide, v
				if v >= g.Users {
					side, id = nn.ItemSide, v-g.Users
				}
				row := make([]tensor.Float, len(y[v]))
				_ = noise.each(layer, side, id, row)
				for c := range row {
					y[v][c] += float64(row[c])
				}
			}
			normalize(y[v])
			for c := range y[v] {
				z[v][c] += p.Weights[layer] * y[v][c]
			}
		}
		x = y
	}
	return z
}

// setup is a small problem: tables, a propagation, a batch with repeats.
type setup struct {
	p              *nn.Propagation
	noise          *keyedNoise
	users, items   *autograd.Param
	batchU, batchI []int32
}

func newSetup(t testing.TB, norm string, layers int, normalize, noisy, frontier bool) *setup {
	t.Helper()
	g := randomGraph(t, 7, 23, 31, 90)
	n, err := graph.ParseNormalizer(norm)
	if err != nil {
		t.Fatal(err)
	}
	s := &setup{
		p:     &nn.Propagation{Graph: g, Norm: n, Layers: layers, NormalizeRows: normalize, Frontier: frontier},
		users: nn.NewParam("users", g.Users, testCols, nn.Normal(3, 0.5)), items: nn.NewParam("items", g.Items, testCols, nn.Normal(3, 0.5)),
		batchU: []int32{0, 4, 22, 4, 1}, batchI: []int32{30, 0, 2, 2, 9, 0},
	}
	for l := range layers + 1 {
		s.p.Weights = append(s.p.Weights, 0.4/float64(1+l))
	}
	if noisy {
		s.noise = &keyedNoise{sigma: 0.3, stream: rng.Seed(5).Stream("noise"), cols: testCols}
		s.p.Noise = s.noise
	}
	return s
}

// variants calls f for every normaliser, depth and option.
func variants(t *testing.T, f func(t *testing.T, s *setup)) {
	for _, norm := range []string{"sym", "sym-clamp:3", "right-clamp:2", "sum"} {
		for layers := 1; layers <= 4; layers++ {
			for o := range 8 {
				t.Run(fmt.Sprintf("%s/%d/%03b", norm, layers, o), func(t *testing.T) {
					f(t, newSetup(t, norm, layers, o&1 != 0, o&2 != 0, o&4 != 0))
				})
			}
		}
	}
}

func TestPropagationEqualsFormula(t *testing.T) {
	variants(t, func(t *testing.T, s *setup) {
		want := dense(s.p, s.users.Value, s.items.Value, s.noise)
		near := func(what string, got []tensor.Float, want []float64) {
			t.Helper()
			for c, v := range got {
				if math.Abs(float64(v)-want[c]) > 2e-6*(1+math.Abs(want[c])) {
					t.Fatalf("%s: %v, want %v", what, got, want)
				}
			}
		}
		tape := autograd.NewTape()
		zu, zi, err := s.p.Rows(tape, s.users, s.items, s.batchU, s.batchI)
		if err != nil {
			t.Fatal(err)
		}
		for k, u := range s.batchU {
			near(fmt.Sprint("user ", u), tensor.Row(zu.V, k), want[u])
		}
		for k, i := range s.batchI {
			near(fmt.Sprint("item ", i), tensor.Row(zi.V, k), want[s.p.Graph.Users+int(i)])
		}
		au, ai := tensor.New(s.users.Value.Rows, testCols), tensor.New(s.items.Value.Rows, testCols)
		if err := s.p.All(s.users.Value, s.items.Value, au, ai); err != nil {
			t.Fatal(err)
		}
		for v, row := range want {
			if v < au.Rows {
				near(fmt.Sprint("all, user ", v), tensor.Row(au, v), row)
			} else {
				near(fmt.Sprint("all, item ", v-au.Rows), tensor.Row(ai, v-au.Rows), row)
			}
		}
	})
}

// loss is a smooth function of the batch's rows in which each matters differently.
func (s *setup) loss(t *autograd.Tape) *autograd.Node {
	zu, zi, err := s.p.Rows(t, s.users, s.items, s.batchU, s.batchI)
	if err != nil {
		panic(err)
	}
	return zu.Tanh().SumAll().Add(zi.Mul(zi).Sigmoid().SumAll())
}

func TestPropagationGradient(t *testing.T) {
	variants(t, func(t *testing.T, s *setup) {
		few := gradcheck.Options{Max: 40}
		if err := few.Check([]*autograd.Param{s.users, s.items}, s.loss); err != nil {
			t.Error(err)
		}
	})
}
