package rap

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/model/rap"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Task returns the command that trains RAP. tables has results of others to show beside it.
func Task(tables topn.Tables) run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "rap",
		Summary: "matrix factorisation against an attacker that infers attributes (baseline of GERAI's Tables 2 and 3)",
		Cite:    rap.Cite,
		Default: Default, Check: check, Answers: true,
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return open(ctx, env, c, tables) },
	}.Task()
}

// open loads the data and the attributes, declares that nothing is protected, and makes the two
// sides.
func open(ctx context.Context, env *run.Env, c Config, tables topn.Tables) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default()},
		func(c Config) train.Length { return c.Train.Length() }, topn.Free()...)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: Name, Standing: standing, Data: c.Data, Train: c.Train,
		Eval: c.Eval,
		Loss: "mean BPR loss with penalty, less the attacker's loss (nats)", Shape: topn.Shape{Dim: c.Model.Dim},
		Tables: under(printed, tables)})
	if err != nil || x.Finished() {
		return x, err
	}
	classes, err := attributes(c.Attack, x.Data)
	if err != nil {
		return nil, err
	}
	a := experiment.Unprotected("edges", "the model trains on and recommends from the rows in the clear")
	a.Leave("attributes", "the attacker that shapes the vectors learns users' attributes in the clear; what it "+
		"cannot infer another one may")
	if c.Train.Selected() {
		a.Leave(topn.OpenSelection.What, topn.OpenSelection.Why)
	}
	if _, err := env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return nil, err
	}
	g := newGame(c, x.Data, classes, env.Seed)
	x.Model, x.Extra = g, g
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return &a, nil }
	return x, nil
}

// under returns tables that report results printed under another name as those of this method.
func under(name string, t topn.Tables) topn.Tables {
	if of := t.Printed; of != nil {
		t.Printed = func(_, data, release string, s topn.Shape) (topn.Printed, bool) {
			return of(name, data, release,
				s)
		}
	}
	return t
}

// attributes returns the classes of all users for each attribute. It fails if a recommendation list would be longer
// than the number of items that some user does not have in train.
func attributes(set Attack, d *dataset.Interactions) ([]dataset.Column, error) {
	for u, items := range d.Train {
		if left := d.Items - len(items); set.K > left {
			return nil, &run.UsageError{Message: fmt.Sprintf(
				"attack.k: lists of %d are longer than the %d items that user %q does not have in train, of %d", set.K,
				left, d.UserIDs[u], d.Items),
				Fix: fmt.Sprintf("take at most %d", left)}
		}
	}
	var all []dataset.Column
	for i, t := range set.Attributes {
		c, err := d.Features.Classes(t.Name, t.Bands...)
		if err != nil {
			return nil, run.WithHint(fmt.Errorf("attack.attributes.%d: %w", i, err), "name another attribute")
		}
		all = append(all, c)
	}
	return all, nil
}
