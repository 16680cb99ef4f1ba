package auditing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/attack/membership"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/target"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// subject describes the audited model: its data with all canaries known, and the unit of its guarantee.
type subject struct {
	clean    *dataset.Interactions // with canary users, all of whom are out
	canaries []dataset.Canary
	lines    []dataset.SequenceCanary // in the place of canaries, of sequences
	rows     *dataset.Sequential      // in the place of clean, of sequences
	again    bool                     // a model of sequences is computed again when it is asked
	release  string
	joint    bool // what users see of their own row is not part of the promise
	of       *experiment.Outcome[experiment.Data]
	manifest run.Manifest
}

// sequences reports whether the data, and so the canaries, are sequences.
func (s *subject) sequences() bool { return s.of.Protocol == nextitem.Name }

// subject returns the description of a trained model.
func (w *work) subject(dir string) (*subject, error) {
	o, err := experiment.ReadOutcome(dir)
	if err != nil {
		return nil, err
	}
	s := &subject{of: o, release: w.Target.Release}
	if s.manifest, err = run.ReadManifest(dir); err != nil {
		return nil, err
	}
	if s.release == "" && len(o.Evaluations) > 0 {
		s.release = o.Evaluations[0].Release
	}
	a, err := experiment.ReadAccount(dir)
	s.joint = joint(a) || w.Audit.Others
	return s, err
}

// open reads the description of a trained model and lists its canaries.
func (w *work) open(ctx context.Context, dir string) (*subject, error) {
	s, err := w.subject(dir)
	if err != nil {
		return nil, err
	}
	if s.sequences() {
		return s, w.openSequences(ctx, s)
	}
	o := s.of
	p, err := w.plant.Of(w.env.Seed)
	if err != nil {
		return nil, err
	}
	p.In = func(int) bool { return false }
	d, err := registry.LoadInteractions(ctx, o.Data.Name, o.Data.Recipe, s.manifest.View(p.Seed),
		registry.Again(o.Data.Source))
	if err != nil {
		return nil, err
	}
	if d.Source.Hash != o.Data.Source.Hash {
		return nil, &run.UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", o.Data.Name, dir),
			Fix: "restore the data"}
	}
	s.clean, s.canaries, err = p.Into(d)
	return s, err
}

// ownScores fails if a model computes scores from users' own rows, which its guarantee does not cover. Such a model
// keeps users' vectors.
func (w *work) ownScores(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, experiment.ModelFile)); err != nil {
		return nil
	}
	return &run.UsageError{Message: fmt.Sprintf("audit.sees: the scores of %s are computed from users' own rows, "+
		"which its promise leaves to them; what it releases to others are vectors of items", w.task),
		Fix: "audit.sees=" + SeesVectors + " with audit.method=" + OneRun + " or " + Canary}
}

// how returns a sentence about what the auditor sees.
func (s *subject) how(c AuditConfig) string {
	of := map[string]string{SeesScores: "scores of all items", SeesLists: fmt.Sprintf("lists of %d items", c.K),
		SeesVectors: "vectors"}[c.Sees]
	if s.sequences() {
		return s.howSequences(c, of)
	}
	switch {
	case s.joint && c.Sees == SeesVectors:
		return "vectors of items: users' own vectors are computed from their own rows, which the promise leaves to them"
	case s.joint:
		return of + ", asked with histories that do not depend on the coins: what users are shown of their own row " +
			"is no part of the promise"
	case c.Sees == SeesVectors:
		return "vectors of users and items"
	}
	return of + ", as every user is shown them"
}

