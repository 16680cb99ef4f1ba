package gerai

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/autograd/gradcheck"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// random returns a graph in which a user has each item with probability p, and features.
func random(t testing.TB, users, items int, p float64) (*graph.Bipartite, tensor.Matrix) {
	t.Helper()
	s := rng.Seed(5).Stream("graph")
	var edges []graph.Edge
	for u := range users {
		for i := range items {
			if s.Float64() < p {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	g, err := graph.NewBipartite(users, items, edges)
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New(users, 4)
	nn.Uniform(6, 1)(x, "features")
	return g, x
}

func build(t testing.TB, g *graph.Bipartite, x tensor.Matrix, c Config, init nn.Init) *Model {
	t.Helper()
	m, err := New(g, x, c, 3, init)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// draw returns n triples of the graph, and some users and items repeat.
func draw(g *graph.Bipartite, n int) bpr.Triples {
	s := rng.Seed(8).Stream("triples")
	t := bpr.Triples{Items: make([]int32, 2*n)}
	for k := range n {
		e := g.Edge(s.IntN(g.Edges()))
		t.Users = append(t.Users, e.User)
		t.Items[k], t.Items[n+k] = e.Item, int32(s.IntN(g.Items))
	}
	return t
}

// plant adds fixed noise to coefficients.
func plant(step int, linear, square []tensor.Float) error {
	s := rng.Seed(step).Stream("plant")
	for _, part := range [][]tensor.Float{linear, square} {
		for k := range part {
			part[k] += tensor.Float(s.NormFloat64())
		}
	}
	return nil
}

func plantTaylor(_ int, c []tensor.Float) error {
	c[0] += 0.2
	c[1] += 0.1
	return nil
}

// step is half the distance of two points: small, since ReLU and norms have kinks.
func step() float64 {
	if third := 1.0 / 3; float64(tensor.Float(third)) == third { // wide floats
		return 1e-5
	}
	return 1e-3
}

// The gradient of every parameter, for every choice of the network, of the loss and of the
// noise.
func TestGradients(t *testing.T) {
	g, x := random(t, 9, 12, 0.4)
	for name, c := range map[string]struct {
		c    Config
		o    Objective
		init nn.Init
	}{
		"polynomial":         {Config{3, Sigmoid, Rational, Glorot, 0}, Objective{}, nn.Uniform(2, 0.8)},
		"exact":              {Config{3, Sigmoid, Rational, Glorot, 0}, Objective{Exact: true}, nn.Uniform(2, 0.8)},
		"noise on h":         {Config{3, Sigmoid, Rational, Glorot, 0}, Objective{Coefficients: plant}, nn.Uniform(2, 0.8)},
		"noise on the loss":  {Config{3, Sigmoid, Rational, Glorot, 0}, Objective{Taylor: plantTaylor}, nn.Uniform(2, 0.8)},
		"penalty":            {Config{3, Sigmoid, Rational, Glorot, 0}, Objective{Gamma: 0.3, Sum: 4}, nn.Uniform(2, 0.8)},
		"ReLU, sigmoid of q": {Config{3, ReLU, Sigmoid, Glorot, 0}, Objective{}, nn.Uniform(4, 0.8)},
		"clip":               {Config{3, Sigmoid, Clip, Glorot, 0}, Objective{}, nn.Uniform(9, 0.8)},
		"few neighbours":     {Config{3, Sigmoid, Sigmoid, Glorot, 2}, Objective{Coefficients: plant, Gamma: 0.1, Sum: 1}, nn.Uniform(2, 0.8)},
	} {
		m := build(t, g, x, c.c, c.init)
		for _, n := range []int{1, 7} {
			triples := draw(g, n)
			err := gradcheck.Options{Step: step()}.Check(m.Params(), func(tape *autograd.Tape) *autograd.Node {
				loss, err := m.Loss(tape, 1, triples, c.o)
				if err != nil {
					t.Fatal(err)
				}
				return loss
			})
			if err != nil {
				t.Errorf("%s, %d triples: %v", name, n, err)
			}
		}
	}
}

// The gradient of every operand of attention, large against the loss, for a node that looks at
// many others and for more nodes than a tile or a part holds.
func TestAttentionGradients(t *testing.T) {
	for _, hidden := range []string{Sigmoid, ReLU} {
		for _, users := range []int{2, 40} {
			g, _ := random(t, users, 70, 0.8)
			p := newPlan(g)
			p.of(draw(g, 3), 0, rng.Stream{})
			const d = 3
			init := nn.Uniform(11, 1)
			own, seen := nn.NewParam("own", p.to.Rows, d, init), nn.NewParam("seen", p.to.Cols, d, init)
			message, weigh, to := nn.NewParam("message", p.to.Cols, d, init), nn.NewParam("weigh", 1, d, nn.Uniform(12, 3)), nn.NewParam("to", p.to.Rows, d, nn.Uniform(13, 20))
			if hidden == ReLU { // own + seen is at least 0.5 from the kink
				for _, p := range []*autograd.Param{own, seen} {
					for k, x := range p.Value.Data {
						p.Value.Data[k] = tensor.Float(math.Round(3 * float64(x)))
					}
				}
				for k := range own.Value.Data {
					own.Value.Data[k] += 0.5
				}
			}
			err := gradcheck.Options{Max: 40}.Check([]*autograd.Param{own, seen, message, weigh}, func(t *autograd.Tape) *autograd.Node {
				return attend(t.Use(own), t.Use(seen), t.Use(message), t.Use(weigh), &p, hidden).Mul(t.Const(to.Value)).SumAll()
			})
			if err != nil {
				t.Errorf("%s, %d users: %v", hidden, users, err)
			}
		}
	}
}

// Numbers of any size give the formula, those too whose exponentials have no finite product.
func TestAttentionFarFromZero(t *testing.T) {
	const d = 20
	p := plan{to: tensor.CSR{Rows: 2, Cols: 4, Ptr: []int64{0, 3, 5}, Idx: []int32{0, 2, 3, 1, 2}}}
	init := nn.Uniform(11, 3)
	own, seen, message, weigh := nn.NewParam("own", 2, d, init), nn.NewParam("seen", 4, d, init), nn.NewParam("message", 4, d, init), nn.NewParam("weigh", 1, d, init)
	for _, at := range [][2]tensor.Float{{0, 0}, {39, -39}, {-39, 39}, {39, 39}, {60, -60}, {200, -200}, {-200, 200}, {1e4, 1e4}, {-1e4, -1e4}} {
		tensor.Row(seen.Value, 2)[7], tensor.Row(own.Value, 0)[7] = at[0], at[1]
		tape := autograd.NewTape()
		y := attend(tape.Use(own), tape.Use(seen), tape.Use(message), tape.Use(weigh), &p, Sigmoid)
		tape.Backward(y.SumSq())
		for _, q := range []*autograd.Param{own, seen, message, weigh} {
			if g, _ := tape.Grads().Dense(q); slices.ContainsFunc(g.Data, func(v tensor.Float) bool { return v-v != 0 }) {
				t.Errorf("%v: the gradient of %s is not finite", at, q.Name)
			}
		}
		for c := range 2 {
			want, total := make([]float64, d), 0.0
			for _, k := range p.to.Idx[p.to.Ptr[c]:p.to.Ptr[c+1]] {
				score := 0.0
				for i, w := range weigh.Value.Data {
					score += float64(w) / (1 + math.Exp(-float64(tensor.Row(own.Value, c)[i])-float64(tensor.Row(seen.Value, int(k))[i])))
				}
				total += math.Exp(score)
				for i, m := range tensor.Row(message.Value, int(k)) {
					want[i] += math.Exp(score) * float64(m)
				}
			}
			for i, v := range tensor.Row(y.V, c) {
				if w := want[i] / total; !(math.Abs(float64(v)-w) <= 1e-4) {
					t.Errorf("%v: centre %d, element %d is %v, want %v", at, c, i, v, w)
				}
			}
		}
	}
}

// gradients returns the gradients of a step by parameter.
func gradients(t testing.TB, m *Model, triples bpr.Triples, o Objective) map[string][]tensor.Float {
	t.Helper()
	tape := autograd.NewTape()
	loss, err := m.Loss(tape, 1, triples, o)
	if err != nil {
		t.Fatal(err)
	}
	tape.Backward(loss)
	all := map[string][]tensor.Float{"loss": {loss.V.Data[0]}}
	for _, p := range m.Params() {
		g, ok := tape.Grads().Dense(p)
		if !ok {
			t.Fatalf("%s has no gradient", p.Name)
		}
		all[p.Name] = g.Data
	}
	return all
}

// Noise in the coefficients of h reaches no other parameter within a step.
func TestNoiseOfCoefficientsMovesOnlyH(t *testing.T) {
	g, x := random(t, 9, 12, 0.4)
	m := build(t, g, x, Config{5, Sigmoid, Rational, Glorot, 0}, nn.Uniform(2, 0.8))
	triples := draw(g, 20)
	without, with := gradients(t, m, triples, Objective{}), gradients(t, m, triples, Objective{Coefficients: plant})
	for name := range without {
		if same := slices.Equal(without[name], with[name]); same == (name == "h" || name == "loss") {
			t.Errorf("%s: the same gradient is %v", name, same)
		}
	}
	scalar := gradients(t, m, triples, Objective{Taylor: plantTaylor})
	for name := range without {
		if slices.Equal(without[name], scalar[name]) {
			t.Errorf("%s: noise on the numbers of the Taylor form does not show", name)
		}
	}
	// Coefficients that get no noise give the gradient of h that triples give.
	quiet := gradients(t, m, triples, Objective{Coefficients: func(int, []tensor.Float, []tensor.Float) error { return nil }})
	for k, want := range without["h"] {
		if got := quiet["h"][k]; math.Abs(float64(got-want)) > 1e-5*(1+math.Abs(float64(want))) {
			t.Errorf("h[%d]: %v by coefficients, %v by triples", k, got, want)
		}
	}
}

// The Taylor form is the exact loss up to x⁴/192: half the distance from 0, a sixteenth of the
// error.
func TestPolynomialIsExactToThirdOrder(t *testing.T) {
	f := func(x float64) float64 { return math.Log1p(math.Exp(-x)) - (math.Ln2 - x/2 + x*x/8) }
	for _, sign := range []float64{-1, 1} {
		for x := 0.5; x > 0.02; x /= 2 {
			if r := f(sign*x) / f(sign*x/2); math.Abs(r-16) > 16*x*x/8 {
				t.Errorf("between %v and its half the error shrinks by %v", sign*x, r)
			}
		}
	}
	// The model's two losses on the same triple, h scaled to reach x.
	g, features := random(t, 9, 12, 0.4)
	m := build(t, g, features, Config{4, Sigmoid, Rational, Glorot, 0}, nn.Uniform(2, 0.8))
	triples := draw(g, 1)
	at := func(scale float64, exact bool) (loss float64) {
		kept := slices.Clone(m.H.Value.Data)
		defer copy(m.H.Value.Data, kept)
		tensor.Scale(tensor.Float(scale), m.H.Value.Data)
		y, err := m.Loss(autograd.NewTape(), 0, triples, Objective{Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		return y.Scalar()
	}
	const tiny = 1.0 / 64
	unit := -2 * (at(tiny, true) - math.Ln2) / tiny // x at scale 1, by the slope of the exact loss at 0
	error1, error2 := at(4/unit, false)-at(4/unit, true), at(2/unit, false)-at(2/unit, true)
	if want := f(2) / f(4); math.Abs(error2/error1-want) > 0.02 {
		t.Errorf("errors %v and %v at 4 and 2, ratio %v, want %v", error1, error2, error2/error1, want)
	}
}

// Bytes do not depend on the number of workers, nor on whether only the nodes of the step or
// all are computed. The wide model's table is more than a piece of the penalty.
func TestWorkers(t *testing.T) {
	defer tensor.SetWorkers(tensor.Workers())
	g, x := random(t, 200, 150, 0.2)
	for _, most := range []int{0, 5} {
		for _, dim := range []int{12, 60} {
			m := build(t, g, x, Config{dim, Sigmoid, Rational, Glorot, most}, nn.Uniform(2, 0.5))
			triples := draw(g, 100)
			for k, o := range []Objective{{}, {Coefficients: plant, Gamma: 2, Sum: 100}, {Exact: true, Gamma: 2, Sum: 100}} {
				var want map[string][]tensor.Float
				for _, n := range []int{1, 2, 5} {
					tensor.SetWorkers(n)
					got := gradients(t, m, triples, o)
					if want == nil {
						want = got
					}
					for name := range want {
						if !slices.Equal(got[name], want[name]) {
							t.Errorf("%d workers, %d neighbours, width %d, objective %d: %s differs", n, most, dim, k, name)
						}
					}
				}
			}
		}
	}
}

// A step that touches few nodes computes no others, and gives what a step over all nodes gives.
func TestFewNodes(t *testing.T) {
	g, x := random(t, 60, 80, 0.05)
	m := build(t, g, x, Config{6, Sigmoid, Rational, Glorot, 0}, nn.Uniform(2, 0.7))
	triples := draw(g, 2)
	few := gradients(t, m, triples, Objective{})
	if m.plan.whole || m.plan.to.Cols > 60 {
		t.Fatalf("%d nodes for 2 triples", m.plan.to.Cols)
	}
	users, items := m.Vectors()
	r := &Ranking{Users: users, Goods: items, H: m.H.Value, Norm: Rational}
	scores, want := tensor.New(2, g.Items), 0.0
	if err := r.Score(nil, triples.Users, scores); err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		d := float64(scores.Data[k*g.Items+int(triples.Items[k])] - scores.Data[k*g.Items+int(triples.Items[2+k])])
		want += (math.Ln2 - d/2 + d*d/8) / 2
	}
	if got := float64(few["loss"][0]); math.Abs(got-want) > 1e-6 {
		t.Errorf("loss %v, by the scores of all nodes %v", got, want)
	}
	for k, row := range modelRows(few["item"], 6) {
		seen := slices.Contains(m.plan.nodes, int32(g.Users+k))
		if moved := slices.ContainsFunc(row, func(v tensor.Float) bool { return v != 0 }); moved && !seen {
			t.Errorf("item %d, which is not in the step, has a gradient", k)
		}
	}
}

func modelRows(x []tensor.Float, d int) (rows [][]tensor.Float) {
	for len(x) > 0 {
		rows, x = append(rows, x[:d]), x[d:]
	}
	return rows
}

// A node looks at no more neighbours than the cap, each of its own, every one of them at
// times; another step draws others.
func TestSampledNeighbours(t *testing.T) {
	g, _ := random(t, 6, 30, 0.6)
	p := newPlan(g)
	triples := draw(g, 4)
	met, lists := map[int32]bool{}, map[string]bool{}
	user := triples.Users[0]
	for step := range uint64(200) {
		p.of(triples, 3, rng.Seed(1).Stream("t").Sub(step))
		for k, c := range p.centres {
			list := p.to.Idx[p.to.Ptr[k]:p.to.Ptr[k+1]]
			node := func(row int32) int32 {
				if p.whole {
					return row
				}
				return p.nodes[row]
			}
			if node(list[0]) != c || len(list) > 4 {
				t.Fatalf("node %d looks at %v", c, list)
			}
			for j, row := range list[1:] {
				v := node(row)
				u, i := c, v-int32(g.Users)
				if int(c) >= g.Users {
					u, i = v, c-int32(g.Users)
				}
				if !g.Has(u, i) || j > 0 && row <= list[j] {
					t.Fatalf("node %d looks at %v", c, list)
				}
				if c == user {
					met[v] = true
				}
			}
			if c == user {
				lists[fmt.Sprint(list)] = true
			}
		}
	}
	if len(met) != g.UserDegree(int(user)) || len(lists) < 50 { // a neighbour is missed with probability below (1-3/18)^200 = 1e-16
		t.Errorf("%d of %d neighbours met, %d lists", len(met), g.UserDegree(int(user)), len(lists))
	}
}

// With the paper's initial values and clip no entry of q passes a gradient, and Loss says so.
func TestDead(t *testing.T) {
	g, x := random(t, 30, 40, 0.3)
	c := Config{60, Sigmoid, Clip, Normal, 0}
	m := build(t, g, x, c, c.Initial(1))
	_, err := m.Loss(autograd.NewTape(), 4, draw(g, 10), Objective{Alive: 0.01})
	var dead *DeadError
	if !errors.As(err, &dead) || dead.Step != 4 || !strings.Contains(err.Error(), "initial values n01") {
		t.Errorf("%v", err)
	}
	c.Norm, c.Init = Rational, Glorot
	m = build(t, g, x, c, c.Initial(1))
	if _, err := m.Loss(autograd.NewTape(), 4, draw(g, 10), Objective{Alive: 0.01}); err != nil {
		t.Error(err)
	}
}

// Glorot's q are small and most of them above 0.
func TestInitial(t *testing.T) {
	g, x := random(t, 30, 40, 0.3)
	c := Default()
	m := build(t, g, x, c, c.Initial(1))
	for _, p := range m.Params() {
		std := math.Sqrt(tensor.SumSq(p.Value.Data) / float64(len(p.Value.Data)))
		want := map[string]float64{"user": 0.1, "item": 0.1, "h": 1 / math.Sqrt(60), "pair.item.b": 0.1,
			"attend.message.W": math.Sqrt(2. / 180), "attend.self.W": math.Sqrt(2. / 180), "pair.user.W": math.Sqrt(2. / 180), "pair.item.W": math.Sqrt(2. / 180),
			"attend.weigh": math.Sqrt(2. / 61), "update.W": math.Sqrt(2. / 120)}[p.Name]
		switch {
		case strings.HasSuffix(p.Name, ".b") && p.Name != "pair.item.b" && std != 0,
			strings.HasSuffix(p.Name, ".W") && std == 0,
			want > 0 && math.Abs(std/want-1) > 0.35: // 60 numbers: more than 5 standard errors
			t.Errorf("%s: standard deviation %v, want %v", p.Name, std, want)
		}
	}
}

func TestRefuses(t *testing.T) {
	g, x := random(t, 9, 12, 0.4)
	for what, c := range map[string]Config{
		"width":          {0, Sigmoid, Clip, Glorot, 0},
		"hidden layer":   {3, "tanh", Clip, Glorot, 0},
		"norm":           {3, Sigmoid, "none", Glorot, 0},
		"initial values": {3, Sigmoid, Clip, "zero", 0},
		"neighbours":     {3, Sigmoid, Clip, Glorot, -1},
	} {
		if _, err := New(g, x, c, 1, nn.Zeros); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := New(g, tensor.New(8, 4), Default(), 1, nn.Zeros); err == nil {
		t.Error("features of other users were taken")
	}
	m := build(t, g, x, Config{3, Sigmoid, Rational, Glorot, 0}, nn.Uniform(1, 1))
	for _, bad := range []bpr.Triples{{}, {Users: []int32{1}, Items: []int32{1}}, {Users: []int32{1}, Items: []int32{1, 2, 3}}} {
		if _, err := m.Loss(autograd.NewTape(), 0, bad, Objective{}); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
	failed := errors.New("no noise")
	for _, o := range []Objective{
		{Coefficients: func(int, []tensor.Float, []tensor.Float) error { return failed }},
		{Taylor: func(int, []tensor.Float) error { return failed }},
	} {
		if _, err := m.Loss(autograd.NewTape(), 0, draw(g, 3), o); !errors.Is(err, failed) {
			t.Errorf("%v", err)
		}
	}
	defer func() {
		if e, ok := recover().(*autograd.Error); !ok || !strings.Contains(e.Error(), "another step") {
			t.Errorf("%v", e)
		}
	}()
	tape := autograd.NewTape()
	loss, err := m.Loss(tape, 0, draw(g, 3), Objective{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Loss(autograd.NewTape(), 1, draw(g, 3), Objective{}); err != nil {
		t.Fatal(err)
	}
	tape.Backward(loss)
}

// A ranking has the bits that one pair after the other has, for all norms and any number of items.
func TestScoresAreThoseOfPairs(t *testing.T) {
	for _, norm := range []string{Rational, Clip, Sigmoid} {
		for _, n := range []int{1, rankBlock, 2*rankBlock + 5} {
			const d = 13
			r := &Ranking{Users: tensor.New(3, d), Goods: tensor.New(n, d), H: tensor.New(1, d), Norm: norm}
			for name, m := range map[string]tensor.Matrix{"users": r.Users, "items": r.Goods, "h": r.H} {
				nn.Uniform(4, 1)(m, name)
			}
			users, scores := []int32{2, 0}, tensor.New(2, n)
			if err := r.Score(nil, users, scores); err != nil {
				t.Fatal(err)
			}
			q, slope := make([]tensor.Float, d), make([]tensor.Float, d)
			for k, u := range users {
				for i, got := range tensor.Row(scores, k) {
					tensor.SumTo(q, tensor.Row(r.Users, int(u)), tensor.Row(r.Goods, i))
					norms[norm](q, slope)
					if want := tensor.Dot(r.H.Data, q); got != want {
						t.Fatalf("%s, user %d, item %d of %d: %v, want %v", norm, u, i, n, got, want)
					}
				}
			}
		}
	}
}
