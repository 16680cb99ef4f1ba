package topn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/computed"
	"privrec/internal/run"
)

// Experiment is one model on one data set under the protocol. It implements run.Work,
// run.Forecaster and run.Answerer. Load makes it; the method gives it an Account, and a Model
// by Train or a Compute.
type Experiment struct {
	experiment.Core
	// Maker makes a model that is trained by epochs. Train sets it.
	experiment.Maker[Model, *graph.Bipartite]

	Method Method
	Data   *dataset.Interactions
	Graph  *graph.Bipartite // of the training rows

	// Compute takes the place of a Model: it returns one that is computed at once. A run calls it first, and writes
	// nothing before, so a killed run begins again. Answers of a finished run without vectors call it when they first
	// need scores, with that run's releases from Env.Ledger.
	Compute func(ctx context.Context) (*Made, error)
	// Fresh describes the noise in an answer of a Model. It is called when a finished run is deployed as a service.
	// Nil: there is no noise.
	Fresh func(release string) string
	// Had holds the rows that answers give as users' own if those of Data are changed ones; nil: those of Data.
	Had *dataset.Interactions

	// Beside returns models whose scores are floors too, for users with the rows of a graph. Nil: there are none.
	Beside func(g *graph.Bipartite) []computed.Model

	view        dataset.View     // of Data
	valid, test *part            // valid is nil without validation rows
	learned     *graph.Bipartite // whose edges are the positive pairs
	sampler     *bpr.Sampler
	tape        *autograd.Tape // of the evaluations
}

// part holds the rows to predict in one part of the split.
type part struct {
	name  string
	users []int32   // with at least one row, ascending
	find  [][]int32 // their items, for each of users
	seen  [][]int32 // by user of the data: items left out of the ranking
}

// Load reads the data of a method and builds the graph.
func Load(ctx context.Context, env *run.Env, m Method) (*Experiment, error) {
	return LoadChanged(ctx, env, m, func(d *dataset.Interactions) (*dataset.Interactions, error) { return d, nil })
}

// LoadChanged is Load for users who perturb their rows before they give them away. change returns the rows to learn
// from and those to measure, of the same users and items.
func LoadChanged(ctx context.Context, env *run.Env, m Method,
	change func(*dataset.Interactions) (*dataset.Interactions, error)) (*Experiment, error) {
	v := env.View()
	if v.HoldOut != nil && v.HoldOut.Labels && !m.Labels {
		return nil, &run.UsageError{Message: fmt.Sprintf("run.hold_out.labels: %s learns from all rows that it has",
			m.Name), Fix: "leave it out, and rows are held out whole; or take train gerai or train gcn"}
	}
	m.Train = m.Train.Scheduled()
	d, err := load(ctx, env, m.Data)
	if err != nil {
		return nil, err
	}
	if d, err = change(d); err != nil {
		return nil, err
	}
	for _, what := range v.Changes() { // other data than the profile's: no number in print is of them
		m.Standing.Text, m.Standing.Printed, m.Tables.Published = m.Standing.Text+", "+what, false, nil
	}
	x, err := prepare(env, m, d)
	if err == nil {
		x.view = v
	}
	return x, err
}

func load(ctx context.Context, env *run.Env, c DataConfig) (*dataset.Interactions, error) {
	defer env.Stage("load " + c.Name)()
	d, err := registry.LoadInteractions(ctx, c.Name, c.Recipe, env.View(), c.Options())
	if err != nil {
		return nil, err
	}
	if err := env.Private(d.Rows()); err != nil {
		return nil, err
	}
	return d, experiment.RecordSource(env, d.Source)
}

// Finished reports whether the experiment belongs to a finished run. It then needs no model, since its vectors are on
// file.
func (x *Experiment) Finished() bool {
	_, ok := x.Env.Finished()
	return ok
}

