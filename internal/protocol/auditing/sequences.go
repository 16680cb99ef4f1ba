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
	d, err := registry.Load(ctx, s.of.Data.Name, s.of.Data.Recipe, registry.Options{Seed: p.Seed})
	if err != nil {
		return err
	}
	s.items = d.Items
	_, s.lines, err = p.IntoSequences(d)
	return err
}

// followers returns what a model shows of the last item of every canary sequence, asked what follows
// the others: how far its score stands out, in deviations, or its place in a list.
func (w *work) followers(ctx context.Context, s *subject, dir string) ([]float64, error) {
	if _, err := os.Stat(filepath.Join(dir, experiment.ModelFile)); err != nil {
		return nil, &run.UsageError{Message: fmt.Sprintf("audit.unit: %s: models of %s are computed again from users' own rows when they are asked, and keep nothing of a canary", Sequence, w.task), Fix: "audit a network, such as train gru4rec"}
	}
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	answers, err := experiment.Ask(run.AskedWith(ctx, run.CoinsIn), w.tasks, dir)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	tensor.SetWorkers(workers)
	q := experiment.Question{K: w.Audit.K, Release: w.Target.Release}
	for _, c := range s.lines {
		q.Users = append(q.Users, c.User)
	}
	if w.Audit.Sees == SeesScores {
		q.K = s.items
	}
	r, err := answers.Recommend(ctx, q)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(s.lines))
	for k, l := range r.Lists {
		scores, at := make([]float64, len(l.Items)), -1
		for i, x := range l.Items {
			if scores[i] = x.Score; x.Item == s.lines[k].Last {
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
