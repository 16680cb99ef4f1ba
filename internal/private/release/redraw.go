package release

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/privacy/audit"
	"privrec/internal/rng"
)

// redrawn sets the noise of audits apart from that of the run.
const redrawn = 1 << 40

// Redraw returns a release of the Releaser for an audit. rest has what all other users add, and term what the canary
// adds, on the values that the canary changes. Nothing of it enters the ledger of the run.
func (r *Releaser) Redraw(s Sum, rest, term []float64) (audit.Release, error) {
	if len(rest) != len(term) {
		return audit.Release{}, fmt.Errorf("redraw %s: %d values of others and %d of the canary", s.Purpose, len(rest),
			len(term))
	}
	base := rng.NewKey().Stream("audit of secure noise") // of a billionth of the noise alone
	if !r.Secure {
		var err error
		if base, err = r.Noise(s.Purpose); err != nil {
			return audit.Release{}, err
		}
	}
	draw := func(d audit.Draw) ([]float64, error) {
		x := make([]float64, 0, len(d.In)*len(term))
		for _, in := range d.In {
			x = append(x, rest...)
			if in {
				for j, v := range term {
					x[len(x)-len(term)+j] += v
				}
			}
		}
		one, s := Releaser{Secure: r.Secure && !d.Off, Releases: 1}, s
		one.Noise = func(string) (rng.Stream, error) { return base.Sub(redrawn, d.Key), nil }
		mark := privacy.Research
		switch {
		case d.Off:
			s.Multiplier *= audit.Quiet
		case r.Secure:
			mark = privacy.Secure
		}
		var err error
		if one.Ledger, err = privacy.NewLedger(mark); err != nil {
			return nil, err
		}
		return x, one.Release(s, x, len(term))
	}
	return audit.Release{Purpose: s.Purpose, Sensitivity: s.Sensitivity, Deviation: s.Deviation(), Rate: 1,
		Cols: len(term), Draw: draw}, nil
}

// looked is the share of the squared length of what a canary adds that an audit looks at, of the largest values: the
// noise of fewer values is drawn in less time.
const looked = 0.99

// Changed returns what a sum over all others has on the values that a canary changes most, and what the canary adds
// there. Where the canary changes nothing it returns the first value.
func Changed(with, without []float64) (rest, term []float64) {
	var order []int
	total := 0.0
	add := func(j int) float64 { return with[j] - without[j] }
	for j := range with {
		if v := add(j); v != 0 {
			order = append(order, j)
			total += v * v
		}
	}
	if len(order) == 0 {
		return without[:1], []float64{0}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(math.Abs(add(b)), math.Abs(add(a))) })
	n, sum := 0, 0.0
	for n < len(order) && (n < few || sum < looked*total) {
		sum += add(order[n]) * add(order[n])
		n++
	}
	order = order[:n]
	slices.Sort(order)
	for _, j := range order {
		rest, term = append(rest, without[j]), append(term, add(j))
	}
	return rest, term
}

// few is a number of values that an audit looks at in any case.
const few = 256

// Canary is the id of the canary user of an audit.
const Canary = "canary of an audit"

// With returns the data with a canary user of these items, ascending, after all others.
func With(d *dataset.Interactions, items []int32) *dataset.Interactions {
	out := *d
	out.Users++
	out.UserIDs = append(slices.Clone(d.UserIDs), Canary)
	out.Train = append(slices.Clone(d.Train), items)
	if d.Ratings != nil {
		highest := slices.Max(slices.Concat(d.Ratings...))
		out.Ratings = append(slices.Clone(d.Ratings), slices.Repeat([]float32{highest}, len(items)))
	}
	return &out
}
