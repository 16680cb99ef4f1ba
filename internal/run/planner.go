package run

import (
	"context"
	"errors"
	"fmt"
)

// Planner is Work that can compute its account in advance, for a run as long as the configuration allows. It trains
// nothing and writes nothing.
type Planner interface {
	Work
	// PlannedAccount returns the expected content of privacy.json. It fails with ErrNoPlan if the account is known only
	// after a run.
	PlannedAccount() (any, error)
}

// ErrNoPlan says that the account of a task is known only after a run.
var ErrNoPlan = errors.New("its account is known only after a run")

// PlannedAccount returns the expected content of privacy.json for a run with these options, as long as its
// configuration allows. It loads the data, trains nothing and writes nothing.
func (t Task) PlannedAccount(ctx context.Context, o Options) (any, error) {
	b, err := t.Action.load(t, source{path: o.Config, text: o.Text}, o.Sets)
	if err != nil {
		return nil, err
	}
	setWorkers(b.settings.Workers)
	w, err := b.opened(ctx, b.rehearse(planning), "")
	if err != nil {
		return nil, err
	}
	defer closeWork(w)
	p, ok := w.(Planner)
	if !ok {
		return nil, fmt.Errorf("%s: %w", t, ErrNoPlan)
	}
	a, err := p.PlannedAccount()
	if err != nil {
		err = fmt.Errorf("%s: %w", t, err)
	}
	return a, err
}
