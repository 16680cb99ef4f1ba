package run

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Stepped is work in numbered steps, whose state between two steps fits a checkpoint.
type Stepped struct {
	Of         int64        // steps in all
	Together   int64        // steps between which no checkpoint is written, at least 1
	Made       func() int64 // steps made so far
	Advance    func() error // makes the next one
	Checkpoint func() (Checkpoint, error)
	Restore    func(c Checkpoint) error // continues work that was just made from a checkpoint
}

// Run makes the remaining steps and reports them to done. With an env it continues from the run's checkpoint. It saves
// a checkpoint at the end, on interruption and as often as the run asks. Without an env it saves nothing.
func (w Stepped) Run(ctx context.Context, env *Env, done func(steps int)) error {
	saved, at := time.Now(), int64(-1)
	if env != nil {
		c, ok, err := env.LoadCheckpoint()
		if err != nil {
			return err
		}
		if ok {
			if err := w.Restore(c); err != nil {
				return err
			}
			at = w.Made()
			done(int(at))
		}
	}
	save := func() error {
		if env == nil || at == w.Made() {
			return nil
		}
		c, err := w.Checkpoint()
		if err != nil {
			return err
		}
		saved, at = time.Now(), w.Made()
		env.AppendLog("checkpoint", "step", at)
		return env.SaveCheckpoint(c)
	}
	for w.Made() < w.Of {
		if err := ctx.Err(); err != nil {
			return errors.Join(fmt.Errorf("%w at step %d: %w", ErrInterrupted, w.Made(), err), save())
		}
		if env != nil && env.Save.Due(w.Made()-max(at, 0), saved) {
			if err := save(); err != nil {
				return err
			}
		}
		for range min(w.Together, w.Of-w.Made()) {
			if err := w.Advance(); err != nil {
				return err
			}
			done(1)
		}
	}
	return save()
}
