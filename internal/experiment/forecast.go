package experiment

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/train"
)

// Rehearsal says what a forecast counts of a Fit, and how it ranks.
type Rehearsal struct {
	As Training // whose model is rehearsed
	// Samples returns the number of samples of an epoch of a training. Nil: those of As.
	Samples func(t Training) int
	// Batch returns the samples of the i-th step. Nil: they are drawn at random.
	Batch func(i int) []int32

	Rows       string // what is ranked: users, samples
	Held, Test int    // rows that are ranked after an epoch: held-out ones, test rows
	Final      int    // rankings after training
	Ranked     int    // rows of all of them
	// Rank ranks some rows by the model of Begin, and says how long that took.
	Rank func(ctx context.Context) (Timed, error)
}

// Timed holds the seconds that some rankings took.
type Timed struct {
	Once float64 // before the first row
	Each float64 // for every row
	Rows int     // number of rows that were ranked
}

// Forecast trains a few steps on the run's own rows, ranks some rows, and extrapolates.
func (f Fit) Forecast(ctx context.Context, r Rehearsal) (e run.Forecast, err error) {
	m, o, err := f.Begin(r.As)
	if err != nil {
		return e, err
	}
	opening := f.Env.Opening()
	steps, err := f.rehearse(ctx, r, m, o)
	if err != nil {
		return e, err
	}
	timed, err := r.Rank(ctx)
	if err != nil {
		return e, err
	}
	perEpoch := func(t Training) int {
		n := max(o.Samples, len(o.List))
		if r.Samples != nil {
			n = r.Samples(t)
		}
		return (n + o.BatchSize - 1) / o.BatchSize
	}
	of := f.Epochs * perEpoch(Training{})
	text := fmt.Sprintf("%d epochs of %d steps", f.Epochs, perEpoch(Training{}))
	if f.Again != "" {
		again := perEpoch(Training{Again: true})
		of, text = of+f.Epochs*again, fmt.Sprintf("%s and %d of %d", text, f.Epochs, again)
	}
	once, rows := r.Final, r.Ranked
	if f.Held {
		once, rows = once+f.Epochs, rows+f.Epochs*r.Held
	}
	if f.Every {
		once, rows = once+f.Epochs, rows+f.Epochs*r.Test
	}
	return Rehearsed{
		Opening: opening, Steps: steps, Of: of, Ranking: float64(once) * timed.Once, Text: text,
	}.Ranks(timed, r.Rows, rows).Estimate(), nil
}

// rehearse times training steps. A user waits for them.
func (f Fit) rehearse(ctx context.Context, r Rehearsal, m train.Model, o train.Options) ([]float64, error) {
	order := slices.Clone(o.List)
	if order == nil {
		for i := range o.Samples {
			order = append(order, int32(i))
		}
	}
	if len(order) == 0 {
		return nil, train.ErrNoSamples
	}
	batch, shuffle := min(o.BatchSize, len(order)), f.Env.Seed.Stream("forecast.order")
	for i := range order {
		j := i + shuffle.IntN(len(order)-i)
		order[i], order[j] = order[j], order[i]
	}
	steps := run.Rehearsal{Optimizer: o.Optimizer, Rate: o.Rate, Warm: 2, Fewest: 3, Steps: 40,
		Most: 2 * time.Second, Least: time.Second / 2,
		Batch: func(i int) train.Batch {
			if r.Batch != nil {
				return train.Batch{Epoch: i, Step: i, Samples: r.Batch(i)}
			}
			at := i * batch % (len(order) - batch + 1)
			return train.Batch{Epoch: i, Step: i, Samples: order[at : at+batch]}
		}}
	if lazy, ok := o.Optimizer.(interface {
		Touch(p *autograd.Param, rows []int32)
	}); ok {
		steps.BeforeRead = lazy.Touch
	}
	return run.TimeSteps(ctx, m, steps)
}

// Rehearsed holds the times that a rehearsal measured, in seconds, and how often a run repeats each part.
type Rehearsed struct {
	Opening float64   // of the data and the model
	Steps   []float64 // of the training steps that were timed
	Of      int       // training steps of the run, every epoch counted
	Ranking float64   // everything else that the run ranks and releases
	Text    string    // what Of and Ranking were multiplied from
}

// Ranks adds the ranking of so many rows, as fast as some were ranked. what names them.
func (r Rehearsed) Ranks(t Timed, what string, rows int) Rehearsed {
	r.Ranking += t.Each * float64(rows)
	r.Text += fmt.Sprintf(", and %d %s ranked (%.3f ms each) for %d", t.Rows, what, 1000*t.Each, rows)
	return r
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
