package target

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// Run holds the attacked run and its data.
type Run struct {
	Description
	Dir  string
	Of   run.Task
	Seed uint64
	Kept string // the release that is attacked, such as noisy: the asked one or the first; empty: there is only one
	Hold run.HoldOut
	Held dataset.HoldOut // what is held out, with the seed of the rows

	Whole *dataset.Interactions // with all rows
	Given *dataset.Interactions // without what was held out

	source dataset.Source // of the run's data, as it was recorded
	view   dataset.View   // of the run's data, without its hold-out

	Imported experiment.Carrying // answers of a model that another program trained; nil: a run of this program

	users, rows bool // of an imported model: users, or rows of others, were kept from it

	// Sequences says that the model is one of sequences. Whole and Given then hold them as pairs.
	Sequences bool
	Last      []int32 // of sequences, item of every user's last training row; -1: it is the only row, or came before
	Rows      []int   // of sequences, training rows of every user

	// Coins are those that the run, and models trained like it, are asked with; see run.Serve. A model of sequences is
	// asked about the last training row of every user, whether it was trained on it or not.
	Coins string
}

// Description describes the attacked run.
type Description struct {
	Task    string      `json:"task"`
	Method  string      `json:"method"` // as its result calls it
	Setting string      `json:"setting"`
	Release string      `json:"release,omitempty"` // that was asked for
	Config  string      `json:"config_sha256"`
	HoldOut run.HoldOut `json:"hold_out"`
}

// Open opens the attacked run and loads its data, with and without held-out rows. It calls suits before it loads any
// data; suits may refuse the run.
func Open(ctx context.Context, dir, release string, tasks []run.Task,
	suits func(*Run) error) (*Run, *experiment.Outcome[experiment.Data], error) {
	m, err := run.ReadRun(dir, "name a run directory with --on, as privrec train writes them")
	if err != nil {
		return nil, nil, err
	}
	if m.Status != run.StatusDone {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status),
			Fix: "finish it with --resume"}
	}
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return nil, nil, err
	}
	if o.Protocol != topn.Name && o.Protocol != nextitem.Name {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf(
			"the run in %s is of protocol %s, and users and rows can be held out of protocols %s and %s alone", dir,
			o.Protocol, topn.Name, nextitem.Name), Fix: "attack a run of a top-n model, such as train ease"}
	}
	if experiment.IsImported(m.Task) {
		a, err := experiment.Ask(ctx, tasks, dir)
		if err != nil {
			return nil, nil, err
		}
		brought, ok := a.(experiment.Carrying)
		if !ok {
			return nil, nil, fmt.Errorf("the imported run in %s answers by %T, without rows", dir, a)
		}
		t := Brought(brought, o, dir, release, rng.Seed(m.Seed))
		t.Task, t.Config = m.Task, m.ConfigHash
		return t, o, suits(t)
	}
	t := &Run{Dir: dir, Seed: m.Seed, Description: Description{Task: m.Task, Method: o.Method, Setting: o.Setting,
		Release: release, Config: m.ConfigHash}}
	if t.Kept = release; t.Kept == "" && len(o.Evaluations) > 0 { // as answers take
		t.Kept = o.Evaluations[0].Release
	}
	if t.Of, err = experiment.Find(tasks, m.Task, "attacked"); err != nil {
		return nil, nil, err
	}
	if m.HoldOut != nil {
		t.Hold, t.HoldOut = *m.HoldOut, *m.HoldOut
	}
	if t.Sequences = o.Protocol == nextitem.Name; t.Sequences {
		t.Coins = run.CoinsOut
	}
	if err := suits(t); err != nil {
		return nil, nil, err
	}
	if m.HoldOut != nil && m.Draws != run.ByID {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("the run in %s is of an earlier program, which drew "+
			"what it held out by the place of users and rows: what it was not trained on is not known here", dir),
			Fix: "train again with another --out"}
	}
	t.Held = t.Hold.Of(rng.Seed(t.Seed))
	t.source, t.view = o.Data.Source, m.View(t.Held.Seed)
	if t.Whole, err = t.load(ctx, o.Data.Name, o.Data.Recipe, t.view); err != nil {
		return nil, nil, err
	}
	if err := registry.SameLists(t.source, t.Whole.Source); err != nil {
		return nil, nil, err
	}
	if t.Whole.Source.Hash != o.Data.Source.Hash {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", o.Data.Name,
			dir), Fix: "restore the data"}
	}
	t.Given = t.Whole
	if m.HoldOut != nil {
		t.Given, err = t.Without(ctx, t.Held)
	}
	return t, o, err
}

// Brought returns the target for an imported model that brings its rows. name is its directory, or the file of its
// lists. Rows that it was not trained on are in Whole alone.
func Brought(a experiment.Carrying, o *experiment.Outcome[experiment.Data], name, release string, seed rng.Seed) *Run {
	d, others := a.Rows()
	whole := *d
	if others != nil {
		whole.Train = make([][]int32, d.Users)
		for u := range whole.Train {
			whole.Train[u] = slices.Sorted(slices.Values(slices.Concat(d.Train[u], others[u])))
		}
	}
	t := &Run{Dir: name, Seed: uint64(seed), Held: dataset.HoldOut{Seed: seed}, Whole: &whole, Given: d, Imported: a,
		Description: Description{Method: o.Method, Setting: o.Setting, Release: release}}
	for u, all := range whole.Train {
		switch n := len(d.Train[u]); {
		case n == 0 && len(all) > 0:
			t.users = true
		case n < len(all):
			t.rows = true
		}
	}
	return t
}

// UsersHeld tells which users were kept from the training entirely although they have rows.
func (t *Run) UsersHeld() []bool {
	if t.Imported == nil {
		return t.Held.UsersHeld(t.Whole.UserIDs)
	}
	out := make([]bool, t.Whole.Users)
	for u := range out {
		out[u] = len(t.Given.Train[u]) == 0 && len(t.Whole.Train[u]) > 0
	}
	return out
}

// Holds reports whether users, or rows of other users, were kept from the model.
func (t *Run) Holds() (users, rows bool) {
	if t.Imported == nil {
		return t.Hold.Users > 0, t.Hold.Rows > 0
	}
	return t.users, t.rows
}

// Without loads the data of the target without the rows that h holds out.
func (t *Run) Without(ctx context.Context, h dataset.HoldOut) (*dataset.Interactions, error) {
	v := t.view
	v.HoldOut = &h
	d, err := t.load(ctx, t.Whole.Name, t.Whole.Recipe, v)
	if err == nil && h.Labels { // given, as labels
		given := *d
		given.Train = d.Labels
		return &given, nil
	}
	return d, err
}

// load loads data: pairs, or sequences as pairs. The first sequences loaded are the whole ones; load notes their last
// training rows.
func (t *Run) load(ctx context.Context, name, recipe string, v dataset.View) (*dataset.Interactions, error) {
	if !t.Sequences {
		return registry.LoadInteractions(ctx, name, recipe, v, registry.Again(t.source))
	}
	s, err := registry.Load(ctx, name, recipe, v, registry.Again(t.source))
	if err != nil {
		return nil, err
	}
	if t.Last == nil {
		t.Last, t.Rows = make([]int32, s.Users), make([]int, s.Users)
		for u, rows := range s.Train {
			n := len(rows)
			if t.Last[u], t.Rows[u] = -1, n; n > 1 && slices.Index(rows, rows[n-1]) == n-1 {
				t.Last[u] = rows[n-1] - 1
			}
		}
	}
	return s.Pairs(), nil
}
