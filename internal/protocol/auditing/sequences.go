package auditing

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"privrec/internal/attack/membership"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// openSequences lists the canaries of a model of sequences.
func (w *work) openSequences(ctx context.Context, s *subject) error {
	p, err := w.plant.Of(w.env.Seed)
	if err != nil {
		return err
	}
	p.In = func(int) bool { return false }
	d, err := registry.Load(ctx, s.of.Data.Name, s.of.Data.Recipe, s.manifest.View(p.Seed),
		registry.Again(s.of.Data.Source))
	if err != nil {
		return err
	}
	s.rows, s.lines, err = p.IntoSequences(d)
	return err
}

// howSequences returns a sentence about what the auditor sees of a model of sequences.
func (s *subject) howSequences(c AuditConfig, of string) string {
	switch c.Unit {
	case Sequence:
		return of + " that follow every canary sequence without its last item, whether it was in or not"
	case Interaction:
		return of + " that follow every canary sequence without its last item: which of the two candidates for it " +
			"stands higher"
	case Order:
		return of + " that follow every canary sequence without its last item, asked in either order, whichever it " +
			"was: after which of the two that item stands higher"
	}
	switch {
	case c.Sees == SeesVectors:
		return "a vector of every item: the scores that all users but the canary's own get of it"
	case s.again:
		return of + " that the canary's own user is shown, computed from what the user's own rows were trained to"
	}
	return of + " that follow the rows of the canary's user, whether it was in or not"
}

// followers returns a score for the last item of every canary: by how many standard deviations its score stands out, or
// its place in a list.
func (w *work) followers(ctx context.Context, s *subject, dir string) ([]float64, error) {
	_, err := os.Stat(filepath.Join(dir, experiment.ModelFile))
	s.again = err != nil
	if s.again && ordered(w.Audit.Unit) {
		return nil, &run.UsageError{Message: fmt.Sprintf("audit.unit: %s: models of %s are computed again from "+
			"users' own rows when they are asked, and keep nothing of a canary", w.Audit.Unit, w.task),
			Fix: "audit.unit=" + Edge + ", or audit a network, such as train gru4rec"}
	}
	if w.Audit.Sees == SeesVectors {
		if !s.again {
			return nil, &run.UsageError{Message: fmt.Sprintf(
				"audit.sees: runs of %s keep no vectors of items that scores are products of", w.task),
				Fix: "audit.sees=" + SeesScores}
		}
		return w.columns(ctx, s, dir)
	}
	if s.again && w.Audit.Others {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"audit.others: what %s shows users is computed from what their own rows were trained to", w.task),
			Fix: "audit.sees=" + SeesVectors}
	}
	last, other := make([]string, len(s.lines)), make([]string, len(s.lines))
	for k, c := range s.lines {
		last[k], other[k] = c.Last, c.Other
	}
	coins := run.CoinsIn
	switch {
	case s.again: // from the rows as they are: with others it would be another model
		coins = ""
	case w.Audit.Unit == Edge:
		coins = run.CoinsOut
	}
	if w.Audit.Unit == Interaction {
		return w.difference(ctx, s, dir, coins, last, coins, other)
	}
	if w.Audit.Unit == Order {
		return w.difference(ctx, s, dir, run.CoinsIn, last, run.CoinsOut, last)
	}
	return w.follows(ctx, s, dir, coins, last)
}

// difference returns the scores of items, asked with coins, less the scores of other items.
func (w *work) difference(ctx context.Context, s *subject, dir, coins string, items []string, with string,
	others []string) ([]float64, error) {
	a, err := w.follows(ctx, s, dir, coins, items)
	if err != nil {
		return nil, err
	}
	b, err := w.follows(ctx, s, dir, with, others)
	return less(a, b), err
}

// follows returns the score of one item for each canary as its user's next item. coins are those that the model is
// asked with; empty means its own.
func (w *work) follows(ctx context.Context, s *subject, dir, coins string, items []string) ([]float64, error) {
	users := make([]string, len(s.lines))
	for k, c := range s.lines {
		users[k] = c.User
	}
	k := w.Audit.K
	if w.Audit.Sees == SeesScores {
		k = s.rows.Items
	}
	lists, err := w.ask(ctx, dir, coins, users, k)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(lists))
	for k, l := range lists {
		scores, at := make([]float64, len(l.Items)), -1
		for i, x := range l.Items {
			if scores[i] = x.Score; x.Item == items[k] {
				at = i
			}
		}
		switch {
		case at < 0: // not among the best K
		case w.Audit.Sees == SeesScores:
			out[k] = membership.Standard(scores, at)
		default:
			out[k] = float64(len(l.Items) - at)
		}
	}
	return out, nil
}

// ask returns a model's lists of users' next items. coins are those that the model is asked with; empty means its own.
func (w *work) ask(ctx context.Context, dir, coins string, users []string, k int) ([]experiment.List, error) {
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	answers, err := experiment.AskWith(ctx, w.tasks, dir, coins)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	tensor.SetWorkers(workers)
	r, err := answers.Recommend(ctx, experiment.Question{Users: users, K: k, Release: w.Target.Release})
	if err != nil {
		return nil, err
	}
	return r.Lists, nil
}
