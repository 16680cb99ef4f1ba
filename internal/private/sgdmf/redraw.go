package sgdmf

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/descent"
	"privrec/internal/private/release"
	"privrec/internal/run"
)

// looked is the number of values of a gradient that an audit looks at: the noise of few is drawn in less time.
const looked = 32

// redraw returns the releases of a finished run for an audit: the counts and every step. It makes the steps again, with
// the noise of the run, and takes the canary's gradients. The vectors with which a step begins stay as they are when it
// is drawn again: the account holds for any gradients. Of each it keeps the largest values, long enough for the clip.
func (w *work) redraw(ctx context.Context, items int) ([]audit.Release, error) {
	if w.Env.Secure() { // its noise cannot be drawn again, nor its steps be made again
		return nil, experiment.ErrNoRedraw
	}
	var err error
	if w.budget, err = newBudget(w.cfg, w.Graph.Users, w.Data.Items); err != nil {
		return nil, err
	}
	if w.budget.sgd.Sampling == privacy.Allocation { // a step alone has no law of its own
		return nil, fmt.Errorf("only steps over Poisson samples: %w", experiment.ErrNoRedraw)
	}
	if w.cfg.Train.Noise == Deferred { // a step shows rows that it reads, with noise of many steps
		return nil, fmt.Errorf("only steps with train.noise=dense: %w", experiment.ErrNoRedraw)
	}
	if w.ledger, err = w.Env.Ledger(w.cfg.Privacy.Marks(), privacy.Declaration{}); err != nil {
		return nil, err
	}
	t, err := w.begin()
	if err != nil {
		return nil, err
	}
	canary := slices.Clone(t.f.items[:min(items, len(t.f.items))])
	slices.Sort(canary)
	with := release.With(w.Data, canary)
	draw := release.Draw{Items: w.cfg.Privacy.PerCount(), Stream: w.stream("contributions to counts")}
	counted := func(ids []string, rows [][]int32) ([]float64, error) {
		tally := release.NewTally(w.budget.counts.Dimension, w.Data.Items)
		for _, list := range draw.All(ids, rows) {
			if err := tally.Add(list); err != nil {
				return nil, err
			}
		}
		return release.Exact(tally.Counts), nil
	}
	all, err := counted(with.UserIDs, with.Train)
	if err != nil {
		return nil, err
	}
	others, err := counted(w.Data.UserIDs, w.Data.Train)
	if err != nil {
		return nil, err
	}
	rest, term := release.Changed(all, others)
	r := release.Releaser{Noise: w.noise, Releases: 2}
	counts, err := r.Redraw(w.budget.counts, rest, term)
	if err != nil {
		return nil, err
	}
	out := []audit.Release{counts}
	noise, err := w.noise(purposeGradients)
	if err != nil {
		return nil, err
	}
	for t.step < t.of {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w at step %d: %w", run.ErrInterrupted, t.step, err)
		}
		draws := t.draws
		draws.Stream = draws.Stream.Sub(uint64(t.step))
		negatives, times := t.drawNegatives()
		if w.cfg.Train.Others == Drawn {
			t.f.share(negatives, times)
		}
		var p part
		newWorker(t.f).gradient(&p, canary, draws.Of(release.Canary, canary), negatives, times)
		sgd := w.budget.sgd
		step, err := descent.Redraw(sgd, uint64(t.step), descent.Crafted(sgd, p.values, looked), noise)
		if err != nil {
			return nil, err
		}
		step.Purpose = fmt.Sprintf("%s, step %d", step.Purpose, t.step+1)
		out = append(out, step)
		if err := t.advance(); err != nil {
			return nil, err
		}
	}
	return out, nil
}