// see returns a score for every canary from a model's output: by how many standard deviations its items stand out from
// all items, or their places in lists; the mean over a canary's items.
func (w *work) see(ctx context.Context, s *subject, dir string) ([]float64, error) {
	switch {
	case s.sequences():
		return w.followers(ctx, s, dir)
	case w.Audit.Sees == SeesVectors:
		return w.vectors(s, dir)
	}
	workers := tensor.Workers() // opening a run sets those of its own configuration
	defer tensor.SetWorkers(workers)
	coins := ""
	if s.joint {
		if err := w.ownScores(dir); err != nil {
			return nil, err
		}
		if coins = run.CoinsOut; w.Audit.Unit == User {
			coins = run.CoinsIn
		}
	}
	answers, err := experiment.AskWith(ctx, w.tasks, dir, coins)
	if err != nil {
		return nil, err
	}
	defer answers.Close()
	tensor.SetWorkers(workers)
	scoring, ok := answers.(experiment.Scoring)
	if !ok {
		return nil, &run.UsageError{Message: fmt.Sprintf("the run in %s does not show the scores of its items", dir),
			Fix: "audit a top-n model, such as train ease"}
	}
	r, err := scoring.Ranking(ctx, s.release)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(s.canaries))
	for k, c := range s.canaries {
		names[k] = s.clean.UserIDs[c.User]
	}
	out := make([]float64, len(s.canaries))
	return out, r.Scores(ctx, names, func(k int, scores []tensor.Float) { out[k] = w.stands(s, k, scores) })
}

// stands returns the standing of a canary's items among all items by scores.
func (w *work) stands(s *subject, k int, scores []tensor.Float) float64 {
	c, sum := s.canaries[k], 0.0
	var list []int32
	if w.Audit.Sees == SeesLists {
		list = best(scores, had(s.clean, c.User), w.Audit.K)
	}
	for _, i := range c.Items {
		if w.Audit.Sees == SeesLists {
			if at := slices.Index(list, i); at >= 0 {
				sum += float64(len(list) - at)
			}
			continue
		}
		sum += membership.Standard(scores, int(i))
	}
	return sum / float64(len(c.Items))
}

// had returns the items that a user has in training or validation rows, canaries aside.
func had(d *dataset.Interactions, u int32) []int32 {
	if d.Valid == nil {
		return d.Train[u]
	}
	return slices.Concat(d.Train[u], d.Valid[u])
}

// best returns the k items with the highest scores that are not hidden. Of equal scores the lower number comes first.
func best(scores []tensor.Float, hidden []int32, k int) []int32 {
	order := make([]int32, 0, len(scores))
	for i := range scores {
		if !slices.Contains(hidden, int32(i)) {
			order = append(order, int32(i))
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return -cmp.Compare(scores[a], scores[b]) })
	return order[:min(k, len(order))]
}

// vectors returns the standing of every canary's items among all items by the cosine with the user's vector. If users
// keep their vectors to themselves, the sum of the vectors of the user's other items replaces it.
func (w *work) vectors(s *subject, dir string) ([]float64, error) {
	v, err := experiment.OpenVectors(dir, s.release, s.clean.Users, s.clean.Items)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &run.UsageError{Message: fmt.Sprintf("audit.sees: runs of %s keep no vectors", w.task),
			Fix: "audit.sees=" + SeesScores}
	}
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(s.canaries))
	tensor.Parallel(len(out), 4, func(_, lo, hi int) {
		cosines := make([]float64, v.Items.Rows)
		for k := lo; k < hi; k++ {
			c := s.canaries[k]
			for _, i := range c.Items {
				probe := tensor.Row(v.Users, int(c.User))
				if s.joint {
					probe = sumOf(v.Items, slices.Concat(s.clean.Train[c.User], c.Items), i)
				}
				for j := range cosines {
					cosines[j] = target.Cosine(probe, tensor.Row(v.Items, j))
				}
				out[k] += membership.Standard(cosines, int(i)) / float64(len(c.Items))
			}
		}
	})
	return out, nil
}

// sumOf returns the sum of the vectors of items, without one of them, each scaled to length 1.
func sumOf(v tensor.Matrix, items []int32, without int32) []tensor.Float {
	out := make([]tensor.Float, v.Cols)
	for _, i := range items {
		x := tensor.Row(v, int(i))
		n := 0.0
		for _, y := range x {
			n += float64(y) * float64(y)
		}
		if i == without || n == 0 {
			continue
		}
		for j, y := range x {
			out[j] += y / tensor.Float(math.Sqrt(n))
		}
	}
	return out
}
