package train

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// TestFailuresNameThePlace breaks step 7, the third batch of the second epoch, in every way there is.
func TestFailuresNameThePlace(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		onLoss func(Batch) error
		bend   func(*autograd.Node) *autograd.Node
		is     error
		want   []string
		stack  bool
	}{
		"error": {onLoss: func(Batch) error { return broken }, is: broken, want: []string{"broken"}},
		"shape": {bend: func(n *autograd.Node) *autograd.Node {
			return n.Add(n.Tape().Const(tensor.New(2, 3)))
		}, want: []string{"autograd: add", "(2,3)"}},
		"panic":         {onLoss: func(Batch) error { panic("odd") }, want: []string{"panic: odd"}, stack: true},
		"error panic":   {onLoss: func(Batch) error { panic(broken) }, is: broken, want: []string{"panic: broken"}, stack: true},
		"runtime panic": {onLoss: func(b Batch) error { _ = b.Samples[100]; return nil }, want: []string{"index out of range"}, stack: true},
		"worker panic": {onLoss: func(Batch) error {
			tensor.Parallel(64, 1, func(chunk, _, _ int) {
				if chunk == 9 {
					panic("far away")
				}
			})
			return nil
		}, want: []string{"far away"}, stack: true},
		"not a scalar": {bend: func(n *autograd.Node) *autograd.Node { return n.ConcatCols(n) }, want: []string{"loss is 1x2, want 1x1"}},
		"no node":      {bend: func(*autograd.Node) *autograd.Node { return nil }, want: []string{"no loss"}},
		"NaN": {bend: func(n *autograd.Node) *autograd.Node { return n.Scale(-1).Log() }, is: ErrNotFinite,
			want: []string{"loss is NaN", "log#", "produced NaN"}},
		"infinite": {bend: func(n *autograd.Node) *autograd.Node { return n.Scale(1e30).Exp() }, is: ErrNotFinite,
			want: []string{"loss is +Inf", "exp#"}},
	} {
		m, s := newToy(1), &memory{}
		m.onLoss = func(b Batch) error {
			if b.Step == 7 && c.onLoss != nil {
				return c.onLoss(b)
			}
			return nil
		}
		m.bend = func(b Batch, n *autograd.Node) *autograd.Node {
			if b.Step == 7 && c.bend != nil {
				return c.bend(n)
			}
			return n
		}
		o := toyOptions(m)
		o.Store, o.SaveSteps = s, 1
		_, err := Run(t.Context(), m, o)
		wantError(t, name, err, append(c.want, "train: epoch 2, batch 3 of 5 (step 7, samples 12-17 of the epoch: [")...)
		var e *StepError
		if !errors.As(err, &e) || e.Epoch != 1 || e.Batch != 2 || e.From != 12 || e.To != 18 || len(e.Samples) != 5 {
			t.Errorf("%s: %+v", name, e)
		}
		if c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: does not wrap %v", name, c.is)
		}
		if hasStack := strings.Contains(err.Error(), "goroutine "); hasStack != c.stack {
			t.Errorf("%s: stack %v", name, hasStack)
		}
		// The last good checkpoint stays, and a repaired model goes on from it.
		if _, _, step, _, err := s.c.Position(); err != nil || step != 7 {
			t.Errorf("%s: saved at step %d (%v)", name, step, err)
		}
		if got, want := string(resumed(t, s, variants["all"])), string(whole(t, variants["all"])); got != want {
			t.Errorf("%s: the repaired run differs", name)
		}
	}
}

// poisonous is an optimiser that writes a NaN in its nth step, as a bad gradient behind a finite loss does.
type poisonous struct {
	momentum
	at, n int
}

func (o *poisonous) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if err := o.momentum.Step(params, g, lr); err != nil {
		return err
	}
	if o.n++; o.n == o.at {
		params[1].Value.Data[7] = tensor.Float(math.NaN())
	}
	return nil
}

func TestBadParametersAreNotKept(t *testing.T) {
	for _, c := range []struct {
		at, cadence int
		want        string
	}{
		{5, 0, "epoch 1, after batch 5 (step 5): parameter map holds NaN at (1,2)"}, // last step of an epoch
		{3, 1, "epoch 1, after batch 3 (step 3): parameter map holds NaN"},          // before a checkpoint
		{3, 0, "epoch 1, batch 4 of 5"},                                             // in the next loss
	} {
		m, s := newToy(1), &memory{}
		o := toyOptions(m)
		o.Optimizer, o.Store, o.SaveSteps = &poisonous{at: c.at}, s, c.cadence
		_, err := Run(t.Context(), m, o)
		if !errors.Is(err, ErrNotFinite) {
			t.Error(err)
		}
		wantError(t, c.want, err, c.want, "map")
		if s.c != nil {
			for _, x := range s.c.Tensors {
				if _, ok := tensor.Finite(x.Value.Data); !ok {
					t.Errorf("the checkpoint holds a NaN in %s", x.Name)
				}
			}
		}
	}
}

func TestValidationErrorEndsTheRun(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	broken := errors.New("broken")
	o.Validate = func(context.Context, int) ([]Score, error) { return nil, broken }
	_, err := Run(t.Context(), m, o)
	if !errors.Is(err, broken) || errors.Is(err, ErrInterrupted) {
		t.Error(err)
	}
	wantError(t, "validation", err, "train: validation after epoch 1: broken")
}
