package train

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"privrec/internal/optim"
	"privrec/internal/rng"
)

// What package optim offers fits what the loop asks for.
var (
	_ Optimizer = (*optim.Adam)(nil)
	_ Optimizer = (*optim.AdamLazy)(nil)
	_ lazy      = (*optim.AdamLazy)(nil)
	_ Schedule  = optim.StepDecay{}
)

// TestOptimizersResume interrupts runs of the shipped optimisers at every step. With sparse look-ups the
// lazy one has rows in arrears at every checkpoint, which must stay so.
func TestOptimizersResume(t *testing.T) {
	for name, fresh := range map[string]func() Optimizer{
		"adam":      func() Optimizer { return optim.NewAdam(1e-3) },
		"adam lazy": func() Optimizer { return optim.NewAdamLazy(1e-3) },
	} {
		for _, sparse := range []bool{false, true} {
			run := func(ctx context.Context, seed rng.Seed, s *memory, stop func(step int)) ([]byte, error) {
				m := newToy(seed)
				m.sparse = sparse
				o := toyOptions(m)
				o.Optimizer, o.Store, o.BatchSize, o.Rate = fresh(), s, 2, 0.05
				o.Schedule = optim.StepDecay{Factor: 0.1, Every: 2, TickBefore: true}
				o.Hooks = Hooks{Every: -1, OnStep: func(i StepInfo) { stop(i.Step) }}
				r, err := Run(ctx, m, o)
				if err != nil {
					return nil, err
				}
				return outcome(m, r, s), nil
			}
			want, err := run(t.Context(), 1, &memory{}, func(int) {})
			if err != nil {
				t.Fatal(err)
			}
			for at := 1; at < 39; at++ {
				s := &memory{}
				ctx, cancel := context.WithCancel(t.Context())
				_, err := run(ctx, 1, s, func(step int) {
					if step == at {
						cancel()
					}
				})
				if !errors.Is(err, ErrInterrupted) {
					t.Fatal(err)
				}
				if got, err := run(t.Context(), 99, s, func(int) {}); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s, sparse %v, interrupted at step %d: the resumed run differs (%v)", name, sparse, at, err)
				}
			}
		}
	}
}

// TestScheduleOfTheReleasedCode is the decay of dipsgnn: x0.1 every 3 ticks, the tick before the epoch.
func TestScheduleOfTheReleasedCode(t *testing.T) {
	m := newToy(1)
	o := toyOptions(m)
	o.Epochs, o.Rate, o.Optimizer = 10, 0.01, optim.NewAdam(1e-5)
	o.Schedule = optim.StepDecay{Factor: 0.1, Every: 3, TickBefore: true}
	r, err := Run(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{1e-2, 1e-2, 1e-3, 1e-3, 1e-3, 1e-4, 1e-4, 1e-4, 1e-5, 1e-5} {
		if got := r.Epochs[i].LR; got < want*0.999999 || got > want*1.000001 {
			t.Errorf("epoch %d: rate %v, want %v", i, got, want)
		}
	}
}