// prepare splits loaded data into their parts and returns the experiment.
func prepare(env *run.Env, m Method, d *dataset.Interactions) (x *Experiment, err error) {
	x = &Experiment{Core: experiment.Core{Env: env}, Method: m, Data: d, tape: autograd.NewTape()}
	if err := experiment.CheckCutoffs(m.Eval.K, d.Items, "ranked"); err != nil {
		return nil, err
	}
	if x.Graph, err = graphOf(d, d.Train); err != nil {
		return nil, err
	}
	named := experiment.DataOf(d.Name, d.Recipe, d.Source, d.Ladder, d.InPlace)
	x.test = newPart(named.Measured(), d.Test, d.Train, d.Valid)
	if len(x.test.users) == 0 {
		return nil, &dataset.Error{File: d.Name, Msg: fmt.Sprintf("the split leaves no %s rows", x.test.name)}
	}
	if err := x.checkCandidates(); err != nil {
		return nil, err
	}
	if d.Valid != nil {
		x.valid = newPart("validation", d.Valid, d.Train, nil)
	}
	if d.InPlace == dataset.ValidRows { // they choose epochs, and are measured too
		x.valid = x.test
	}
	t := m.Train
	if x.valid == nil && t.Select == SelectValidation {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"train.select: %s needs validation rows, which recipe %q of %s does not hold out", SelectValidation,
			d.Recipe, d.Name),
			Fix: "take a recipe that does, such as " + holding(d.Name) + ", or train.select=" + SelectLast}
	}
	if x.valid == nil && t.Patience > 0 {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"train.patience: %d epochs need validation rows to watch, which recipe %q of %s does not hold out",
			t.Patience, d.Recipe, d.Name),
			Fix: "take a recipe that does, such as " + holding(d.Name) + ", or train.patience=0"}
	}
	if t.Epochs == 0 {
		return x, nil
	}
	learned := x.Graph
	if d.Labels != nil {
		if learned, err = graphOf(d, d.Labels); err != nil {
			return nil, err
		}
	}
	return x, bpr.Named(x.LearnFrom(learned), d.Name, d.UserIDs)
}

// graphOf returns the graph of rows of the users and items of data.
func graphOf(d *dataset.Interactions, rows [][]int32) (*graph.Bipartite, error) {
	n := 0
	for _, items := range rows {
		n += len(items)
	}
	edges := make([]graph.Edge, 0, n)
	for u, items := range rows {
		for _, i := range items {
			edges = append(edges, graph.Edge{User: int32(u), Item: i})
		}
	}
	return graph.NewBipartite(d.Users, d.Items, edges)
}

// Positives returns the number of edges to learn.
func (x *Experiment) Positives() int { return x.learned.Edges() }

// LearnFrom draws the positive pairs of training from the edges of g, a graph of the same
// users and items. Without it they are drawn from Experiment.Graph. A *bpr.NoNegativeError is
// returned as it is.
func (x *Experiment) LearnFrom(g *graph.Bipartite) error {
	t := x.Method.Train
	o := bpr.SamplerOptions{Positives: t.Sampler, Negatives: t.Negatives, Each: t.Each, Batch: t.Batch,
		Seed: x.Env.Seed}
	if x.Data.Labels != nil { // a row that is no label is no negative either
		o.Seen = x.Graph
	}
	s, err := bpr.NewSampler(g, o)
	if err != nil {
		return err
	}
	x.learned, x.sampler = g, s
	return nil
}

// newPart returns a part with the users who have rows to predict. Their rankings leave out the rows of the other given
// parts.
func newPart(name string, find, train, other [][]int32) *part {
	p := &part{name: name, seen: train}
	for u, items := range find {
		if len(items) > 0 {
			p.users, p.find = append(p.users, int32(u)), append(p.find, items)
		}
	}
	if other != nil {
		p.seen = make([][]int32, len(train))
		for u := range train {
			p.seen[u] = slices.Concat(train[u], other[u])
		}
	}
	return p
}

// rows returns the number of rows to predict.
func (p *part) rows() int {
	n := 0
	for _, items := range p.find {
		n += len(items)
	}
	return n
}

// first returns the part with only its first users, at most n.
func (p *part) first(n int) *part {
	some := *p
	some.users = some.users[:min(n, len(some.users))]
	some.find = some.find[:len(some.users)]
	return &some
}

// metrics returns the metrics of the tables at the configured cutoffs.
func (x *Experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.Recall, metrics.NDCG}, x.Method.Eval.K)
}

// holding names recipes of a data set that hold out validation rows.
func holding(name string) string {
	return strings.Join(registry.Need{Cut: registry.Pairs, Valid: true}.Suiting(name), " or ")
}
