package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"privrec/internal/autograd"
)

// due reports whether a checkpoint should be written after this step.
func (l *loop) due(now time.Time) bool {
	o := l.opt
	if o.Store == nil {
		return false
	}
	return (o.SaveSteps > 0 && l.at.Step%o.SaveSteps == 0) || (o.SaveEvery > 0 && now.Sub(l.saved) >= o.SaveEvery)
}

// interrupt saves the state and returns the error of an interrupted run.
func (l *loop) interrupt(ctx context.Context) error {
	if err := l.save(); err != nil {
		return fmt.Errorf("%w, %w: %w", l.interrupted(ctx), ErrNotSaved, err)
	}
	return l.interrupted(ctx)
}

func (l *loop) interrupted(ctx context.Context) error {
	return fmt.Errorf("%w at epoch %d, batch %d: %w", ErrInterrupted, l.at.Epoch+1, l.at.Batch, context.Cause(ctx))
}

// mark holds a position that was saved, so that it is not saved again.
type mark struct {
	epoch, batch int
	done         bool
}

// save writes a checkpoint, if there is a store and it does not hold this position. It fails on parameters that
// are not finite, so that the last good checkpoint stays.
func (l *loop) save() error {
	if l.opt.Store == nil || l.savedAt == (mark{l.at.Epoch, l.at.Batch, l.at.Done}) {
		return nil
	}
	began := time.Now()
	if err := l.checkParams(); err != nil {
		return err
	}
	c, err := l.capture()
	if err == nil {
		err = l.opt.Store.Save(c)
	}
	if err != nil {
		return fmt.Errorf("train: checkpoint at epoch %d, batch %d: %w", l.at.Epoch+1, l.at.Batch, err)
	}
	l.saved, l.savedAt = time.Now(), mark{l.at.Epoch, l.at.Batch, l.at.Done}
	if l.opt.Hooks.OnSave != nil {
		l.opt.Hooks.OnSave(SaveInfo{Epoch: l.at.Epoch, Batch: l.at.Batch, Step: l.at.Step,
			Seconds: l.saved.Sub(began).Seconds()})
	}
	return nil
}

// capture returns a checkpoint of the run's state with the live tensors.
func (l *loop) capture() (*Checkpoint, error) {
	c, at := &Checkpoint{}, l.at
	var err error
	if l.opt.Extra != nil {
		if at.Extra, err = l.opt.Extra.Save(); err != nil {
			return nil, fmt.Errorf("extra state: %w", err)
		}
	}
	if c.State, err = json.Marshal(&at); err != nil {
		return nil, err
	}
	for _, p := range l.params {
		c.Tensors = append(c.Tensors, autograd.NamedTensor{Name: prefixParam + p.Name, Value: p.Value})
	}
	for i, b := range l.best {
		c.Tensors = append(c.Tensors, autograd.NamedTensor{Name: prefixBest + l.params[i].Name, Value: b})
	}
	for _, t := range l.opt.Optimizer.State() {
		c.Tensors = append(c.Tensors, autograd.NamedTensor{Name: prefixOptim + t.Name, Value: t.Value})
	}
	return c, nil
}

// resume continues from the store's checkpoint, if there is one. It validates the whole checkpoint before it changes
// anything.
func (l *loop) resume() error {
	if l.opt.Store == nil {
		return nil
	}
	c, ok, err := l.opt.Store.Load()
	if err != nil || !ok {
		return err
	}
	p, err := c.progress()
	if err != nil {
		return err
	}
	if err := p.Identity.diff(l.at.Identity); err != nil {
		return err
	}
	if err := p.check(l.opt); err != nil {
		return err
	}
	if err := c.checkPrefixes(); err != nil {
		return err
	}
	values, err := c.match(prefixParam, l.params)
	if err != nil {
		return err
	}
	if l.opt.Select == SelectBest && p.Best >= 0 {
		if l.best, err = c.match(prefixBest, l.params); err != nil {
			return err
		}
	} else if len(c.withPrefix(prefixBest)) > 0 {
		return fmt.Errorf("checkpoint: holds a best epoch's parameters but names no best epoch")
	}
	if len(p.Extra) > 0 && l.opt.Extra == nil {
		return errors.New("checkpoint: holds extra state that this run does not know")
	}
	if err := l.opt.Optimizer.Load(c.withPrefix(prefixOptim)); err != nil {
		return fmt.Errorf("checkpoint: optimiser: %w", err)
	}
	if l.opt.Extra != nil {
		if err := l.opt.Extra.Load(p.Extra); err != nil {
			return fmt.Errorf("checkpoint: extra state: %w", err)
		}
	}
	for i, v := range values {
		copyMatrix(l.params[i].Value, v)
	}
	for i, b := range l.best { // copies, so that the store's memory is not kept
		l.best[i] = cloneMatrix(b)
	}
	p.Extra = nil
	l.at, l.resumed, l.savedAt = p, true, mark{p.Epoch, p.Batch, p.Done}
	return nil
}

// check returns an error for a position that no run with these options can reach.
func (p *progress) check(o *Options) error {
	done := len(p.History) == o.Epochs || (o.Stop.Rule != StopNever && len(p.History) > 0)
	switch {
	case p.Epoch != len(p.History) || p.Epoch > o.Epochs || p.Epoch < 0:
		return fmt.Errorf("checkpoint: at epoch %d with %d behind it, of %d", p.Epoch, len(p.History), o.Epochs)
	case p.Batch < 0 || p.Batch > o.batches():
		return fmt.Errorf("checkpoint: at batch %d of %d", p.Batch, o.batches())
	case p.Step != p.Epoch*o.batches()+p.Batch || p.Seen != min(p.Batch*o.BatchSize, o.samples()):
		return fmt.Errorf("checkpoint: step %d and %d samples do not fit epoch %d, batch %d", p.Step, p.Seen, p.Epoch,
			p.Batch)
	case p.Stop.Bad < 0:
		return fmt.Errorf("checkpoint: %d epochs without improvement", p.Stop.Bad)
	case p.Best >= len(p.History) || p.Best < -1:
		return fmt.Errorf("checkpoint: best epoch %d of %d", p.Best, len(p.History))
	case p.Done && !done, p.Epoch == o.Epochs && !p.Done:
		return fmt.Errorf("checkpoint: done is %v at epoch %d of %d", p.Done, p.Epoch, o.Epochs)
	}
	return nil
}
