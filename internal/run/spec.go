package run

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/config"
	"privrec/internal/rng"
)

// Work is a task's work under one configuration, opened: its data are loaded, and what it
// releases before it trains is released.
type Work interface {
	// Run does the work: it trains, measures, accounts and shows.
	Run(ctx context.Context) error
}

// Forecaster is Work that can say what Run would take.
type Forecaster interface {
	Work
	// Forecast measures a few real steps and multiplies. It writes nothing.
	Forecast(ctx context.Context) (Forecast, error)
}

// Answerer is Work whose finished runs can be asked.
type Answerer interface {
	Work
	// Answer takes up the model of the finished run that the work was opened for. Closing
	// the answers gives back what the work holds.
	Answer(ctx context.Context) (Server, error)
}

// Spec is one method as the program offers it. C is its configuration, which must not use
// the key "run".
type Spec[C any] struct {
	Verb    string // train, perturb, attack
	Name    string // dipsgnn
	Summary string // one line, lower case, no full stop
	Cite    string // the publication
	Flags   []Flag // of the command line, beside those of every task

	Default func() C
	Check   func(v *config.Checker, c C) // reports every setting that cannot be run
	// Open makes a configuration ready for all that can be asked of it: a run, a rehearsal
	// for a forecast, a finished run that answers. env keeps them apart: in the last two it
	// writes nothing and its ledger is in memory. Work that has a method Close is closed
	// when it is no longer needed, also after an error of its other methods.
	Open func(ctx context.Context, env *Env, c C) (Work, error)
	// Answers says that finished runs can be asked: what Open returns is an Answerer.
	Answers bool
}

// Task is the method as one of a list of tasks, with the type of its configuration erased.
func (s Spec[C]) Task() Task {
	validate := func(c C, doc *config.Document) error {
		v := config.NewChecker(doc)
		s.Check(v, c)
		return v.Err()
	}
	a := BindForecast(s.Default, validate, func(ctx context.Context, env *Env, c C) error {
		w, err := s.Open(ctx, env, c)
		if err != nil {
			return err
		}
		defer closeWork(w)
		return w.Run(ctx)
	}, func(ctx context.Context, seed rng.Seed, c C) (Forecast, error) {
		w, err := s.Open(ctx, Rehearse(seed), c)
		if err != nil {
			return Forecast{}, err
		}
		defer closeWork(w)
		f, ok := w.(Forecaster)
		if !ok {
			return Forecast{}, ErrNoForecast
		}
		return f.Forecast(ctx)
	})
	t := Task{Verb: s.Verb, Name: s.Name, Summary: s.Summary, Cite: s.Cite, Flags: s.Flags, Action: a}
	if !s.Answers {
		return t
	}
	t.Action = Serving(a, func(ctx context.Context, f Finished, c C) (Server, error) {
		w, err := s.Open(ctx, f.Reopen(), c)
		if err != nil {
			return nil, err
		}
		r, ok := w.(Answerer)
		if !ok {
			closeWork(w)
			return nil, fmt.Errorf("answer for %s: %T does not", t, w)
		}
		answers, err := r.Answer(ctx)
		if err != nil {
			closeWork(w)
			return nil, err
		}
		return answers, nil
	})
	return t
}

// closeWork gives the memory of opened work back, where it has any to give.
func closeWork(w Work) {
	if c, ok := w.(interface{ Close() }); ok {
		c.Close()
	}
}

// mode is what an Env is for.
type mode int

const (
	running    mode = iota // a run, which writes its directory
	rehearsing             // a forecast, of a run that is not made
	reopened               // a finished run, which is asked
)

// Rehearse makes the surroundings of work that is opened for a forecast. They write nothing,
// and their ledger is in memory.
func Rehearse(seed rng.Seed) *Env {
	return &Env{Seed: seed, Progress: Silent{}, mode: rehearsing, began: time.Now()}
}

// Reopen makes the surroundings of work that is opened for the answers of a finished run.
// They write nothing, and their ledger is in memory. The run's seed and configuration hash
// give its releases once more: the same draws, which are no other release. Data that are
// not those of the run are refused.
func (f Finished) Reopen() *Env {
	return &Env{Dir: f.Dir, Seed: f.Seed, ConfigHash: f.Manifest.ConfigHash, Progress: Silent{}, mode: reopened, began: time.Now(), manifest: f.Manifest}
}

// Finished is the run that the work was opened for; false unless it was opened to answer.
func (e *Env) Finished() (Finished, bool) {
	return Finished{Dir: e.Dir, Seed: e.Seed, Manifest: e.manifest}, e.mode == reopened
}

// Rehearsing reports whether the work was opened for a forecast.
func (e *Env) Rehearsing() bool { return e.mode == rehearsing }

// Opening is the time in seconds since the surroundings were made. Work that asks first in
// Forecast learns how long opening it took.
func (e *Env) Opening() float64 { return time.Since(e.began).Seconds() }
