package run

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/config"
	"privrec/internal/rng"
)

// Work is a task's work under one configuration, opened: its data are loaded, and its releases
// before training are made.
type Work interface {
	// Run does the work: it trains, measures, accounts and shows the results.
	Run(ctx context.Context) error
}

// Forecaster is Work that can forecast what Run would take.
type Forecaster interface {
	Work
	// Forecast measures a few real steps and multiplies. It writes nothing.
	Forecast(ctx context.Context) (Forecast, error)
}

// Answerer is Work whose finished runs can be asked.
type Answerer interface {
	Work
	// Answer loads the model of the finished run that the work was opened for. Closing the
	// Server frees what the work holds.
	Answer(ctx context.Context) (Server, error)
}

// Spec is one method as the program offers it. C is its configuration, which must not use the
// key "run".
type Spec[C any] struct {
	Verb    string // train, perturb, attack
	Name    string // dipsgnn
	Summary string // one line, lower case, no full stop
	Cite    string // the publication
	Flags   []Flag // of the command line, beside those of every task

	Default func() C
	Check   func(v *config.Checker, c C) // reports every setting that cannot be run
	// Open prepares a configuration for everything that can be asked of it: a run, a rehearsal
	// for a forecast, a finished run that answers. env says which one; in the last two it
	// writes nothing, and its ledger is in memory. Work that has a method Close is closed when
	// it is no longer needed, also after an error of its other methods.
	Open func(ctx context.Context, env *Env, c C) (Work, error)
	// Answers says that finished runs can be asked: Open then returns an Answerer.
	Answers bool
}

// Task returns the method for a list of tasks, with the type of its configuration erased.
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

// closeWork frees the memory of opened work that has a method Close.
func closeWork(w Work) {
	if c, ok := w.(interface{ Close() }); ok {
		c.Close()
	}
}

// mode says what an Env is for.
type mode int

const (
	running    mode = iota // a run, which writes its directory
	rehearsing             // a forecast: no run is made
	reopened               // a finished run, which is asked
)

// Rehearse returns the environment of work that is opened for a forecast. It writes nothing,
// and its ledger is in memory.
func Rehearse(seed rng.Seed) *Env {
	return &Env{Seed: seed, Progress: Silent{}, mode: rehearsing, began: time.Now()}
}

// Reopen returns the environment of work that is opened for answers of a finished run. It
// writes nothing, and its ledger is in memory. The run's seed and configuration hash give its
// releases again: the same draws, which are not new releases. RecordData then fails on data
// that are not those of the run.
func (f Finished) Reopen() *Env {
	return &Env{Dir: f.Dir, Seed: f.Seed, ConfigHash: f.Manifest.ConfigHash, Progress: Silent{}, mode: reopened, began: time.Now(), manifest: f.Manifest}
}

// Finished returns the run that the work was opened for. ok is false unless it was opened for
// answers.
func (e *Env) Finished() (Finished, bool) {
	return Finished{Dir: e.Dir, Seed: e.Seed, Manifest: e.manifest}, e.mode == reopened
}

// Rehearsing reports whether the work was opened for a forecast.
func (e *Env) Rehearsing() bool { return e.mode == rehearsing }

// Opening returns the time in seconds since the environment was made. A Forecast that asks
// first learns how long opening the work took.
func (e *Env) Opening() float64 { return time.Since(e.began).Seconds() }
