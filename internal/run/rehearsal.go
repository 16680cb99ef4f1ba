package run

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/train"
)

// Rehearsal says which steps of a training to make in order to learn how long one takes. A user
// waits for the forecast, so a limit of time ends it as well as a count.
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
	for began, i := time.Now(), 0; len(seconds) < r.Fewest || time.Since(began) < r.Least || i < r.Steps && time.Since(began) < r.Most; i++ {
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
