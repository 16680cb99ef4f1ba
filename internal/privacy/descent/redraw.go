package descent

import (
	"cmp"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// redrawn sets the noise of audits apart from that of the run.
const redrawn = 1 << 40

// Redraw returns a step of Poisson-sampled DP-SGD for an audit, with this gradient of the canary, not clipped. All
// other gradients are taken to be off the sum, as those of an auditor who knows them. noise is the stream of the run's
// steps. Nothing enters the ledger of the run.
func Redraw[T mechanism.Float](d DPSGD, step uint64, gradient []T, noise rng.Stream) (audit.Release, error) {
	if err := d.Validate(); err != nil {
		return audit.Release{}, err
	}
	draw := func(q audit.Draw) ([]float64, error) {
		d, s := d, noise.Sub(redrawn, q.Key)
		d.Stated = 0
		if !q.Off {
			return again(d, step, gradient, q.In, s)
		}
		d.Rate, d.NoiseMultiplier = 1, d.NoiseMultiplier*audit.Quiet
		exact := make([]float64, len(gradient)) // single precision has no room for so little noise
		for j, v := range gradient {
			exact[j] = float64(v)
		}
		return again(d, step, exact, q.In, s)
	}
	return audit.Release{Purpose: d.Purpose, Sensitivity: d.Clip, Deviation: d.Sigma(), Rate: d.Rate,
		Cols: len(gradient), Draw: draw}, nil
}

// again makes one step of DP-SGD on a table with a row for each canary. Those that are in are its examples.
func again[T mechanism.Float](d DPSGD, step uint64, gradient []T, in []bool, s rng.Stream) ([]float64, error) {
	var who []int32
	for k := range in {
		if in[k] {
			who = append(who, int32(k))
		}
	}
	none := len(who) == 0 // a run has an example at least: its gradient is 0
	if none {
		who = []int32{0}
	}
	d.Examples = int64(len(who))
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		return nil, err
	}
	steps, err := OpenRows[T](d, len(in), len(gradient), l, s)
	if err != nil {
		return nil, err
	}
	batch, err := steps.Begin(0, step)
	if err != nil {
		return nil, err
	}
	own := make([]T, len(gradient))
	for k, example := range batch {
		if copy(own, gradient); none {
			clear(own)
		}
		if err := steps.Add(k, who[example:example+1], own); err != nil {
			return nil, err
		}
	}
	out := make([]float64, len(in)*len(gradient))
	serial := func(n, _ int, body func(chunk, lo, hi int)) { body(0, 0, n) }
	err = steps.Finish(serial, func(at int, sum []T) {
		for j, v := range sum {
			out[at+j] = float64(v)
		}
	})
	if err != nil {
		return nil, err
	}
	return out, steps.Check()
}

// Crafted returns the gradient that an auditor gives its canary: the n largest values of one, in their order, and
// lengthened to twice the clipping norm where they are shorter. The guarantee is for any gradient, and no other adds
// more; the noise of few values can be drawn many times.
func Crafted[T mechanism.Float](d DPSGD, values []T, n int) []T {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(math.Abs(float64(values[b])), math.Abs(float64(values[a])))
	})
	order = order[:min(n, len(order))]
	slices.Sort(order)
	sum := 0.0
	for _, i := range order {
		sum += float64(values[i]) * float64(values[i])
	}
	by := 1.0
	if n := math.Sqrt(sum); n > 0 && n < 2*d.Clip {
		by = 2 * d.Clip / n
	}
	out := make([]T, len(order))
	for k, i := range order {
		out[k] = T(by * float64(values[i]))
	}
	return out
}
