package als

import (
	"context"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/private/release"
	"privrec/internal/protocol/static"
	"privrec/internal/run"
)

// redraw returns the releases of a finished run for an audit. It makes the rounds again, with the noise of the run, to
// learn the items' vectors with which each begins. They stay as they are when a round is drawn again: the account holds
// for any vectors that a round begins with, so that it covers these.
func (w *work) redraw(ctx context.Context, x *static.Experiment, items int) ([]audit.Release, error) {
	r, ok := x.Rows()
	if !ok {
		return nil, experiment.ErrNoRedraw
	}
	w.data = r.Interactions
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	w.into(l)
	t, rounds, err := w.begin()
	if err != nil {
		return nil, err
	}
	var begun []table // items' vectors, by round
	for n, r := range rounds {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w at round %d: %w", run.ErrInterrupted, n, err)
		}
		v := newTable(t.items.rows, t.items.cols)
		copy(v.x, t.items.x)
		begun = append(begun, v)
		if err := t.round(n, r, n == len(rounds)-1); err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	counts, _, err := w.cfg.plan()
	if err != nil {
		return nil, err
	}
	with := release.With(w.data, t.strongest(begun, rounds, items))
	contributed := func(d *dataset.Interactions) ([]float64, error) {
		tally := release.NewTally(counts.Dimension, d.Items)
		for _, list := range w.draw("counts", w.cfg.Privacy.PerCount(), nil).All(d.UserIDs, d.Train) {
			if err := tally.Add(list); err != nil {
				return nil, err
			}
		}
		return release.Exact(tally.Counts), nil
	}
	var out []audit.Release
	add := func(s release.Sum, of func(d *dataset.Interactions) ([]float64, error)) error {
		all, err := of(with)
		if err != nil {
			return err
		}
		others, err := of(w.data)
		if err != nil {
			return err
		}
		rest, term := release.Changed(all, others)
		again, err := w.releaser.Redraw(s, rest, term)
		out = append(out, again)
		return err
	}
	if err := add(counts, contributed); err != nil {
		return nil, err
	}
	weights := release.Weights(t.prior.counts, t.prior.items, counts.Deviation(), w.cfg.Privacy.Prefer)
	for n, r := range rounds {
		sum := func(of func(x *rows, users table) []float64) func(d *dataset.Interactions) ([]float64, error) {
			return func(d *dataset.Interactions) ([]float64, error) {
				x, err := newRows(d, t.prior, w.cfg.Model, w.draw("rounds", w.cfg.Privacy.Items, weights))
				if err != nil {
					return nil, err
				}
				return of(x, newUserStep(w.cfg.Model, r.clip, begun[n]).all(x.whole)), nil
			}
		}
		err := add(r.vectors, sum(func(x *rows, users table) []float64 { return x.vectors(users, r.vectors.Grid).x }))
		if err == nil && r.matrix.Purpose != "" {
			err = add(r.matrix, sum(func(x *rows, users table) []float64 { return x.matrices(users, r.matrix.Grid).x }))
		}
		if err == nil && r.common.Purpose != "" {
			err = add(r.common, sum(func(_ *rows, users table) []float64 { return common(users, r.common.Grid).x }))
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// strongest returns the items of the canary user whose vectors are longest over all rounds, in units of their noise, of
// candidates that have the n items farthest along a column of some round's vectors.
func (t *trainer) strongest(begun []table, rounds []round, n int) []int32 {
	var best []int32
	most := -1.0
	for _, v := range begun {
		for k := range v.cols {
			for _, sign := range []float64{1, -1} {
				order := make([]int32, v.rows)
				for j := range order {
					order[j] = int32(j)
				}
				slices.SortStableFunc(order, func(a, b int32) int {
					x, y := sign*v.row(int(a))[k], sign*v.row(int(b))[k]
					switch {
					case x > y:
						return -1
					case x < y:
						return 1
					}
					return 0
				})
				var items []int32
				for _, j := range order[:min(n, len(order))] {
					items = append(items, t.prior.items[j])
				}
				slices.Sort(items)
				if power := t.power(begun, rounds, items); power > most {
					best, most = items, power
				}
			}
		}
	}
	return best
}

// power returns the sum over the rounds of the squared length of a user's vector, in units of the noise.
func (t *trainer) power(begun []table, rounds []round, items []int32) (sum float64) {
	cells := t.prior.row(items, func(int) float64 { return t.cfg.Model.most() }, t.cfg.Model.most())
	u := make([]float64, t.cfg.Model.Dim)
	for n, r := range rounds {
		newUserStep(t.cfg.Model, r.clip, begun[n]).vector(cells, u)
		sum += dot(u, u) / (r.vectors.Deviation() * r.vectors.Deviation())
	}
	return sum
}
