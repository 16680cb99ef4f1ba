package target

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Run is the run that is attacked.
type Run struct {
	Description
	Dir  string
	Of   run.Task
	Seed uint64
	Hold run.HoldOut
	Held dataset.HoldOut // what is held out, with the seed of the rows

	Whole *dataset.Interactions // with all rows
	Given *dataset.Interactions // without what was held out
}

// Description says what is attacked.
type Description struct {
	Task    string      `json:"task"`
	Method  string      `json:"method"` // as its result calls it
	Setting string      `json:"setting"`
	Release string      `json:"release,omitempty"` // that was asked for
	Config  string      `json:"config_sha256"`
	HoldOut run.HoldOut `json:"hold_out"`
}

// Open reads what the attacked run is, and loads its data, with and without what was held out.
// suits is asked before any data are loaded, and may refuse the run.
func Open(ctx context.Context, dir, release string, tasks []run.Task, suits func(*Run) error) (*Run, *experiment.Outcome[experiment.Data], error) {
	m, err := run.ReadRun(dir, "name a run directory with --on, as privrec train writes them")
	if err != nil {
		return nil, nil, err
	}
	if m.Status != run.StatusDone {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status), Fix: "finish it with --resume"}
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return nil, nil, err
	}
	if o.Protocol != "top-n" {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is of protocol %s, and users and rows can be held out of protocol top-n alone", dir, o.Protocol), Fix: "attack a run of a top-n model, such as train ease"}
	}
	t := &Run{Dir: dir, Seed: m.Seed, Description: Description{Task: m.Task, Method: o.Method, Setting: o.Setting, Release: release, Config: m.ConfigHash}}
	if t.Of, err = experiment.Find(tasks, m.Task, "attacked"); err != nil {
		return nil, nil, err
	}
	if m.HoldOut != nil {
		t.Hold, t.HoldOut = *m.HoldOut, *m.HoldOut
	}
	if err := suits(t); err != nil {
		return nil, nil, err
	}
	t.Held = t.Hold.Of(rng.Seed(t.Seed))
	load := func(ctx context.Context) (*dataset.Interactions, error) {
		return registry.LoadInteractions(ctx, o.Data.Name, o.Data.Recipe, registry.Options{Seed: t.Held.Seed})
	}
	if t.Whole, err = load(ctx); err != nil {
		return nil, nil, err
	}
	if t.Whole.Source.Hash != o.Data.Source.Hash {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", o.Data.Name, dir), Fix: "restore the data"}
	}
	t.Given = t.Whole
	if m.HoldOut != nil {
		t.Given, err = t.Without(ctx, t.Held)
	}
	return t, o, err
}

// Without loads the data of the target without what h holds out.
func (t *Run) Without(ctx context.Context, h dataset.HoldOut) (*dataset.Interactions, error) {
	within, _, err := dataset.WithHoldOut(ctx, h)
	if err != nil {
		return nil, err
	}
	return registry.LoadInteractions(within, t.Whole.Name, t.Whole.Recipe, registry.Options{Seed: t.Held.Seed})
}
