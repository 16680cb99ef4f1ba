package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// larger is a problem of many chunks and rows of the given length.
func larger(t testing.TB, layers, cols int, normalize, noisy, frontier bool) *setup {
	t.Helper()
	g := randomGraph(t, 9, 560, 620, 5000)
	s := &setup{
		p:     &nn.Propagation{Graph: g, Layers: layers, Weights: nn.EvenWeights(layers), NormalizeRows: normalize, Frontier: frontier},
		users: nn.NewParam("users", g.Users, cols, nn.Normal(3, 0.1)), items: nn.NewParam("items", g.Items, cols, nn.Normal(3, 0.1)),
	}
	draw := rng.Seed(4).Stream("batch")
	for range 20 {
		s.batchU = append(s.batchU, int32(draw.IntN(g.Users)))
		s.batchI = append(s.batchI, int32(draw.IntN(g.Items)), int32(draw.IntN(g.Items)))
	}
	if noisy {
		s.noise = &keyedNoise{sigma: 0.3, stream: rng.Seed(5).Stream("noise")}
		s.p.Noise = s.noise
	}
	return s
}

// outcome is the rows and the gradients of a step.
func (s *setup) outcome(t testing.TB) (parts [][]tensor.Float) {
	t.Helper()
	tape := autograd.NewTape()
	zu, zi, err := s.p.Rows(tape, s.users, s.items, s.batchU, s.batchI)
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(zu.Tanh().SumAll().Add(zi.Mul(zi).Sigmoid().SumAll()))
	for _, m := range []tensor.Matrix{zu.V, zi.V} {
		parts = append(parts, slices.Clone(m.Data))
	}
	for _, p := range []*autograd.Param{s.users, s.items} {
		g, ok := tape.Grads().Dense(p)
		if !ok {
			t.Fatalf("%s has no dense gradient", p.Name)
		}
		parts = append(parts, slices.Clone(g.Data))
	}
	return parts
}

// cases calls f for depths, row lengths and options on the larger problem.
func cases(t *testing.T, f func(t *testing.T, layers, cols int, normalize, noisy bool)) {
	for _, layers := range []int{1, 2, 3} {
		for _, cols := range []int{1, 64, 100} {
			for o := range 4 {
				t.Run(fmt.Sprintf("%d/%d/%02b", layers, cols, o), func(t *testing.T) { f(t, layers, cols, o&1 != 0, o&2 != 0) })
			}
		}
	}
}

// The rows that a batch does not need make no difference.
func TestFrontierEqualsFull(t *testing.T) {
	cases(t, func(t *testing.T, layers, cols int, normalize, noisy bool) {
		full := larger(t, layers, cols, normalize, noisy, false).outcome(t)
		some := larger(t, layers, cols, normalize, noisy, true).outcome(t)
		for k := range full {
			scale := 0.0
			for _, v := range full[k] {
				scale = max(scale, math.Abs(float64(v)))
			}
			for i, v := range full[k] {
				if math.Abs(float64(v-some[k][i])) > 1e-6*scale {
					t.Fatalf("part %d, element %d: %g with a frontier, %g in full", k, i, some[k][i], v)
				}
			}
		}
	})
}

func TestPropagationWorkers(t *testing.T) {
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	cases(t, func(t *testing.T, layers, cols int, normalize, noisy bool) {
		if cols == 1 || layers == 2 { // the frontier's test has them
			return
		}
		for _, frontier := range []bool{false, true} {
			var want [][]tensor.Float
			for _, workers := range []int{1, 2, 5} {
				tensor.SetWorkers(workers)
				s := larger(t, layers, cols, normalize, noisy, frontier)
				got := s.outcome(t)
				zu, zi := tensor.New(s.users.Value.Rows, cols), tensor.New(s.items.Value.Rows, cols)
				if err := s.p.All(s.users.Value, s.items.Value, zu, zi); err != nil {
					t.Fatal(err)
				}
				got = append(got, zu.Data, zi.Data)
				if want == nil {
					want = got
					continue
				}
				for k := range want {
					if !slices.Equal(got[k], want[k]) {
						t.Fatalf("frontier %v, part %d differs with %d workers", frontier, k, workers)
					}
				}
			}
		}
	})
}

