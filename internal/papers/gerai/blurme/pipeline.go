package blurme

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Name of the method in results.
const Name = "BlurMe"

// Task returns the command that trains BPRMF on rows that BlurMe changed. tables has results of others to show beside
// it.
func Task(tables topn.Tables) run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "blurme",
		Summary: "matrix factorisation on rows with items typical of another class (baseline of GERAI's Tables 2 and " +
			"3)", Cite: Cite,
		Default: Default, Check: check, Answers: true,
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return open(ctx, env, c, tables) },
	}.Task()
}

// blurred is a run that writes the users' additions before it trains.
type blurred struct {
	*topn.Experiment
	added *added
}

// open loads the data, blurs the rows, declares that nothing is protected, and makes the model.
func open(ctx context.Context, env *run.Env, c Config, tables topn.Tables) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default()},
		func(c Config) train.Length { return c.Train.Length() }, topn.Free()...)
	if err != nil {
		return nil, err
	}
	var a *added
	var n Counts
	var was *dataset.Interactions
	x, err := topn.LoadChanged(ctx, env, topn.Method{Name: Name, Standing: standing, Data: c.Data, Train: c.Train,
		Eval:  c.Eval,
		Shape: topn.Shape{Dim: c.Model.Dim}, Tables: tables},
		func(d *dataset.Interactions) (x *dataset.Interactions, err error) {
			defer env.Stage("blur")()
			if a, err = c.Blur.choose(ctx, env, d); err != nil {
				return nil, err
			}
			was = d
			x, n = blur(d, a)
			return x, nil
		})
	if err != nil {
		return nil, err
	}
	if c.Blur.History == HistoryTrue {
		x.Had = was
	}
	if x.Finished() {
		return x, nil
	}
	p := &Account{Account: experiment.Unprotected("edges",
		"the model trains on and recommends from the rows in the clear, added ones among them"), Added: n}
	p.Leave("attributes", "the lists of items and what each user adds are made from users' "+c.Blur.Attribute+
		" in the clear; who learns from such rows can read it from the additions")
	if c.Train.Selected() {
		p.Leave(topn.OpenSelection.What, topn.OpenSelection.Why)
	}
	if _, err := env.Ledger(privacy.Research, p.Declaration()); err != nil {
		return nil, err
	}
	vectors, err := c.Model.Vectors(x.Graph, env.Seed)
	if err != nil {
		return nil, err
	}
	x.Model = x.ByBPR(topn.Plain(vectors))
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return p, nil }
	return &blurred{x, a}, nil
}

// choose learns the lists and returns the items that every user adds.
func (b Blur) choose(ctx context.Context, env *run.Env, d *dataset.Interactions) (*added, error) {
	if d.Ratings == nil {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"data.recipe: %q of %s keeps no ratings, from which the lists of items are learned", d.Recipe, d.Name),
			Fix: "take recipe gerai"}
	}
	class, err := d.Features.Classes(b.Attribute, b.Bands...)
	if err != nil {
		return nil, run.WithHint(fmt.Errorf("blur.attribute: %w", err), "name another attribute")
	}
	lists, err := typical(ctx, d, &class, b.Folds, b.List, env.Seed, logistic)
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, fmt.Errorf("blur: %w", err)
	}
	return add(d, &class, lists, b.Share, b.Choose, env.Seed), nil
}

// Run implements run.Work. It writes the added rows, then trains and measures.
func (b *blurred) Run(ctx context.Context) error {
	d := b.Data
	var users, items []string
	var ratings []float32
	for u, list := range d.Train {
		for k, i := range list {
			if b.added.has(u, i) {
				users, items, ratings = append(users, d.UserIDs[u]), append(items, d.ItemIDs[i]),
					append(ratings, d.Ratings[u][k])
			}
		}
	}
	err := b.Env.WriteScores("added", run.Column{Name: "user_id", Values: users},
		run.Column{Name: "item_id", Values: items}, run.Column{Name: "rating", Values: ratings})
	if err != nil {
		return err
	}
	return b.Experiment.Run(ctx)
}

// Account holds the content of privacy.json: nothing is protected, and what was added.
type Account struct {
	experiment.Account
	Added Counts `json:"added"`
}

// Show implements experiment.Privacy.
func (a *Account) Show(d *report.Document) {
	n := a.Added
	d.Facts = append(d.Facts, report.Fact{Label: "added rows", Value: fmt.Sprint(n.Rows),
		Note: fmt.Sprintf("by %d users; %d of them were test rows and %d validation rows, which are not measured; "+
			"the lists of %d users were too short", n.Users, n.Test, n.Valid, n.Short)})
	a.Account.Show(d)
}
