package dpsgd

import (
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// among is the number of users, those with the most samples, of whom the canary is the one with the longest gradient.
const among = 16

// looked is the number of values of a gradient that an audit looks at: the noise of few is drawn in less time.
const looked = 4

// redraw returns the steps of a finished run over users for an audit. The canary has the row of a user of the data,
// and at every step the gradient that it has by the trained weights: the account holds for any. Of the gradient it
// keeps the largest values, long enough for the clip.
func (w *work) redraw(ctx context.Context, _ int) ([]audit.Release, error) {
	p, ok := w.x.Model.(*private)
	if !ok || p.Unit != privacy.User || w.items != nil || w.x.Env.Secure() ||
		w.sgd.Sampling != privacy.Poisson {
		return nil, fmt.Errorf("only steps over Poisson samples of users, with noise of a key: %w",
			experiment.ErrNoRedraw)
	}
	d, dim, err := p.loss(nextitem.Pass(0))
	if err != nil {
		return nil, err
	}
	users := make([]int32, len(d.at)-1)
	for u := range users {
		users[u] = int32(u)
	}
	slices.SortStableFunc(users, func(a, b int32) int {
		return int((d.at[b+1] - d.at[b]) - (d.at[a+1] - d.at[a]))
	})
	gradient, longest := make([]tensor.Float, dim), -1.0
	for _, u := range users[:min(among, len(users))] {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w: %w", run.ErrInterrupted, err)
		}
		clear(d.sum)
		d.norms = d.norms[:0]
		if _, _, err := d.add([]int32{u}, math.Inf(1)); err != nil {
			return nil, err
		}
		if d.norms[0] > longest {
			longest = d.norms[0]
			copy(gradient, d.sum)
		}
	}
	noise, err := w.x.Env.Noise("dpsgd", purpose)
	if err != nil {
		return nil, err
	}
	var out []audit.Release
	_, steps := w.cfg.steps(w.examples, w.sgd.NoiseMultiplier)
	own := descent.Crafted(w.sgd, gradient, looked)
	for k := range steps {
		step, err := descent.Redraw(w.sgd, uint64(k), own, noise)
		if err != nil {
			return nil, err
		}
		step.Purpose = fmt.Sprintf("%s, step %d", purpose, k+1)
		out = append(out, step)
	}
	return out, nil
}
