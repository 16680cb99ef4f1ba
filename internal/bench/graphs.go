package bench

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/bprmf"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/ngcf"
	"privrec/internal/nn"
	"privrec/internal/optim"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// most is the largest multiple of the edges that is measured.
const most = 4

// graphSeed is the seed of the graphs, tables and noise.
const graphSeed = rng.Seed(1)

// step makes training steps of a model on a graph: draw triples, forward, BPR loss with its
// penalty, backward, dense Adam.
type step struct {
	objective bpr.Objective
	tape      *autograd.Tape
	adam      *optim.Adam
	params    []*autograd.Param
	edges     int
	samples   []int32
	order     rng.Stream
	steps     int
	before    func(step int)
}

func newStep(g *graph.Bipartite, batch int, e bpr.Encoder) (*step, error) {
	sampler, err := bpr.NewSampler(g, bpr.SamplerOptions{Positives: bpr.Pass, Negatives: bpr.Unseen, Batch: batch,
		Seed: graphSeed})
	if err != nil {
		return nil, err
	}
	return &step{
		objective: bpr.Objective{Encoder: e, Sampler: sampler, Scale: 1, L2: 1e-4},
		tape:      autograd.NewTape(), adam: optim.NewAdam(0), params: e.Params(),
		edges: g.Edges(), samples: make([]int32, batch), order: graphSeed.Stream("bench.order"),
	}, nil
}

func (s *step) run() error {
	for k := range s.samples {
		s.samples[k] = int32(s.order.IntN(s.edges))
	}
	if s.before != nil {
		s.before(s.steps)
	}
	s.tape.Reset()
	loss, err := s.objective.Loss(s.tape, s.steps, s.samples)
	if err != nil {
		return err
	}
	s.tape.Backward(loss)
	s.steps++
	return s.adam.Step(s.params, s.tape.Grads(), 1e-3)
}

// Steps names the models whose training step can be measured.
func Steps() []string { return []string{"lightgcn", "rdpgcf", "ngcf", "bprmf"} }

// Step returns a function that measures the training step of a model named in Steps, on power-law graphs of the sizes
// of o with 1, 2 and 4 times the edges, or on the graph of a file. For lightgcn and rdpgcf it also measures a step that
// computes every row of every layer; for lightgcn one product of the graph with a table, and step and product with
// two-byte copies of the tables; and for bprmf the ranking of all items for all users, which costs the same for every
// model. The shape of ngcf ends with the loss of fixed weights that scripts/bench/graph.py also computes.
func Step(model string) func(ctx context.Context, o Options) ([]Result, error) {
	return func(ctx context.Context, o Options) ([]Result, error) {
		if o.Sizes == (Sizes{}) {
			o.Sizes = Gowalla()
		}
		if o.Graph != "" {
			g, err := readGraph(o.Graph)
			if err != nil {
				return nil, err
			}
			o.Sizes.Users, o.Sizes.Items, o.Sizes.Edges = g.Users, g.Items, g.Edges()
			return stepCases(ctx, o, model, o.Sizes, 1, g)
		}
		if err := o.Sizes.Check(); err != nil {
			return nil, err
		}
		var all []Result
		for times := 1; times <= most; times *= 2 {
			s := o.Sizes
			s.Edges *= times
			results, err := stepCases(ctx, o, model, s, times, nil)
			all = append(all, results...)
			if err != nil {
				return all, err
			}
		}
		return all, nil
	}
}

// stepCases measures one graph. A nil graph is made, but only if a case needs it.
func stepCases(ctx context.Context, o Options, model string, s Sizes, times int, g *graph.Bipartite) ([]Result, error) {
	var done []func()
	with := func(make func(g *graph.Bipartite) (func() error, []func(), error)) func() (func() error, error) {
		return func() (call func() error, err error) {
			for _, f := range done {
				f()
			}
			done = nil
			if g == nil {
				if g, err = powerLaw(s, graphSeed); err != nil {
					return nil, err
				}
			}
			call, done, err = make(g)
			return call, err
		}
	}
	defer func() {
		for _, f := range done {
			f()
		}
	}()
	shape := fmt.Sprintf("users=%d items=%d edges=%d dim=%d", s.Users, s.Items, s.Edges, s.Dim)
	deep := fmt.Sprintf("%s layers=%d batch=%d", shape, s.Layers, s.Batch)
	name := func(kind string) string { return fmt.Sprintf("%s_%s_%dx", model, kind, times) }
	training := func(frontier bool) func(g *graph.Bipartite) (func() error, []func(), error) {
		return func(g *graph.Bipartite) (func() error, []func(), error) {
			return newTraining(model, g, s, frontier, false)
		}
	}
	var cases []Case
	switch model {
	case "bprmf":
		cases = []Case{
			{name("step"), fmt.Sprintf("%s batch=%d", shape, s.Batch), with(training(false))},
			{name("rank"), fmt.Sprintf("%s depth=%d", shape, rankDepth), with(ranking(ctx, s))},
		}
	case "lightgcn":
		short := func(g *graph.Bipartite) (func() error, []func(), error) {
			return newTraining(model, g, s, true,
				true)
		}
		cases = []Case{
			{name("step"), deep, with(training(true))}, {name("full"), deep, with(training(false))},
			{name("product"), shape, with(product(s, false))},
			{name("step_bfloat16"), deep, with(short)}, {name("product_bfloat16"), shape, with(product(s, true))},
		}
	case "rdpgcf":
		cases = []Case{{name("step"), deep, with(training(true))}, {name("full"), deep, with(training(false))}}
	case "ngcf":
		loss, err := ngcfCheck()
		if err != nil {
			return nil, err
		}
		cases = []Case{{name("step"), fmt.Sprintf("%s loss=%.6f", deep, loss), with(training(false))}}
	default:
		return nil, fmt.Errorf("bench: no model %q, want one of %v", model, Steps())
	}
	results, err := Run(ctx, o, cases)
	for k, r := range results {
		if r.Name == name("product") || r.Name == name("product_bfloat16") {
			results[k].GFLOPS = 4 * float64(s.Edges) * float64(s.Dim) / r.MinS / 1e9 // both directions
		}
	}
	return results, err
}

