package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"privrec/internal/config"
	"privrec/internal/rng"
)

// Work is a task opened under one configuration: its data are loaded, and the releases before training are made.
type Work interface {
	// Run does the work: it trains, measures, accounts and shows the results.
	Run(ctx context.Context) error
}

// Forecaster is Work that can estimate the time and memory of Run.
type Forecaster interface {
	Work
	// Forecast measures a few real steps and multiplies. It writes nothing.
	Forecast(ctx context.Context) (Forecast, error)
}

// Answerer is Work whose finished runs can answer questions.
type Answerer interface {
	Work
	// Answer loads the model of the finished run that the work was opened for. Closing the Answers frees the memory of
	// the work.
	Answer(ctx context.Context) (Answers, error)
}

// Spender is the configuration of a task whose runs can spend from a shared budget (package budget).
type Spender interface {
	// SpendsFrom returns the path of the budget file; empty for none.
	SpendsFrom() string
}

// Suited is a configuration whose defaults depend on the data, such as the recipe. Its pointer implements it.
type Suited interface {
	// Suit sets what doc does not give to values that suit the data, and leaves other settings alone. It fails on data
	// that cannot serve the task.
	Suit(doc *config.Document) error
}

// closeWork frees the memory of opened work that has a method Close.
func closeWork(w Work) {
	if c, ok := w.(interface{ Close() }); ok {
		c.Close()
	}
}

// opened opens the work with users forgotten, rows held out and canaries planted. It fails if the work loads no data
// that could be changed so. coins are those of Serve, for a finished run.
func (b *bound) opened(ctx context.Context, env *Env, coins string) (Work, error) {
	v, seed := &env.opening.view, rng.Seed(b.settings.Seed)
	if p := b.settings.Plant; p != (Plant{}) {
		p.Coins = cmp.Or(coins, p.Coins)
		of, err := p.Of(seed)
		if err != nil {
			return nil, err
		}
		of.Asked = coins != ""
		v.Planted = &of
	}
	if h := b.settings.HoldOut; h.active() {
		if of := h.Of(seed); coins != "" { // whole, whatever is held out
			v.Seed, v.Asked = of.Seed, true
		} else {
			v.HoldOut = &of
		}
	}
	v.Forgotten = b.settings.Forgotten
	var found []string
	v.Found = func(ids []string) { found = append(found, ids...) }
	w, err := b.open(ctx, env)
	if err != nil {
		return nil, err
	}
	if env.opening.viewed || len(v.Changes()) == 0 {
		if b.found == nil {
			return w, nil
		}
		slices.Sort(found)
		if err := b.found(slices.Compact(found)); err != nil {
			closeWork(w)
			return nil, err
		}
		return w, nil
	}
	closeWork(w)
	if len(v.Forgotten) > 0 {
		return nil, &UsageError{Message: "run.forgotten: this task loads no data that users can be left out of",
			Fix: "leave it out"}
	}
	no := &UsageError{Message: "run.hold_out: this task loads no data that users or rows can be held out of",
		Fix: "it is for models of protocols top-n and next-item"}
	if v.HoldOut == nil {
		no.Message = "run.plant: this task loads no data that canaries can be planted into"
	}
	return nil, no
}

// work opens the configuration for a run and runs it.
func (b *bound) work(ctx context.Context, env *Env) error {
	w, err := b.opened(ctx, env, "")
	if err != nil {
		return err
	}
	defer closeWork(w)
	return w.Run(ctx)
}

// forecast opens the configuration for a rehearsal and measures it.
func (b *bound) forecast(ctx context.Context) (Forecast, error) {
	w, err := b.opened(ctx, b.rehearse(rehearsing), "")
	if err != nil {
		return Forecast{}, err
	}
	defer closeWork(w)
	f, ok := w.(Forecaster)
	if !ok {
		return Forecast{}, ErrNoForecast
	}
	return f.Forecast(ctx)
}

// answer opens the configuration for a finished run and loads its model. coins are those of Serve.
func (b *bound) answer(ctx context.Context, f Finished, coins string) (Answers, error) {
	w, err := b.opened(ctx, f.Reopen(), coins)
	if err != nil {
		return nil, err
	}
	r, ok := w.(Answerer)
	if !ok {
		closeWork(w)
		return nil, fmt.Errorf("answer for %s: %T does not", f.Manifest.Task, w)
	}
	answers, err := r.Answer(ctx)
	if err != nil {
		closeWork(w)
		return nil, err
	}
	return answers, nil
}

// Answers is an opened finished run that answers questions. Package experiment defines the questions.
type Answers interface {
	Close() // frees memory
}