// A propagation that was used before, for other batches, other options and all
// rows, gives what a new one gives.
func TestPropagationIsUsedAgain(t *testing.T) {
	used := larger(t, 3, 16, true, true, true)
	for o := range 16 {
		layers := 1 + o/4
		fresh := larger(t, layers, 16, o&1 != 0, o&2 != 0, o%3 == 0)
		used.p.Layers, used.p.Weights = fresh.p.Layers, fresh.p.Weights
		used.p.NormalizeRows, used.p.Frontier, used.p.Noise = fresh.p.NormalizeRows, fresh.p.Frontier, fresh.p.Noise
		used.batchU, used.batchI = fresh.batchU[o:], fresh.batchI[:o+1]
		fresh.batchU, fresh.batchI = fresh.batchU[o:], fresh.batchI[:o+1]
		a, b := used.outcome(t), fresh.outcome(t)
		for k := range a {
			if !slices.Equal(a[k], b[k]) {
				t.Fatalf("option %d, part %d depends on earlier calls", o, k)
			}
		}
		z := tensor.New(used.p.Graph.Users, 16)
		if err := used.p.All(used.users.Value, used.items.Value, z, tensor.New(used.p.Graph.Items, 16)); err != nil {
			t.Fatal(err)
		}
		if o == 7 {
			used.p.Close()
			used.p.Close()
		}
	}
}

// protocol checks that Begin, Add and End come as promised.
type protocol struct {
	t      *testing.T
	mu     sync.Mutex
	layer  int
	open   bool
	rows   [2]int
	came   [2]map[int]int // node -> rank
	layers []int
}

func (p *protocol) Begin(layer int, rows [2]int, cols int) error {
	if p.open || cols != testCols {
		p.t.Errorf("layer %d begins with %d open, rows of %d", layer, p.layer, cols)
	}
	p.open, p.layer, p.rows = true, layer, rows
	p.came = [2]map[int]int{{}, {}}
	return nil
}

func (p *protocol) Add(layer int, side nn.Side, first, rank int, rows []tensor.Float) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.open || layer != p.layer || len(rows) == 0 || len(rows)%testCols != 0 {
		p.t.Errorf("%d values for layer %d while %d is open: %v", len(rows), layer, p.layer, p.open)
	}
	for k := range len(rows) / testCols {
		if _, twice := p.came[side][first+k]; twice {
			p.t.Errorf("layer %d: node %d of side %d came twice", layer, first+k, side)
		}
		p.came[side][first+k] = rank + k
	}
	return nil
}

func (p *protocol) End(layer int) error {
	for side, came := range p.came {
		var nodes []int
		for v := range came {
			nodes = append(nodes, v)
		}
		slices.Sort(nodes)
		if len(nodes) != p.rows[side] {
			p.t.Errorf("layer %d, side %d: %d rows announced, %d came", layer, side, p.rows[side], len(nodes))
		}
		for rank, v := range nodes {
			if came[v] != rank {
				p.t.Errorf("layer %d, side %d: node %d has rank %d, want %d", layer, side, v, came[v], rank)
			}
		}
	}
	p.open = false
	p.layers = append(p.layers, layer)
	return nil
}

func TestNoiseComesOncePerRow(t *testing.T) {
	for _, frontier := range []bool{false, true} {
		for layers := 1; layers <= 4; layers++ {
			s := newSetup(t, "sym", layers, true, false, frontier)
			p := &protocol{t: t}
			s.p.Noise = p
			if _, _, err := s.p.Rows(autograd.NewTape(), s.users, s.items, s.batchU, s.batchI); err != nil {
				t.Fatal(err)
			}
			want := [2]int{s.p.Graph.Users, s.p.Graph.Items}
			if frontier {
				want = [2]int{4, 4} // distinct nodes of the batch
			}
			if p.open || p.rows != want || len(p.layers) != layers || !slices.IsSorted(p.layers) {
				t.Errorf("frontier %v: layers %v, last of %v rows, want %v", frontier, p.layers, p.rows, want)
			}
		}
	}
}

// failing is noise that fails at one point.
type failing struct{ at string }

var errNoise = errors.New("no entropy")

func (f failing) fail(at string) error {
	if f.at == at {
		return errNoise
	}
	return nil
}
func (f failing) Begin(layer int, _ [2]int, _ int) error { return f.fail(fmt.Sprint("begin ", layer)) }
func (f failing) End(layer int) error                    { return f.fail(fmt.Sprint("end ", layer)) }
func (f failing) Add(layer int, _ nn.Side, first, _ int, _ []tensor.Float) error {
	return f.fail(fmt.Sprint("add ", layer, " ", first))
}

