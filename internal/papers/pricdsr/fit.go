package pricdsr

import (
	"context"
	"fmt"

	"privrec/internal/metrics"
	"privrec/internal/model/dasl"
	"privrec/internal/train"
)

// primary chooses the epoch (section IV of the paper).
var primary = metrics.Metric{Kind: metrics.NDCG, K: 10}

// Names of the two families of scores of an epoch.
const (
	onValid = "valid "
	onTest  = "test "
)

// fitted is what training left behind: the training whose parameters are reported, which
// chose its own length, or was as long as another one chose.
type fitted struct {
	*train.Result
	selection *train.Result // nil without refit
	trainer   *trainer      // of the reported model
}

// epoch is the reported model's number of epochs, from 1.
func (f *fitted) epoch(c Config) int {
	if c.Train.Select == selectValidation && f.selection == nil {
		return f.Best + 1
	}
	return len(f.Epochs)
}

// fit trains, and with refit once more on all rows for as many epochs as validation
// chose.
func (x *experiment) fit(ctx context.Context) (*fitted, error) {
	defer x.env.Stage("train")()
	if !x.cfg.Train.Refit {
		r, t, err := x.learn(ctx, x.tuning, x.cfg.Train.Epochs, x.env.TrainStore())
		if err != nil {
			return nil, err
		}
		return &fitted{Result: r, trainer: t}, nil
	}
	p, err := train.OpenPhases(x.env.TrainStore())
	if err != nil {
		return nil, err
	}
	selection := p.First
	if selection == nil {
		var t *trainer
		if selection, t, err = x.learn(ctx, x.tuning, x.cfg.Train.Epochs, p.Store(1)); err != nil {
			return nil, err
		}
		giveBack(t)
		chosen := *selection
		chosen.Resumed = false // about this process: a checkpoint must not tell
		p.First = &chosen
	}
	epochs := selection.Best + 1
	x.env.Progress.Phase(fmt.Sprintf("train on all rows for %d epochs", epochs))
	r, t, err := x.learn(ctx, x.final, epochs, p.Store(2))
	if err != nil {
		return nil, err
	}
	return &fitted{Result: r, selection: selection, trainer: t}, nil
}

// newModel begins a model of the data.
func (x *experiment) newModel() *dasl.Model {
	items := [2]int{x.data.Domains[0].Items, x.data.Domains[1].Items}
	return dasl.New(x.data.Users, items, x.cfg.Model, x.cfg.Single(), x.env.Seed)
}

// learn trains a new model on the rows of a part.
func (x *experiment) learn(ctx context.Context, p *part, epochs int, store train.Store) (*train.Result, *trainer, error) {
	t, err := newTrainer(x.newModel(), p, x.cfg, x.env.Seed)
	if err != nil {
		return nil, nil, err
	}
	r, err := train.Run(ctx, t, x.options(t, epochs, store))
	if err != nil {
		giveBack(t)
		return nil, nil, err
	}
	return r, t, nil
}

// options are those of one training.
func (x *experiment) options(t *trainer, epochs int, store train.Store) train.Options {
	c := x.cfg.Train
	o := train.Options{
		Samples: t.steps(), BatchSize: 1, Seed: x.env.Seed, Epochs: epochs, Optimizer: newTwin(t), Rate: c.Rate,
		Hooks: x.env.TrainHooks(), Store: store, SaveEvery: x.env.SaveEvery, SaveSteps: x.env.SaveSteps, Tag: x.env.ConfigHash,
	}
	tuning := t.part == x.tuning
	every := x.cfg.Eval.Every && (!c.Refit || !tuning)
	if tuning || every {
		o.Validate = func(ctx context.Context, _ int) ([]train.Score, error) { return x.validate(ctx, t, tuning, every) }
	}
	if !tuning {
		return o // the number of epochs is settled
	}
	if c.Select == selectValidation {
		o.Select, o.Primary = train.SelectBest, onValid+primary.String()
	}
	if c.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: c.Patience, Metrics: []string{onValid + primary.String()}}
	}
	return o
}

// validate ranks the validation rows, the test rows, or both, among their lists.
func (x *experiment) validate(ctx context.Context, t *trainer, valid, test bool) (scores []train.Score, err error) {
	for _, v := range []struct {
		due    bool
		prefix string
		rows   *held
	}{{valid, onValid, x.valid}, {test, onTest, x.test}} {
		if !v.due {
			continue
		}
		r, _, err := t.sampled(ctx, x.tape, v.rows)
		if err != nil {
			return nil, err
		}
		ms := x.metrics()
		if !contains(ms, primary) {
			ms = append(ms, primary)
		}
		for _, m := range ms {
			scores = append(scores, train.Score{Name: v.prefix + m.String(), Value: r.mean(m)})
		}
	}
	return scores, nil
}

func contains(ms []metrics.Metric, m metrics.Metric) bool {
	for _, have := range ms {
		if have == m {
			return true
		}
	}
	return false
}

// metrics are what the paper reports, at the configured cutoffs.
func (x *experiment) metrics() []metrics.Metric {
	return metrics.Grid([]metrics.Kind{metrics.HR, metrics.NDCG}, x.cfg.Eval.K)
}
