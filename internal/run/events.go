package run

import (
	"errors"
	"fmt"
	"log/slog"
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

// add writes the results of an epoch: its loss, learning rate and scores, and the privacy spent so far according to the
// ledger. A resumed run replaces the epochs that it repeats.
func (f *eventFile) add(dir string, l *privacy.Ledger, i train.EpochInfo, log *slog.Logger) {
	if !f.wanted || f.err != nil {
		return
	}
	scalars := []tensorboard.Scalar{{Tag: "loss", Value: i.Loss}, {Tag: "learning rate", Value: i.LR}}
	for _, s := range i.Scores {
		scalars = append(scalars, tensorboard.Scalar{Tag: "scores/" + s.Name, Value: s.Value})
	}
	spent, err := spentByNow(l)
	if err != nil && !f.warned {
		log.Warn("the event file has no epsilon", "why", err)
		f.warned = true
	}
	if f.f == nil {
		path := filepath.Join(dir, filepath.FromSlash(eventsName))
		if f.err = mkdir(filepath.Dir(path)); f.err != nil {
			return
		}
		if f.f, f.err = tensorboard.Open(path, time.Now()); f.err != nil {
			return
		}
	}
	f.err = f.f.Add(time.Now(), int64(i.Epoch+1), append(scalars, spent...))
}

// spentByNow returns two epsilons at eventsDelta for each unit in the ledger: one of all releases so far, infinite if
// anything is unprotected, and one of the releases with noise alone. Both are quick upper bounds by Rényi differential
// privacy. The account of the finished run is no larger.
func spentByNow(l *privacy.Ledger) (all []tensorboard.Scalar, err error) {
	if l == nil {
		return nil, nil
	}
	entries := l.Entries()
	var about []privacy.Subject
	for _, x := range entries {
		for _, s := range privacy.Subjects(x.Event) {
			if s.Unit != "" && s.Neighbouring != "" && !slices.Contains(about, s) {
				about = append(about, s)
			}
		}
	}
	for _, s := range about {
		rdp, err := accountant.New(accountant.RDP, s.Unit, s.Neighbouring)
		if err != nil {
			return nil, err
		}
		noise, err := accountant.Covered(rdp, entries, eventsDelta, l.Holdings()...)
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
