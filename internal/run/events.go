package run

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/tensorboard"
	"privrec/internal/train"
)

// eventsName is the event file of a run. TensorBoard knows one by the beginning of its name.
const eventsName = "tensorboard/events.out.tfevents.0.privrec"

// eventsDelta is the delta of the epsilons in event files.
const eventsDelta = 1e-6

// eventFile writes for TensorBoard, if it is wanted, and keeps the first error.
type eventFile struct {
	wanted bool
	f      *tensorboard.File
	err    error
	warned bool // of releases that the quick bound has no price for
}

// writeEvents writes the results of an epoch for TensorBoard: its loss, learning rate and scores, and the privacy spent
// so far. A resumed run replaces the epochs that it repeats.
func (e *Env) writeEvents(i train.EpochInfo) {
	if !e.events.wanted || e.mode != running || e.events.err != nil {
		return
	}
	scalars := []tensorboard.Scalar{{Tag: "loss", Value: i.Loss}, {Tag: "learning rate", Value: i.LR}}
	for _, s := range i.Scores {
		scalars = append(scalars, tensorboard.Scalar{Tag: "scores/" + s.Name, Value: s.Value})
	}
	spent, err := e.spentByNow()
	if err != nil && !e.events.warned {
		e.Log.Warn("the event file has no epsilon", "why", err)
		e.events.warned = true
	}
	err = nil
	if e.events.f == nil {
		path := filepath.Join(e.Dir, filepath.FromSlash(eventsName))
		if err = e.mkdir(filepath.Dir(path)); err == nil {
			e.events.f, err = tensorboard.Open(path, time.Now())
		}
		e.kept = e.kept || err == nil
	}
	if err == nil {
		err = e.events.f.Add(time.Now(), int64(i.Epoch+1), append(scalars, spent...))
	}
	e.events.err = err
}

// spentByNow returns two epsilons at eventsDelta for each unit in the ledger: one of all releases so far, infinite if
// anything is unprotected, and one of the releases with noise alone. Both are quick upper bounds by Rényi differential
// privacy. The account of the finished run is no larger.
func (e *Env) spentByNow() (all []tensorboard.Scalar, err error) {
	if e.ledger == nil {
		return nil, nil
	}
	entries := e.ledger.Entries()
	var about []privacy.Subject
	for _, x := range entries {
		for _, s := range privacy.Subjects(x.Event) {
			if s.Unit != "" && s.Neighbouring != "" && !slices.Contains(about, s) {
				about = append(about, s)
			}
		}
	}
	for _, s := range about {
		books, err := accountant.New(accountant.RDP, s.Unit, s.Neighbouring)
		if err != nil {
			return nil, err
		}
		noise, err := accountant.Covered(books, entries, eventsDelta, e.ledger.Holdings()...)
		if err != nil {
			return nil, fmt.Errorf("epsilon by now: %w", err)
		}
		whole := noise.Epsilon
		for _, x := range entries {
			if _, open := privacy.AsUnprotected(x.Event); open {
				whole = math.Inf(1)
			}
		}
		name := fmt.Sprintf("%s (%s), delta %g", s.Unit, s.Neighbouring, eventsDelta)
		all = append(all, tensorboard.Scalar{Tag: "epsilon/" + name, Value: whole},
			tensorboard.Scalar{Tag: "epsilon of the noise/" + name, Value: noise.Epsilon})
	}
	return all, nil
}

func (e *eventFile) close() error {
	err := e.err
	if e.f != nil {
		err = errors.Join(err, e.f.Close())
	}
	if err != nil {
		return fmt.Errorf("write for TensorBoard: %w", err)
	}
	return nil
}
