package pld

import (
	"cmp"
	"slices"

	"privrec/internal/privacy"
)

// Truncated implements privacy.Pricer. Whether the other units fill the batch does not depend on the unit, and to know
// it only helps. If they do not, the release is a Poisson sample. If they do, the unit takes the place of a random one
// of them where it is in the batch: of units that are drawn and stay, the release moves by twice the sensitivity at
// most. A lower bound is from data in which the other units are 0, so that their places show nothing.
func (x *pair) Truncated(e privacy.TruncatedGaussian) error {
	mu := e.Sensitivity / e.Sigma
	one, err := gaussian(mu)
	if err != nil {
		return err
	}
	two, err := gaussian(2 * mu)
	if err != nil {
		return err
	}
	full, in := e.Crowded()
	if e.Rate < 1e-12 || full > 0 && in/full < 1e-12 {
		return ErrNotCovered
	}
	drawn := func(p pair, rate float64) pair {
		if rate >= 1 {
			return p
		}
		return p.sampled(rate)
	}
	switch full {
	case 0:
		*x = drawn(one, e.Rate)
		return nil
	case 1:
		*x = drawn(two, in)
	default:
		*x = mixed(full, drawn(one, e.Rate), drawn(two, in/full))
	}
	reached := drawn(one, e.Rate*(1-full)+in)
	x.unreached, x.reached = true, &reached
	return nil
}

// mixed returns the pair of an observer who sees with which of two pairs of continuous losses a release was made: y
// with probability w, else x.
func mixed(w float64, x, y pair) pair {
	out := pair{lo: min(x.lo, y.lo), hi: max(x.hi, y.hi), min: min(x.min, y.min), max: max(x.max, y.max)}
	out.tails = func(loss float64) edge {
		a, b := x.tails(min(max(loss, x.lo), x.hi)), y.tails(min(max(loss, y.lo), y.hi))
		return edge{(1-w)*a.pBelow + w*b.pBelow, (1-w)*a.pAbove + w*b.pAbove, (1-w)*a.qBelow + w*b.qBelow,
			(1-w)*a.qAbove + w*b.qAbove}
	}
	for _, part := range []struct {
		share float64
		nodes []atom
	}{{1 - w, x.nodes}, {w, y.nodes}} {
		for _, a := range part.nodes {
			out.nodes = append(out.nodes, atom{a.loss, part.share * a.p, part.share * a.q})
		}
	}
	slices.SortFunc(out.nodes, func(a, b atom) int { return cmp.Compare(a.loss, b.loss) })
	return out
}
