package gerai

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	gcn "privrec/internal/model/gerai"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/report"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// Tasks returns the tasks of this paper.
func Tasks() []run.Task {
	task := func(name, summary string, def func() Config, check func(Config, *config.Checker)) run.Task {
		return run.Spec[Config]{
			Verb: "train", Name: name, Noisy: name == "gerai", Summary: summary, Cite: gcn.Cite, Answers: true,
			Default: def,
			Check:   func(v *config.Checker, c Config) { check(c, v) },
			Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
				return open(ctx, env, c,
					name)
			},
			NotSecure: "graph and triples are ratings in the clear, under any noise on the loss, so that its account " +
				"is infinite and there is no guarantee to keep; " +
				"perturb features --secure releases users' features alone",
		}.Task()
	}
	return []run.Task{
		task("gerai", "graph recommendation with noise on user features and on the loss", Default, Config.check),
		task("gcn", "the network of GERAI without noise, features in the clear", DefaultGCN, Config.checkGCN),
	}
}

// AuditTask returns the audit of the released features.
func AuditTask() run.Task { return features.AuditTask(gcn.Cite) }

// method describes a setting of a task to the protocol.
func (c Config) method(task string) (topn.Method, error) {
	named := map[string]Config{"paper": DefaultGCN()}
	name := nameGCN
	if task == "gerai" {
		named = map[string]Config{"paper": Default(), "nl": noLocal(), "nf": noFunctional(), "repaired": Repaired(),
			"printed": Printed()}
		name = c.name()
	}
	standing, err := experiment.Stand(c, c.Profile, named, func(c Config) train.Length { return c.Train.Length() },
		append(topn.Free(), "run.")...)
	return topn.Method{
		Name: name, Standing: standing, Data: c.Data, Train: c.Train, Eval: c.Eval, Tables: Tables(),
		Loss:  "mean loss with penalty (nats)",
		Shape: topn.Shape{Dim: c.Model.Dim, Epsilon: c.Loss.Epsilon}, Labels: true,
		Scorer: func(v experiment.Vectors) (eval.Scorer, error) {
			return &gcn.Ranking{Users: v.Users, Goods: v.Items, H: v.Output, Norm: c.Model.Norm}, nil
		},
	}, err
}

// open loads the data, declares what the run leaves unprotected, perturbs the features, and makes the model with the
// noise of its loss.
func open(ctx context.Context, env *run.Env, c Config, task string) (run.Work, error) {
	m, err := c.method(task)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, m)
	if err != nil {
		return nil, err
	}
	if n := looked(x.Graph); !x.Finished() && registry.IsOwn(c.Data.Name) && c.Model.Neighbours == 0 && n > many {
		env.Log.Warn(fmt.Sprintf(
			"a node of a training step looks at all its neighbours, %.0f on average; model.neighbours=50 "+
				"lets it look at a sample, which takes less time", n))
	}
	return x.Train(func() (topn.Model, error) { return c.make(x) })
}

// many is the number of neighbours of a step's nodes from which own data get a note on model.neighbours: with 50 of
// them a step over MovieLens 1M, where they are 434, takes less than half of the time.
const many = 100

// looked returns the mean number of neighbours of the user and the item of a training pair.
func looked(g *graph.Bipartite) float64 {
	sum := 0.0
	for u := range g.Users {
		sum += float64(g.UserDegree(u)) * float64(g.UserDegree(u))
	}
	for i := range g.Items {
		sum += float64(g.ItemDegree(i)) * float64(g.ItemDegree(i))
	}
	return sum / float64(2*g.Edges())
}

// make makes the model of loaded data, and its account.
func (c Config) make(x *topn.Experiment) (topn.Model, error) {
	a, env := c.account(x.Positives()), x.Env
	ledger, err := env.Ledger(privacy.Research, a.declaration())
	if err != nil {
		return nil, err
	}
	table, err := c.table(x)
	if err != nil {
		return nil, err
	}
	net, err := gcn.New(x.Graph, table, c.Model, env.Seed, c.Model.Initial(env.Seed))
	if err != nil {
		return nil, err
	}
	noise, err := c.openNoise(x, ledger)
	if err != nil {
		return nil, err
	}
	l := &learner{Model: net, o: gcn.Objective{Exact: c.Loss.Form == FormExact, Gamma: c.Loss.Gamma,
		Sum: float64(x.Positives()), Alive: c.Loss.Alive}}
	if c.Loss.Over == OverBatch {
		l.o.Sum = float64(c.Train.Batch)
	}
	noise.into(&l.o)
	x.Extra = noise
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) {
		return shown{a, c}, noise.finish()
	}
	x.Planned = func() (experiment.Privacy, error) { return shown{a, c}, nil }
	return l, nil
}

// table returns the model's features (users, n).
func (c Config) table(x *topn.Experiment) (tensor.Matrix, error) {
	once, err := x.Env.Once()
	if err != nil {
		return tensor.Matrix{}, err
	}
	t, err := c.Features.Release(x.Data, once,
		func(purpose string) (rng.Stream, error) { return x.Env.Noise("gerai", purpose) })
	if err != nil {
		return tensor.Matrix{}, err
	}
	if !c.Features.Statistics {
		return t.X, nil
	}
	clear, err := features.Clear(x.Data, c.Features.Range == features.RangeMinMax)
	if err != nil {
		return tensor.Matrix{}, err
	}
	both := tensor.New(t.X.Rows, features.Numbers+t.X.Cols)
	for u := range both.Rows {
		row := tensor.Row(both, u)
		copy(row[copy(row[:features.Numbers], tensor.Row(clear.X, u)):], tensor.Row(t.X, u))
	}
	return both, nil
}

// learner is the network with its objective. It implements topn.Model.
type learner struct {
	*gcn.Model
	o gcn.Objective
}

// Loss implements topn.Model. If nothing can be learned any more its error says which keys to change.
func (l *learner) Loss(t *autograd.Tape, s topn.Step) (*autograd.Node, error) {
	loss, err := l.Model.Loss(t, s.Number, s.Triples, l.o)
	var dead *gcn.DeadError
	if errors.As(err, &dead) {
		return nil, &run.UsageError{Message: err.Error(), Fix: "set model.init to " + gcn.Glorot +
			" and model.norm to " + gcn.Rational +
			", a larger train.batch or a smaller train.rate; loss.alive 0 goes on all the same"}
	}
	return loss, err
}

// Inputs returns the users' features as the model got them.
func (l *learner) Inputs() (rows tensor.Matrix, what string) {
	return l.Features, "the user's features, as the model gets them"
}

// Release implements topn.Model.
func (l *learner) Release(string, topn.Call) (experiment.Vectors, error) {
	users, items := l.Vectors()
	return experiment.Vectors{Users: users, Items: items, Output: l.H.Value}, nil
}

// shown is an account together with its setting, which explains it.
type shown struct {
	*Account
	c Config
}

// Show implements experiment.Privacy.
func (s shown) Show(d *report.Document) { s.c.show(s.Account, d) }
