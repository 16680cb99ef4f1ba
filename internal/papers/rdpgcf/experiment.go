package rdpgcf

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/graph"
	"privrec/internal/metrics"
	"privrec/internal/model/bpr"
	"privrec/internal/nn"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// model gives users and items their vectors, for a step of training and for ranking.
type model interface {
	bpr.Encoder
	// Release computes the vectors of all users (users, d) and items (items, d) as one
	// of the setting's releases has them; call numbers the releases of a run. They are
	// valid until the next call of a method.
	Release(kind string, call int) (users, items tensor.Matrix, err error)
}

// experiment is one model on one data set under the paper's protocol (section 4.1):
// trained on the graph of the training rows, all items ranked for every user.
type experiment struct {
	env      *run.Env
	method   string // as Table 2 calls it
	standing standing
	cfg      common
	data     *dataset.Interactions
	graph    *graph.Bipartite // of the training rows

	valid, test *part // valid is nil without validation rows

	model   model
	extra   train.Extra // state that belongs to the parameters; nil: none
	sampler *bpr.Sampler
	tape    *autograd.Tape // of the evaluations
}

// part is the rows to be found again on one side of the split.
type part struct {
	name  string
	users []int32   // with at least one row, ascending
	find  [][]int32 // their items, for each of users
	seen  [][]int32 // by user of the data: items left out of the ranking
}

// setting is one of the configurations.
type setting interface {
	common() common
	standing() (standing, error)
}

// load reads the data and builds the graph.
func load(ctx context.Context, env *run.Env, method string, s setting) (*experiment, error) {
	cfg := s.common()
	defer env.Stage("load " + cfg.data.Name)()
	d, err := registry.LoadInteractions(ctx, cfg.data.Name, cfg.data.Recipe, registry.Options{Seed: env.Seed})
	if err != nil {
		return nil, err
	}
	if err := env.RecordData(d.Source.Title, d.Source.Hash); err != nil {
		return nil, err
	}
	return prepare(env, method, s, d)
}

// prepare makes the parts of loaded data. Of the surroundings it takes the seed alone.
func prepare(env *run.Env, method string, s setting, d *dataset.Interactions) (x *experiment, err error) {
	x = &experiment{env: env, method: method, cfg: s.common(), data: d, tape: autograd.NewTape()}
	if x.standing, err = s.standing(); err != nil {
		return nil, err
	}
	for _, k := range x.cfg.eval.K {
		if k > d.Items {
			return nil, &run.UsageError{Message: fmt.Sprintf("eval.k: cutoff %d is more than the %d items ranked", k, d.Items),
				Fix: "leave that cutoff out"}
		}
	}
	n := 0
	for _, items := range d.Train {
		n += len(items)
	}
	edges := make([]graph.Edge, 0, n)
	for u, items := range d.Train {
		for _, i := range items {
			edges = append(edges, graph.Edge{User: int32(u), Item: i})
		}
	}
	if x.graph, err = graph.NewBipartite(d.Users, d.Items, edges); err != nil {
		return nil, err
	}
	x.test = newPart("test", d.Test, d.Train, d.Valid)
	if len(x.test.users) == 0 {
		return nil, &dataset.Error{File: d.Name, Msg: "the split leaves no test rows"}
	}
	if d.Valid != nil {
		x.valid = newPart("validation", d.Valid, d.Train, nil)
	}
	if x.valid == nil && x.cfg.train.Select == SelectValidation {
		return nil, &run.UsageError{Message: fmt.Sprintf("train.select: %s needs validation rows, which recipe %q of %s does not hold out", SelectValidation, d.Recipe, d.Name),
			Fix: "take recipe rdpgcf, or train.select=" + SelectLast}
	}
	if x.valid == nil && x.cfg.train.Patience > 0 {
		return nil, &run.UsageError{Message: fmt.Sprintf("train.patience: %d epochs need validation rows to watch, which recipe %q of %s does not hold out", x.cfg.train.Patience, d.Recipe, d.Name),
			Fix: "take recipe rdpgcf, or train.patience=0"}
	}
	t := x.cfg.train
	if t.Epochs == 0 { // a model that is not trained by epochs
		return x, nil
	}
	x.sampler, err = bpr.NewSampler(x.graph, bpr.SamplerOptions{Positives: t.Sampler, Negatives: t.Negatives, Each: t.Each, Batch: t.Batch, Seed: env.Seed})
	return x, x.named(err)
}

// named gives a user whom no negative can be drawn for the name that the data have.
func (x *experiment) named(err error) error {
	if none, ok := err.(*bpr.NoNegativeError); ok {
		return &dataset.Error{File: x.data.Name,
			Msg:  fmt.Sprintf("user %q has all %d items in train: there is no negative to draw", x.data.UserIDs[none.User], none.Items),
			Hint: "train.negatives=" + bpr.All + " draws among all items", Err: err}
	}
	return err
}

// newPart lists the users with rows to find, and what is left out of their rankings:
// the rows of the other parts given.
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

// rows is the number of rows to find.
func (p *part) rows() int {
	n := 0
	for _, items := range p.find {
		n += len(items)
	}
	return n
}

// init fills parameters as the setting has it.
func (x *experiment) init(c InitConfig) nn.Init {
	if c.Law == LawNormal {
		return nn.Normal(x.env.Seed, c.Std)
	}
	return nn.Xavier(x.env.Seed)
}

// primary selects the epoch; it and second are watched by early stopping.
var (
	primary = metrics.Metric{Kind: metrics.Recall, K: 20}
	second  = metrics.Metric{Kind: metrics.NDCG, K: 20}
)

// metrics are what Table 2 reports, at the configured cutoffs.
func (x *experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.Recall, metrics.NDCG}, x.cfg.eval.K)
}