func TestNoiseErrors(t *testing.T) {
	for _, at := range []string{"begin 1", "begin 2", "add 1 0", "add 2 4", "end 1", "end 2"} {
		s := newSetup(t, "sym", 2, true, false, true)
		s.p.Noise = failing{at}
		_, _, err := s.p.Rows(autograd.NewTape(), s.users, s.items, s.batchU, s.batchI)
		layer := "layer " + strings.Fields(at)[1]
		if !errors.Is(err, errNoise) || !strings.Contains(err.Error(), layer) {
			t.Errorf("%s: %v", at, err)
		}
		zu, zi := tensor.New(s.p.Graph.Users, testCols), tensor.New(s.p.Graph.Items, testCols)
		if err := s.p.All(s.users.Value, s.items.Value, zu, zi); !strings.HasPrefix(at, "add 2") && !errors.Is(err, errNoise) {
			t.Errorf("all, %s: %v", at, err)
		}
		s.p.Noise = nil
		if _, _, err := s.p.Rows(autograd.NewTape(), s.users, s.items, s.batchU, s.batchI); err != nil {
			t.Errorf("after %s: %v", at, err)
		}
	}
}

// again is another graph of the same rows.
func again(g *graph.Bipartite) *graph.Bipartite {
	return &graph.Bipartite{Users: g.Users, Items: g.Items, UserPtr: g.UserPtr, UserItem: g.UserItem, ItemPtr: g.ItemPtr, ItemUser: g.ItemUser}
}

func TestPropagationRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *setup)
		want   string
	}{
		"no graph":        {func(s *setup) { s.p.Graph = nil }, "without a graph"},
		"no layers":       {func(s *setup) { s.p.Layers, s.p.Weights = 0, []float64{1} }, "0 layers, want at least 1"},
		"weights":         {func(s *setup) { s.p.Weights = s.p.Weights[1:] }, "2 weights for layers 0 to 2"},
		"NaN":             {func(s *setup) { s.p.Weights[1] = math.NaN() }, "not finite"},
		"infinite":        {func(s *setup) { s.p.Weights[0] = math.Inf(-1) }, "not finite"},
		"users":           {func(s *setup) { s.users = autograd.NewParam("users", 22, testCols) }, "tables of 22 x 5 and 31 x 5 for 23 users and 31 items"},
		"items":           {func(s *setup) { s.items = autograd.NewParam("items", 32, testCols) }, "32 x 5"},
		"widths":          {func(s *setup) { s.items = autograd.NewParam("items", 31, 4) }, "31 x 4"},
		"no columns":      {func(s *setup) { s.users, s.items = autograd.NewParam("u", 23, 0), autograd.NewParam("i", 31, 0) }, "23 x 0"},
		"user outside":    {func(s *setup) { s.batchU[1] = 23 }, "user 23 at position 1 of the batch is outside 0..22"},
		"user negative":   {func(s *setup) { s.batchU[0] = -1 }, "user -1 at position 0"},
		"item outside":    {func(s *setup) { s.batchI[5] = 31 }, "item 31 at position 5 of the batch is outside 0..30"},
		"graph by hand":   {func(s *setup) { s.p.Graph = &graph.Bipartite{Users: 23, Items: 31} }, "do not rise from 0"},
		"graph too short": {func(s *setup) { g := again(s.p.Graph); g.UserPtr = g.UserPtr[1:]; s.p.Graph = g }, "rise from 0"},
		"graph outside": {func(s *setup) {
			g := again(s.p.Graph)
			g.ItemUser = slices.Clone(g.ItemUser)
			g.ItemUser[3] = 23
			s.p.Graph = g
		}, "users of items: tensor: pattern: entry 3 is in column 23 of 23"},
	} {
		s := newSetup(t, "sym", 2, true, false, true)
		c.change(s)
		if _, _, err := s.p.Rows(autograd.NewTape(), s.users, s.items, s.batchU, s.batchI); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	s := newSetup(t, "sym", 2, true, false, true)
	u, i := s.users.Value, s.items.Value
	if err := s.p.All(u, i, tensor.New(22, testCols), tensor.New(31, testCols)); err == nil {
		t.Error("all users into 22 rows")
	}
	if err := s.p.Product(u, i, u, tensor.New(31, 4)); err == nil {
		t.Error("a product into another shape")
	}
	stop := errors.New("enough")
	if err := s.p.Each(u, i, func(layer int, _ tensor.Matrix) error {
		if layer == 1 {
			return stop
		}
		return nil
	}); !errors.Is(err, stop) {
		t.Errorf("visit's error: %v", err)
	}
}

// What Rows kept for its backward is gone after another call.
func TestBackwardAfterAnotherCall(t *testing.T) {
	s := newSetup(t, "sym", 3, true, false, true)
	tape := autograd.NewTape()
	loss := s.loss(tape)
	if err := s.p.Product(s.users.Value, s.items.Value, tensor.New(23, testCols), tensor.New(31, testCols)); err != nil {
		t.Fatal(err)
	}
	defer func() {
		var e *autograd.Error
		if err, _ := recover().(error); !errors.As(err, &e) || !strings.Contains(err.Error(), "another call") {
			t.Errorf("backward after another call: %v", err)
		}
	}()
	tape.Backward(loss)
}

