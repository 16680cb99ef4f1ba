package experiment

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/metrics"
	"privrec/internal/train"
)

// Fitted holds the result of training.
type Fitted struct {
	*train.Result               // of the training whose parameters are reported
	Selection     *train.Result // of the training that chose the number of epochs; nil: there was one training
}

// Epoch returns the number of the reported model's epoch, from 1. selected says that
// validation chose among the epochs.
func (f *Fitted) Epoch(selected bool) int {
	if selected && f.Selection == nil {
		return f.Best + 1
	}
	return len(f.Epochs)
}

// Chose returns the training that validation stopped: the first of two, or the only one.
func (f *Fitted) Chose() *train.Result {
	if f.Selection != nil {
		return f.Selection
	}
	return f.Result
}

// Names of the two families of scores of an epoch.
const (
	OnValid = "valid " // of held-out rows
	OnTest  = "test "
)

// Training describes one of the trainings of a Fit.
type Training struct {
	Again  bool        // the second one, on all rows, for as many epochs as the first one chose
	Epochs int         // at most; exactly so many of the second one
	Store  train.Store // where its checkpoints go
}

// Fit says how a run trains: once, or a second time on all rows.
type Fit struct {
	*Core
	Epochs int // the cap
	// Again names what the second training takes, such as "all samples". Empty: there is no
	// second training. The first one holds rows out, and chooses how long the second one
	// lasts.
	Again string

	Held   bool // the first training holds rows out, and ranks them after every epoch
	Every  bool // test rows are ranked after every epoch of the reported training
	Select bool // the epoch with the best Primary on held-out rows is reported; otherwise the last one
	// Primary is the metric that selects.
	Primary metrics.Metric
	// Patience ends the first training after so many epochs without a better score; 0: never.
	Patience int
	// Total counts the epochs of patience over the whole training, and never begins again.
	Total bool
	// Watched are the metrics that patience watches, on held-out rows or else on test rows. An epoch is better if one
	// of them is.
	Watched []metrics.Metric

	// Begin returns a new model with initial values, its samples, optimiser and rate. It is called at the beginning of
	// each training.
	Begin func(t Training) (train.Model, train.Options, error)
	// Rank returns scores of the model at hand on held-out rows, or on test rows. It is called after an epoch of a
	// training, from 0.
	Rank func(ctx context.Context, t Training, epoch int, test bool) ([]metrics.Value, error)
}

// Run trains and leaves the parameters to report in the model. It continues from a checkpoint of either training.
func (f Fit) Run(ctx context.Context) (*Fitted, error) {
	defer f.Env.Stage("train")()
	if f.Again == "" {
		r, err := f.learn(ctx, Training{Epochs: f.Epochs, Store: f.Env.TrainStore()}, f.Env.TrainHooks())
		if err != nil {
			return nil, err
		}
		return &Fitted{Result: r}, nil
	}
	p, err := train.OpenPhases(f.Env.TrainStore())
	if err != nil {
		return nil, err
	}
	selection := p.First
	if selection == nil {
		first := Training{Epochs: f.Epochs, Store: p.Store(1)}
		if selection, err = f.learn(ctx, first, f.Env.TrainHooks()); err != nil {
			return nil, err
		}
		chosen := *selection
		chosen.Resumed = false // about this process: a checkpoint must not tell
		p.First = &chosen
	}
	epochs := selection.Best + 1
	if epochs < 1 {
		return nil, errors.New("train again: the first training chose no epoch")
	}
	f.Env.Progress.Phase(fmt.Sprintf("train on %s for %d epochs", f.Again, epochs))
	r, err := f.learn(ctx, Training{Again: true, Epochs: epochs, Store: p.Store(2)}, f.Env.TrainHooks())
	if err != nil {
		return nil, err
	}
	return &Fitted{Result: r, Selection: selection}, nil
}

// Once trains the first time, and keeps everything in memory.
func (f Fit) Once(ctx context.Context, h train.Hooks) error {
	_, err := f.learn(ctx, Training{Epochs: f.Epochs}, h)
	return err
}

// learn runs one training.
func (f Fit) learn(ctx context.Context, t Training, h train.Hooks) (*train.Result, error) {
	m, o, err := f.Begin(t)
	if err != nil {
		return nil, err
	}
	o.Seed, o.Epochs, o.Extra, o.Tag = f.Env.Seed, t.Epochs, f.Extra, f.Env.ConfigHash
	o.Hooks, o.Store, o.SaveEvery, o.SaveSteps = h, t.Store, f.Env.Save.Every, f.Env.Save.Steps
	held, every := f.Held && !t.Again, f.Every && (f.Again == "" || t.Again)
	if held || every {
		o.Validate = func(ctx context.Context, epoch int) ([]train.Score, error) {
			return f.validate(ctx, t, epoch, held, every)
		}
	}
	if t.Again {
		return train.Run(ctx, m, o) // the number of epochs is settled
	}
	if f.Select {
		o.Select, o.Primary = train.SelectBest, OnValid+f.Primary.String()
	}
	if f.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: f.Patience}
		if f.Total {
			o.Stop.Rule = train.StopTotal
		}
		family := OnTest
		if held {
			family = OnValid
		}
		for _, m := range f.Watched {
			o.Stop.Metrics = append(o.Stop.Metrics, family+m.String())
		}
	}
	return train.Run(ctx, m, o)
}

// validate ranks the held-out rows, the test rows, or both.
func (f Fit) validate(ctx context.Context, t Training, epoch int, held, test bool) (scores []train.Score, err error) {
	for _, v := range []struct {
		due    bool
		family string
	}{{held, OnValid}, {test, OnTest}} {
		if !v.due {
			continue
		}
		values, err := f.Rank(ctx, t, epoch, v.family == OnTest)
		if err != nil {
			return nil, err
		}
		for _, m := range values {
			scores = append(scores, train.Score{Name: v.family + m.Metric.String(), Value: m.Value})
		}
	}
	return scores, nil
}
