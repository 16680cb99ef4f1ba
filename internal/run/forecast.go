package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/system"
	"privrec/internal/train"
)

// Forecast holds an estimate of the time and memory of a whole run, computed from a few measured steps.
type Forecast struct {
	Steps       int     `json:"steps"`        // training steps, at most
	StepSeconds float64 `json:"step_seconds"` // mean of the measured steps
	Seconds     float64 `json:"seconds"`      // of the whole run, at most, with the machine as busy as it is now
	// seconds of the whole run if every step were as fast as the fastest measured one
	Fastest float64 `json:"fastest"`
	// most memory that the program had resident during the measurement; 0: unknown
	Bytes int64  `json:"bytes"`
	Basis string `json:"basis"` // one sentence: what was measured and how the whole was computed
}

// ErrNoForecast is returned for a task without a forecast.
var ErrNoForecast = errors.New("no forecast")

// Forecast estimates the time and memory of a run of these options on this machine. It trains a few steps and writes
// nothing.
func (t Task) Forecast(ctx context.Context, o Options) (Forecast, error) {
	b, err := t.Action.load(t, source{path: o.Config, text: o.Text}, o.Sets)
	if err != nil {
		return Forecast{}, err
	}
	setWorkers(b.settings.Workers)
	leanHeap()
	resetPeakRSS()
	f, err := b.forecast(ctx)
	if err == nil && f.Bytes == 0 {
		f.Bytes = system.PeakMemory()
	}
	return f, err
}

// Rehearsal says which training steps to time. A user waits for the forecast, so both a number of steps and a time
// limit end it.
type Rehearsal struct {
	Optimizer interface {
		Step(params []*autograd.Param, g *autograd.Grads, rate float64) error
	}
	Rate       float64
	Batch      func(step int) train.Batch            // batch of a step, from 0; making it is not timed
	BeforeRead func(p *autograd.Param, rows []int32) // of the tape; nil: none

	Warm   int           // first steps, which are not timed
	Fewest int           // steps to time, even if they take long; at least 1
	Steps  int           // steps to make, with the warm ones, unless Most ends them before
	Most   time.Duration // for all Steps, about
	Least  time.Duration // continue for at least this long, to see what else the machine does
}

// TimeSteps makes training steps of a model and returns the times, in seconds, of those after the
// warm ones. The steps change the model. An error of the tape, about shapes, is returned as it
// is; one of the context wraps ErrInterrupted.
func TimeSteps(ctx context.Context, m train.Model, r Rehearsal) (seconds []float64, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *autograd.Error:
			seconds, err = nil, p
		default:
			panic(p)
		}
	}()
	tape, params := autograd.NewTape(), m.Params()
	tape.BeforeRead = r.BeforeRead
	for began, i := time.Now(), 0; len(seconds) < r.Fewest || time.Since(began) < r.Least || i < r.Steps &&
		time.Since(began) < r.Most; i++ {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%w: %w", ErrInterrupted, context.Cause(ctx))
		}
		b := r.Batch(i)
		start := time.Now()
		tape.Reset()
		loss, err := m.Loss(tape, b)
		if err != nil {
			return nil, err
		}
		tape.Backward(loss)
		if err := r.Optimizer.Step(params, tape.Grads(), r.Rate); err != nil {
			return nil, err
		}
		if i >= r.Warm {
			seconds = append(seconds, time.Since(start).Seconds())
		}
	}
	return seconds, nil
}
