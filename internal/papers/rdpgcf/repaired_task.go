package rdpgcf

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// repairedWork holds the repaired method and its data. The budget is split and the rows are released; the map is still
// to be trained.
type repairedWork struct {
	*topn.Experiment
	r *repairedRun
}

// openRepaired loads the data, splits the budget, and propagates once.
func openRepaired(ctx context.Context, env *run.Env, m topn.Method, c Config) (run.Work, error) {
	m.Standing.Printed = false // the paper's tables are of another method
	x, err := topn.Load(ctx, env, m)
	if err != nil {
		return nil, err
	}
	if x.Finished() {
		return x, nil
	}
	r, err := newRepaired(x, c)
	if err != nil {
		return nil, err
	}
	ledger := r.ledger
	x.Compute = func(ctx context.Context) (*topn.Made, error) {
		if err := trainMap(ctx, env, r); err != nil {
			return nil, err
		}
		users, items := r.vectors()
		return &topn.Made{
			Name: methodRDPGCF + ", repaired", Scorer: &bpr.Ranking{Users: users, Goods: items},
			Steps:   int(r.split.Steps),
			Vectors: &experiment.Vectors{Release: ReleaseNoisy, Users: users, Items: items},
		}, nil
	}
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) {
		a, err := r.account()
		if err != nil {
			return nil, err
		}
		a.Takes(ledger)
		return a, r.split.agree(a, ledger)
	}
	x.Planned = func() (experiment.Privacy, error) {
		a, err := r.account()
		if err != nil {
			return nil, err
		}
		return a, nil
	}
	return &repairedWork{x, r}, nil
}

// Close frees the memory of the rows.
func (w *repairedWork) Close() { w.r.rows.close() }

// newRepaired splits the budget, declares the planned releases of the run, and releases the rows, once.
func newRepaired(x *topn.Experiment, c Config) (*repairedRun, error) {
	stream := streams{
		draws: func(purpose string) rng.Stream { return x.Env.Draws("rdpgcf", purpose) },
		noise: func(purpose string) (rng.Stream, error) { return x.Env.Noise("rdpgcf", purpose) },
	}
	rows, labels, err := apart(x.Graph, c.Privacy.Repaired.LabelShare, stream.draws(purposeApart))
	if err != nil {
		return nil, err
	}
	split, mark := Split{}, privacy.Research
	if x.Env.Secure() {
		mark = privacy.Secure
		split, err = c.secretly(rows, labels)
	} else {
		split, err = c.Split(c.labelEdges(labels))
	}
	if err != nil {
		return nil, err
	}
	a := experiment.Account{Public: c.taken()}
	if err := a.Decide(x.Env, x.Data.Source, c.takes()); err != nil {
		return nil, err
	}
	decided := a
	d := a.Declaration()
	d.Plan = split.plan(c)
	l, err := x.Env.Ledger(mark, d)
	if err != nil {
		return nil, err
	}
	if x.Env.Secure() && x.Env.Writes() {
		r, err := c.again(x.Env, split, rows, labels, stream)
		if err != nil {
			return nil, err
		}
		if r != nil {
			r.ledger, r.decided = l, decided
			return r, nil
		}
	}
	once, err := x.Env.Once()
	if err != nil {
		return nil, err
	}
	r, err := newRepairedRun(c, split, rows, labels, once, stream)
	if err != nil {
		return nil, err
	}
	r.ledger, r.decided = l, decided
	return r, nil
}

// account returns the account of the run, including what the data decide.
func (r *repairedRun) account() (*Account, error) {
	a, err := r.split.account(r.cfg)
	if err == nil {
		a.Adopt(r.decided)
	}
	return a, err
}

// again returns a run with the rows that an earlier attempt released, from its checkpoint; nil if none did. Other rows
// would be a second release.
func (c Config) again(env *run.Env, split Split, g, labels *graph.Bipartite, stream streams) (*repairedRun, error) {
	kept, ok, err := env.LoadCheckpoint()
	switch {
	case err != nil:
		return nil, err
	case ok:
		r := &repairedRun{cfg: c, split: split, graph: labels, stream: stream}
		return r, r.takeKept(kept, g)
	case env.ReleasedForGood():
		return nil, run.WithHint(
			fmt.Errorf("the run in %s was stopped between its first release and its first checkpoint: other rows "+
				"would be a second release", env.Dir), "train again with another --out")
	}
	return nil, nil
}

// kept returns the releases of a run with secure noise before training.
func (r *repairedRun) kept() (out []run.NamedTensor) {
	if r.split.secret == nil {
		return nil
	}
	for l, x := range r.rows.layer {
		out = append(out, run.MatrixTensor(fmt.Sprintf("layer %d", l), x))
	}
	if b, ok := r.m.(*biased); ok {
		out = append(out, run.MatrixTensor(purposeCounts, tensor.Matrix{Rows: 1, Cols: len(b.bias), Stride: len(b.bias),
			Data: b.bias}))
	}
	return out
}

// takeKept reads the releases before training from a checkpoint.
func (r *repairedRun) takeKept(c run.Checkpoint, g *graph.Bipartite) error {
	r.rows = &cachedRows{users: g.Users}
	for range r.cfg.Model.Layers + 1 {
		r.rows.layer = append(r.rows.layer, tensor.NewTable(g.Nodes(), r.cfg.Model.Dim))
	}
	r.m = newPairMap(r.cfg.Privacy.Repaired, r.cfg.Model.Layers, r.cfg.Model.Dim, r.stream.draws(purposeMap))
	if r.split.Counts > 0 {
		r.m = newBiased(r.m, make([]tensor.Float, g.Items))
	}
	for _, want := range r.kept() {
		at := slices.IndexFunc(c.Tensors, func(t run.NamedTensor) bool { return t.Name == want.Name })
		if at < 0 {
			return fmt.Errorf("checkpoint: it has no %q", want.Name)
		}
		to, err := want.Matrix()
		if err == nil {
			err = c.Tensors[at].CopyTo(to)
		}
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

func trainMap(ctx context.Context, env *run.Env, r *repairedRun) error {
	defer env.Stage("train")()
	p := env.Progress
	p.Begin("step", int(r.split.Steps))
	if err := r.train(ctx, env, p.Add); err != nil {
		return err
	}
	// No loss is shown: it would be a statistic of the edges that nothing covers.
	p.End(fmt.Sprintf("%d steps", r.split.Steps))
	return nil
}

// Forecast implements run.Forecaster. It makes a few steps, ranks some users, and extrapolates.
func (w *repairedWork) Forecast(ctx context.Context) (f run.Forecast, err error) {
	opening, r := w.Env.Opening(), w.r
	steps, made := r.split.Steps, min(r.split.Steps, topn.ForecastSteps)
	start := time.Now()
	r.split.Steps, r.cfg.Train.Epochs = made, 1
	if err := r.train(ctx, nil, func(int) {}); err != nil {
		return f, err
	}
	step := time.Since(start).Seconds() / float64(made)
	users, items := r.vectors()
	return w.Estimate(ctx, experiment.Rehearsed{Opening: opening, Steps: []float64{step}, Of: int(steps),
		Text: fmt.Sprintf("%d epochs of DP-SGD", w.Method.Train.Epochs)}, users, items)
}