// newTraining makes a model and returns a call of its training step. short uses two-byte copies of the tables.
func newTraining(model string, g *graph.Bipartite, s Sizes, frontier,
	short bool) (call func() error, done []func(), err error) {
	init := nn.Normal(graphSeed, 0.1)
	if model == "bprmf" {
		m := bprmf.New(g.Users, g.Items, s.Dim, init)
		st, err := newStep(g, s.Batch, m)
		if err != nil {
			return nil, nil, err
		}
		return st.run, []func(){func() { tensor.Free(m.User.Value); tensor.Free(m.Item.Value) }}, nil
	}
	if model == "ngcf" {
		m, err := ngcf.New(g, ngcf.Config{Dim: s.Dim, Layers: s.Layers, MessageDropout: 0.1}, graphSeed, init)
		if err != nil {
			return nil, nil, err
		}
		st, err := newStep(g, s.Batch, m)
		if err != nil {
			return nil, nil, err
		}
		return st.run, nil, nil
	}
	var norm graph.Normalizer
	m := lightgcn.New(g, norm, s.Layers, s.Dim, init)
	m.Over.Frontier, m.Over.Bfloat16 = frontier, short
	st, err := newStep(g, s.Batch, m)
	if err != nil {
		return nil, nil, err
	}
	if model == "rdpgcf" {
		noise, err := newLayerReleases(g)
		if err != nil {
			return nil, nil, err
		}
		m.Over.NormalizeRows, m.Over.Noise = true, noise
		st.before = noise.next
	}
	return st.run, []func(){m.Close}, nil
}

// ngcfCheck returns the mean BPR loss of fixedTriples on fixedGraph, without dropout, of a model of
// two layers of width 8 with the weights of fillFixed, between -1.2 and 1.2.
func ngcfCheck() (float64, error) {
	g, err := fixedGraph()
	if err != nil {
		return 0, err
	}
	m, err := ngcf.New(g, ngcf.Config{Dim: 8, Layers: 2}, graphSeed, nn.Zeros)
	if err != nil {
		return 0, err
	}
	for p, q := range m.Params() {
		fillFixed(q.Value, p, 2.4)
	}
	users, items := m.All()
	sum, t := 0.0, fixedTriples()
	for k, u := range t.Users {
		at := func(i int32) float64 {
			return float64(tensor.Dot(tensor.Row(users, int(u)), tensor.Row(items, int(i))))
		}
		sum += math.Log1p(math.Exp(at(t.Items[len(t.Users)+k]) - at(t.Items[k])))
	}
	return sum / float64(len(t.Users)), nil
}

// rankDepth is the length of the lists of a ranking.
const rankDepth = 20

// ranking returns a function that prepares a call which lists the best items of every user, without those in the graph.
func ranking(ctx context.Context, s Sizes) func(g *graph.Bipartite) (func() error, []func(), error) {
	return func(g *graph.Bipartite) (func() error, []func(), error) {
		users, items := tensor.NewTable(g.Users, s.Dim), tensor.NewTable(g.Items, s.Dim)
		nn.Normal(graphSeed, 1)(users, "users")
		nn.Normal(graphSeed, 1)(items, "items")
		everyone := make([]int32, g.Users)
		for u := range everyone {
			everyone[u] = int32(u)
		}
		call := func() error {
			seen := eval.Options{Exclude: func(user int32) []int32 { return g.ItemsOf(int(user)) }}
			_, err := eval.Top(ctx, &bpr.Ranking{Users: users, Goods: items}, everyone, rankDepth, seen)
			return err
		}
		return call, []func(){func() { tensor.Free(users); tensor.Free(items) }}, nil
	}
}

// product returns a function that prepares a call of A~ X and A~' Y, for tables of the sizes, or with short for
// two-byte copies of them, which the call makes.
func product(s Sizes, short bool) func(g *graph.Bipartite) (func() error, []func(), error) {
	return func(g *graph.Bipartite) (func() error, []func(), error) {
		p := &nn.Propagation{Graph: g, Layers: 1, Weights: []float64{0, 1}, Bfloat16: short}
		users, items := tensor.NewTable(g.Users, s.Dim), tensor.NewTable(g.Items, s.Dim)
		nn.Normal(graphSeed, 1)(users, "users")
		nn.Normal(graphSeed, 1)(items, "items")
		toUsers, toItems := tensor.NewTable(g.Users, s.Dim), tensor.NewTable(g.Items, s.Dim)
		free := func() {
			p.Close()
			for _, m := range []tensor.Matrix{users, items, toUsers, toItems} {
				tensor.Free(m)
			}
		}
		return func() error { return p.Product(users, items, toUsers, toItems) }, []func(){free}, nil
	}
}
