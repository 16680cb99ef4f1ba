package nextitem

import (
	"context"
	"fmt"
	"slices"
	"time"

	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Effort limits the measurements of a rehearsal, since a user waits for it.
type Effort struct {
	Steps   int           // of training, at most
	Time    time.Duration // of these steps, about
	Least   time.Duration // go on for so long all the same, to see what else the machine does
	Samples int           // ranked
}

// forecastEffort limits a forecast on a run's own samples.
var forecastEffort = Effort{Steps: 40, Time: 1500 * time.Millisecond, Least: 500 * time.Millisecond, Samples: 1000}

// Rehearsed holds the times that a rehearsal measured, in seconds, and how often a run repeats each part if nothing
// stops early.
type Rehearsed struct {
	Steps    []float64 // of the training steps that were timed
	Of       int       // training steps
	Samples  int       // of an epoch of the reported model
	Prepare  float64   // of making a scorer
	Rank     float64   // of ranking one sample by it
	Ranked   int       // samples over which Rank is the mean
	Rankings int       // scorers to make
	Ranks    int       // samples to rank
	Text     string    // what Of was multiplied from
}

// Ranking returns the seconds that all rankings of the run take.
func (r Rehearsed) Ranking() float64 {
	return float64(r.Rankings)*r.Prepare + float64(r.Ranks)*r.Rank
}

// Forecast implements run.Forecaster. It trains a few steps of the real model on the real samples, ranks some of them,
// and extrapolates.
func (x *Experiment) Forecast(ctx context.Context) (run.Forecast, error) {
	if err := x.build(x.learned()); err != nil {
		return run.Forecast{}, err
	}
	opening := x.Env.Opening()
	r, err := x.Rehearse(ctx, forecastEffort)
	if err != nil {
		return run.Forecast{}, err
	}
	return experiment.Rehearsed{
		Opening: opening, Steps: r.Steps, Of: r.Of, Ranking: r.Ranking(),
		Text: fmt.Sprintf("%s, and %d samples ranked (%.3f ms each) for %d", r.Text, r.Ranked, 1000*r.Rank, r.Ranks),
	}.Estimate(), nil
}

// Rehearse times training steps and rankings of a new model.
func (x *Experiment) Rehearse(ctx context.Context, e Effort) (r Rehearsed, err error) {
	if x.model == nil {
		if err := x.build(x.learned()); err != nil {
			return r, err
		}
	}
	l, err := x.model.Lessons(x.Fit.Passes().Epoch(0))
	if err != nil {
		return r, err
	}
	if r.Steps, err = x.timeSteps(ctx, l, e); err != nil {
		return r, err
	}
	if err := x.timeRanking(ctx, e, &r); err != nil {
		return r, err
	}
	x.count(&r)
	return r, nil
}

// timeSteps times training steps, in an order of its own. It returns the seconds of each.
func (x *Experiment) timeSteps(ctx context.Context, l Lessons, e Effort) ([]float64, error) {
	order := slices.Clone(l.List)
	if order == nil {
		for i := range l.Samples {
			order = append(order, int32(i))
		}
	}
	if len(order) == 0 {
		return nil, train.ErrNoSamples
	}
	batch, shuffle := min(x.Fit.Batch, len(order)), x.Env.Seed.Stream("forecast.order")
	for i := range order {
		j := i + shuffle.IntN(len(order)-i)
		order[i], order[j] = order[j], order[i]
	}
	return run.TimeSteps(ctx, l.Model, run.Rehearsal{
		Optimizer: x.optimizer(), Rate: x.Fit.Rate,
		Warm: 2, Fewest: 3, Steps: e.Steps, Most: e.Time, Least: e.Least,
		Batch: func(i int) train.Batch {
			at := i * batch % (len(order) - batch + 1)
			return train.Batch{Epoch: i, Step: i, Samples: order[at : at+batch]}
		},
	})
}

// timeRanking times the making of a scorer, and the ranking of one sample by it.
func (x *Experiment) timeRanking(ctx context.Context, e Effort, r *Rehearsed) error {
	r.Ranked = min(e.Samples, x.Test.Samples.Len())
	start := time.Now()
	s, err := x.model.Scorer(x.Test, x.Fit.Passes().Rehearsal(), slices.Contains(x.Modes, NoiseOn))
	if err != nil {
		return err
	}
	r.Prepare = time.Since(start).Seconds()
	start = time.Now()
	if _, err := eval.Ranks(ctx, s, x.Test.All()[:r.Ranked], x.Test.Labels[:r.Ranked],
		x.candidates(x.Test)); err != nil {
		return run.Interrupted(ctx, err)
	}
	r.Rank = time.Since(start).Seconds() / float64(r.Ranked)
	return nil
}

// count counts the run's steps and rankings when nothing stops early.
func (x *Experiment) count(r *Rehearsed) {
	t := x.Fit
	perEpoch := func(p *Part) int { return (x.model.Count(p) + t.Batch - 1) / t.Batch }
	r.Samples = x.model.Count(x.learned())
	r.Of, r.Text = t.Epochs*perEpoch(x.Train), fmt.Sprintf("%d epochs of %d steps", t.Epochs, perEpoch(x.Train))
	ranked := func(p *Part, times int) {
		r.Rankings, r.Ranks = r.Rankings+times, r.Ranks+times*p.Samples.Len()
	}
	if x.Valid != nil {
		ranked(x.Valid, t.Epochs)
	}
	if x.Refit != nil {
		r.Of += t.Epochs * perEpoch(x.Refit)
		r.Text += fmt.Sprintf(" and %d of %d", t.Epochs, perEpoch(x.Refit))
	}
	if x.Eval.Every {
		ranked(x.Test, t.Epochs)
	}
	ranked(x.Test, len(x.Modes))
}
