package gram

import (
	"cmp"
	"context"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/privacy/audit"
	"privrec/internal/private/release"
	"privrec/internal/protocol/static"
	"privrec/internal/run"
)

// redraw returns the releases of a finished run for an audit. The canary user has so many items of the matrix, those of
// the largest weights: no user has a longer term.
func (w *work) redraw(ctx context.Context, x *static.Experiment, items int) ([]audit.Release, error) {
	if w.stream != nil {
		return nil, experiment.ErrNoRedraw // a stream is audited as a whole, and its releases share noise
	}
	if r, ok := x.Rows(); ok {
		w.rows, w.source = r, local{r}
	}
	if err := w.env.Private(w.rows.TrainRows()); err != nil {
		return nil, err
	}
	r, err := w.obtain(ctx)
	if err != nil {
		return nil, err
	}
	sums, err := w.sums()
	if err != nil {
		return nil, err
	}
	canary := release.Top(r.counts, items)
	var p *Plan
	if w.matrix != nil {
		p = w.plan(r.counts, sums)
		sums[1], canary = p.Sum, p.longestRow(items)
	}
	canary = slices.Clone(canary)
	slices.Sort(canary)
	with := local{static.Rows{Interactions: release.With(w.rows.Interactions, canary)}}
	var out []audit.Release
	for k, s := range sums {
		sum := func(of Source) ([]float64, error) {
			if k == 0 {
				return of.Counts(ctx, w.draws())
			}
			return of.Triangle(ctx, w.draws(), p)
		}
		all, err := sum(with)
		if err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		others, err := sum(local{w.rows})
		if err != nil {
			return nil, run.Interrupted(ctx, err)
		}
		rest, term := release.Changed(all, others)
		again, err := w.releaser.Redraw(s, rest, term)
		if err != nil {
			return nil, err
		}
		out = append(out, again)
	}
	return out, nil
}

// longestRow returns n items of the plan, those of the largest weights; all if there are no more.
func (p *Plan) longestRow(n int) []int32 {
	rows := make([]int, len(p.Items))
	for r := range rows {
		rows[r] = r
	}
	slices.SortStableFunc(rows, func(a, b int) int { return -cmp.Compare(p.Weights[a], p.Weights[b]) })
	var items []int32
	for _, r := range rows[:min(n, len(rows))] {
		items = append(items, p.Items[r])
	}
	return items
}
