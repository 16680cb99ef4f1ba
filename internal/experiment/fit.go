package experiment

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/run"
	"privrec/internal/stats"
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

// Training describes one of the trainings of a Fit.
type Training struct {
	Again  bool        // the second one, on all rows, for as many epochs as the first one chose
	Epochs int         // at most; exactly so many of the second one
	Before int         // epochs of the cap before its first one, among all passes over the data
	Store  train.Store // where its checkpoints go
}

// Fit says how a run trains: once, or a second time on all rows.
type Fit struct {
	Env    *run.Env
	Epochs int // the cap
	// Again names what the second training takes, such as "all samples". Empty: there is no
	// second training. The first one holds rows out, and chooses how long the second one
	// lasts.
	Again string
	// Learn runs one training. The second one starts from initial values.
	Learn func(ctx context.Context, t Training) (*train.Result, error)
	// Restart resets every parameter to its initial value between the two trainings. Nil: Learn makes a new model each
	// time.
	Restart func()
}

// Run trains and leaves the parameters to report in the model. It continues from a checkpoint of either training.
func (f Fit) Run(ctx context.Context) (*Fitted, error) {
	defer f.Env.Stage("train")()
	if f.Again == "" {
		r, err := f.Learn(ctx, Training{Epochs: f.Epochs, Store: f.Env.TrainStore()})
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
		if selection, err = f.Learn(ctx, Training{Epochs: f.Epochs, Store: p.Store(1)}); err != nil {
			return nil, err
		}
		chosen := *selection
		chosen.Resumed = false // about this process: a checkpoint must not tell
		p.First = &chosen
		if f.Restart != nil {
			f.Restart()
		}
	}
	epochs := selection.Best + 1
	if epochs < 1 {
		return nil, errors.New("train again: the first training chose no epoch")
	}
	f.Env.Progress.Phase(fmt.Sprintf("train on %s for %d epochs", f.Again, epochs))
	r, err := f.Learn(ctx, Training{Again: true, Epochs: epochs, Before: f.Epochs, Store: p.Store(2)})
	if err != nil {
		return nil, err
	}
	return &Fitted{Result: r, Selection: selection}, nil
}

// Rehearsed holds the times that a rehearsal measured, in seconds, and how often a run repeats each part.
type Rehearsed struct {
	Opening float64   // of the data and the model
	Steps   []float64 // of the training steps that were timed
	Of      int       // training steps of the run, every epoch counted
	Ranking float64   // everything else that the run ranks and releases
	Text    string    // what Of and Ranking were multiplied from
}

// Estimate returns the forecast of the whole run. It does not count on early stopping.
func (r Rehearsed) Estimate() run.Forecast {
	step, least := stats.Mean(r.Steps), slices.Min(r.Steps)
	rest := r.Opening + r.Ranking
	return run.Forecast{
		Steps: r.Of, StepSeconds: step, Seconds: rest + float64(r.Of)*step, Fastest: rest + float64(r.Of)*least,
		Basis: fmt.Sprintf("%d training steps on the run's own rows (mean %.1f ms, fastest %.1f ms) for %s; every "+
			"epoch counted, none saved by stopping early",
			len(r.Steps), 1000*step, 1000*least, r.Text),
	}
}
