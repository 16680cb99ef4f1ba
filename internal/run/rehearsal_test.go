package run

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"privrec/internal/autograd"
	"privrec/internal/optim"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// number is a model of a single number whose loss is the number itself, until at a step something else
// happens.
type number struct {
	p      *autograd.Param
	at     int // the step; -1: never
	happen func(t *autograd.Tape) (*autograd.Node, error)
	seen   []train.Batch
}

func newNumber(at int, happen func(t *autograd.Tape) (*autograd.Node, error)) *number {
	return &number{p: autograd.NewParam("p", 1, 1), at: at, happen: happen}
}

func (m *number) Params() []*autograd.Param { return []*autograd.Param{m.p} }

func (m *number) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	m.seen = append(m.seen, b)
	if b.Step == m.at {
		if n, err := m.happen(t); n != nil || err != nil {
			return n, err
		}
	}
	return t.Use(m.p), nil
}

// steps is a rehearsal that no clock ends.
func steps(n int) Rehearsal {
	return Rehearsal{
		Optimizer: optim.NewAdam(0), Rate: 0.1, Warm: 2, Fewest: 1, Steps: n, Most: 24 * time.Hour,
		Batch: func(step int) train.Batch { return train.Batch{Step: step, Samples: []int32{int32(10 * step)}} },
	}
}

// The steps are made with the batches asked for, and all but the first ones are timed; a
// rehearsal that has no time left makes the fewest that it must.
func TestRehearsalSteps(t *testing.T) {
	for _, c := range []struct {
		name           string
		change         func(r *Rehearsal)
		made, measured int
	}{
		{"all", func(*Rehearsal) {}, 7, 5},
		{"no time", func(r *Rehearsal) { r.Most = 0 }, 3, 1},
		{"no time, more wanted", func(r *Rehearsal) { r.Most, r.Fewest = 0, 3 }, 5, 3},
		{"fewer steps than are timed", func(r *Rehearsal) { r.Steps, r.Fewest = 1, 3 }, 5, 3},
		{"none to warm up", func(r *Rehearsal) { r.Warm = 0 }, 7, 7},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, r := newNumber(-1, nil), steps(7)
			c.change(&r)
			seconds, err := TimeSteps(t.Context(), m, r)
			if err != nil {
				t.Fatal(err)
			}
			if len(m.seen) != c.made || len(seconds) != c.measured || slices.Min(seconds) < 0 {
				t.Errorf("%d steps made and %d timed (%v), want %d and %d", len(m.seen), len(seconds), seconds, c.made, c.measured)
			}
			for i, b := range m.seen {
				if b.Step != i || !slices.Equal(b.Samples, []int32{int32(10 * i)}) {
					t.Errorf("step %d has the batch %+v", i, b)
				}
			}
			if m.p.Value.Data[0] >= 0 {
				t.Errorf("the parameter went to %v, it does not learn", m.p.Value.Data[0])
			}
		})
	}
}

// A rehearsal goes on for its least time beyond its steps. Here that never ends, but the context
// does.
func TestRehearsalLeast(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	m := newNumber(20, func(*autograd.Tape) (*autograd.Node, error) { stop(enough); return nil, nil })
	r := steps(3)
	r.Least = 24 * time.Hour
	_, err := TimeSteps(ctx, m, r)
	if len(m.seen) != 21 || !errors.Is(err, ErrInterrupted) || !errors.Is(err, enough) {
		t.Errorf("%d steps, want 21: %v", len(m.seen), err)
	}
}

// The tape is prepared before the first step.
func TestRehearsalPrepare(t *testing.T) {
	m, r := newNumber(-1, nil), steps(3)
	reads := 0
	r.BeforeRead = func(p *autograd.Param, rows []int32) { reads++ }
	if _, err := TimeSteps(t.Context(), m, r); err != nil || reads != 3 {
		t.Errorf("%d parameters were announced in 3 steps: %v", reads, err)
	}
}

// What fails in a step is its error: the model's, the tape's about shapes, the optimiser's. What
// is no error of the tape stays a panic.
func TestRehearsalErrors(t *testing.T) {
	own := errors.New("own")
	_, err := TimeSteps(t.Context(), newNumber(4, func(*autograd.Tape) (*autograd.Node, error) { return nil, own }), steps(7))
	if !errors.Is(err, own) {
		t.Errorf("the model's error became %v", err)
	}
	wrong := newNumber(4, func(t *autograd.Tape) (*autograd.Node, error) {
		return t.Const(tensor.New(1, 2)).MatMul(t.Const(tensor.New(3, 1))), nil
	})
	seconds, err := TimeSteps(t.Context(), wrong, steps(7))
	var shape *autograd.Error
	if !errors.As(err, &shape) || seconds != nil {
		t.Errorf("wrong shapes gave %v and the error %v", seconds, err)
	}
	r := steps(7)
	r.Optimizer = refusing{own}
	if _, err := TimeSteps(t.Context(), newNumber(-1, nil), r); !errors.Is(err, own) {
		t.Errorf("the optimiser's error became %v", err)
	}
	defer func() {
		if r := recover(); r != "a slip" {
			t.Errorf("recovered %v", r)
		}
	}()
	_, _ = TimeSteps(t.Context(), newNumber(4, func(*autograd.Tape) (*autograd.Node, error) { panic("a slip") }), steps(7))
	t.Error("a panic was lost")
}

// refusing is an optimiser that makes no step.
type refusing struct{ err error }

func (o refusing) Step([]*autograd.Param, *autograd.Grads, float64) error { return o.err }

// Work that warns while it opens does so in a forecast and in an answer too, where nobody reads it.
func TestWarningsWithoutARun(t *testing.T) {
	for name, e := range map[string]*Env{
		"forecast": Rehearse(1), "forecast of the account": (&bound{}).rehearse(planning),
		"answer": Finished{}.Reopen(),
	} {
		t.Run(name, func(t *testing.T) {
			done := e.Stage("load")
			e.Log.Warn("a warning")
			e.AppendLog("event")
			done()
			if err := e.WriteMetrics(1); !errors.Is(err, errWritesNothing) {
				t.Errorf("writes metrics: %v", err)
			}
		})
	}
}