// Evaluation records no gradient, and parameters may be looked up beside it: both
// gradients add up.
func TestRowsBesideOtherUses(t *testing.T) {
	s := newSetup(t, "sym", 2, false, false, true)
	tape := autograd.NewTape()
	tape.NoGrad = true
	zu, _, err := s.p.Rows(tape, s.users, s.items, s.batchU, nil)
	if err != nil || zu.Needs() || zu.Rows() != len(s.batchU) {
		t.Fatalf("%v, %v", zu, err)
	}
	grad := func(loss func(t *autograd.Tape) *autograd.Node) tensor.Matrix {
		tape := autograd.NewTape()
		tape.GuardNaN = true
		tape.Backward(loss(tape))
		g, ok := tape.Grads().Dense(s.users)
		if !ok {
			t.Fatal("no dense gradient")
		}
		return g
	}
	alone := grad(s.loss)
	both := grad(func(t *autograd.Tape) *autograd.Node {
		return s.loss(t).Add(t.Rows(s.users, []int32{4, 4, 1}).SumAll())
	})
	for i, v := range alone.Data {
		want := v
		switch i / testCols {
		case 4:
			want += 2
		case 1:
			want++
		}
		if math.Abs(float64(both.Data[i]-want)) > 1e-6 {
			t.Fatalf("element %d: %g, want %g", i, both.Data[i], want)
		}
	}
}

// Normalised rows are never longer than 1, and zero rows stay zero.
func TestNormalisedRows(t *testing.T) {
	s := larger(t, 3, 64, true, false, false)
	for _, v := range []int{0, 7} {
		clear(tensor.Row(s.users.Value, v))
	}
	long := 0
	err := s.p.Each(s.users.Value, s.items.Value, func(layer int, x tensor.Matrix) error {
		for v := range x.Rows {
			norm := math.Sqrt(tensor.SumSq(tensor.Row(x, v)))
			if norm > 1 || norm != 0 && norm < 1-1e-6 {
				t.Errorf("layer %d, node %d: norm %.9g", layer, v, norm)
			}
			if norm > 0 {
				long++
			} else if layer == 0 && v != 0 && v != 7 {
				t.Errorf("node %d became zero", v)
			}
		}
		return nil
	})
	if err != nil || long < 3000 {
		t.Errorf("%d rows, %v", long, err)
	}
	s.batchU = []int32{0, 7, 3}
	for _, part := range s.outcome(t) {
		if at, ok := tensor.Finite(part); !ok {
			t.Errorf("element %d is %g", at, part[at])
		}
	}
}

// Product is one layer of the formula, Each gives what All adds up.
func TestProductAndEach(t *testing.T) {
	for _, norm := range []string{"sym", "right-clamp:3", "sum"} {
		s := newSetup(t, norm, 1, false, false, true)
		s.p.Weights = []float64{0, 1}
		want := dense(s.p, s.users.Value, s.items.Value, nil)
		zu, zi := tensor.New(23, testCols), tensor.New(31, testCols)
		if err := s.p.Product(s.users.Value, s.items.Value, zu, zi); err != nil {
			t.Fatal(err)
		}
		if err := s.p.Each(s.users.Value, s.items.Value, func(layer int, x tensor.Matrix) error {
			for v := range x.Rows {
				table, product, k := s.users.Value, zu, v
				if v >= 23 {
					table, product, k = s.items.Value, zi, v-23
				}
				exact := tensor.Row(table, k)
				if layer == 1 {
					exact = tensor.Row(product, k)
				}
				for c, got := range tensor.Row(x, v) {
					if got != exact[c] || layer == 1 && math.Abs(float64(got)-want[v][c]) > 1e-5 {
						t.Fatalf("%s, layer %d, (%d, %d): %g, product %g, formula %g", norm, layer, v, c, got, exact[c], want[v][c])
					}
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// A step in steady state allocates little: tables and lists are used again.
func TestPropagationAllocations(t *testing.T) {
	s := larger(t, 3, 64, true, false, true)
	tape := autograd.NewTape()
	step := func() {
		tape.Reset()
		tape.Backward(s.loss(tape))
	}
	step()
	step()
	if n := testing.AllocsPerRun(5, step); n > 200 {
		t.Errorf("a step allocates %v objects", n)
	} else {
		t.Logf("%v objects a step", n)
	}
}
