package pld

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// ErrNotCovered is returned for a release whose worst pair of laws is not known here, or whose parameters are outside
// the range that can be discretised.
var ErrNotCovered = errors.New("not covered by privacy loss distributions")

// ErrCheck is returned if a self-check failed: the numbers must not be used.
var ErrCheck = errors.New("self-check of the privacy loss distribution failed")

// ErrInfinite is returned if delta is below the mass of infinite losses: no finite epsilon is known to be enough.
var ErrInfinite = errors.New("no finite epsilon is known for this delta")

// Options sets how fine a bracket is.
type Options struct {
	// Bins is the number of cells of the window of composed losses, a power of two from 2^10 to 2^21. 0 means as many
	// as make the bracket narrower than 3e-6 of its upper end, up to 2^19. The lower bound uses half as many. Each of k
	// different releases gets at most 2^22/k, so that a bracket takes about a second at most. A direction gets no more
	// bins once it is known to be below the other.
	Bins int
}

// Bounds is a certified bracket, Lower <= exact <= Upper, for the larger of the two directions.
type Bounds struct {
	Lower, Upper float64
	// How the bracket was found, for the direction of Upper.
	Direction string  // remove: the unit is in P; add: it is in Q; both: they are alike
	Mesh      float64 // width of a cell of losses
	Bins      int
	Tilt      float64 // exponent of the tilt
	// Errors that Upper contains, in units of delta at Upper.
	Truncated float64 // beyond the window, and infinite losses
	Rounding  float64 // bound of the transforms' rounding
}

// Bracket returns bounds of the smallest epsilon >= 0 at which the composition of the terms is
// (epsilon, delta)-DP. delta is in (0, 1). It returns the error of ctx when that ends, as all functions
// here do.
func Bracket(ctx context.Context, ts []terms.Term, delta float64, o Options) (Bounds, error) {
	if !(delta > 0 && delta < 1) {
		return Bounds{}, fmt.Errorf("delta is %v, want between 0 and 1", delta)
	}
	return larger(ctx, ts, query{delta: delta, solve: true}, o)
}

// DeltaBracket returns bounds of the smallest delta at which the composition of the terms is (eps,
// delta)-DP. eps is finite and at least 0.
func DeltaBracket(ctx context.Context, ts []terms.Term, eps float64, o Options) (Bounds, error) {
	if !(eps >= 0) || math.IsInf(eps, 1) {
		return Bounds{}, fmt.Errorf("epsilon is %v, want at least 0 and finite", eps)
	}
	return larger(ctx, ts, query{eps: eps}, o)
}

func larger(ctx context.Context, ts []terms.Term, q query, o Options) (Bounds, error) {
	list, err := build(ts)
	if err != nil {
		return Bounds{}, err
	}
	bs, err := brackets(ctx, list, q, o, true)
	if err != nil {
		return Bounds{}, err
	}
	b := both(bs)
	if slices.ContainsFunc(list, func(p term) bool { return p.pair.unreached }) {
		b.Lower = reachedLower(ctx, list, q, o) // b.Lower bounds the pairs, and not the neighbours that they dominate
	}
	return b, ctx.Err()
}

// reachedLower returns a lower bound from the pairs that real neighbours have; 0 if there are none, or no bracket of
// them.
func reachedLower(ctx context.Context, list []term, q query, o Options) float64 {
	list = slices.Clone(list)
	for i, t := range list {
		if !t.pair.unreached {
			continue
		}
		if t.pair.reached == nil {
			return 0
		}
		list[i].pair = *t.pair.reached
	}
	if o.Bins == 0 && !slices.ContainsFunc(list, func(t term) bool { return t.pair.rho > 0 }) {
		o.Bins = 1 << 16
	}
	bs, err := brackets(ctx, list, q, o, true)
	if err != nil {
		return 0
	}
	return both(bs).Lower
}

// both returns the bracket of the larger of the directions.
func both(bs []Bounds) Bounds {
	out := bs[0]
	for _, b := range bs[1:] {
		lower := max(out.Lower, b.Lower)
		if b.Upper > out.Upper {
			out = b
		}
		out.Lower = lower
	}
	return out
}

// term holds a number of compositions of one pair.
type term struct {
	pair  pair
	count float64
}

// build returns the pairs of terms. It joins unsampled Gaussian releases into one, exactly, and equal terms into one
// with the sum of their counts.
func build(ts []terms.Term) ([]term, error) {
	if len(ts) == 0 {
		return nil, errors.New("no terms")
	}
	ts = slices.Clone(ts)
	mu2, normal, relation := 0.0, false, privacy.Neighbouring("")
	var rest []terms.Term
	for i, t := range ts {
		if t.Leaf == nil {
			return nil, fmt.Errorf("term %d: no event", i+1)
		}
		if err := t.Leaf.Validate(); err != nil {
			return nil, fmt.Errorf("term %d: %w", i+1, err)
		}
		if t.Count < 1 {
			return nil, fmt.Errorf("term %d: count is %d, want at least 1", i+1, t.Count)
		}
		if !(t.Rate > 0 && t.Rate <= 1) {
			return nil, fmt.Errorf("term %d: rate is %v, want above 0 and at most 1", i+1, t.Rate)
		}
		if err := t.Relation.Validate(); err != nil {
			return nil, fmt.Errorf("term %d: %w", i+1, err)
		}
		if t.Relation != privacy.Replace { // an exchange has the same pair in both directions, and so fits any
			if relation == "" {
				relation = t.Relation
			}
			if t.Relation != relation {
				return nil, fmt.Errorf("term %d: relation %s, an earlier term's is %s", i+1, t.Relation, relation)
			}
		}
		if g, ok := privacy.LawOf(t.Leaf).(privacy.Gaussian); ok && t.Rate == 1 && t.Group <= 1 {
			mu := g.Sensitivity / g.Sigma
			mu2 += mu * mu * float64(t.Count)
			normal = true
			continue
		}
		j := slices.IndexFunc(rest, func(u terms.Term) bool {
			return u.Leaf == t.Leaf && u.Rate == t.Rate && u.Group == t.Group &&
				(t.Rate == 1 || u.Method == t.Method && u.Relation == t.Relation)
		})
		if j >= 0 {
			if rest[j].Count > math.MaxInt64-t.Count {
				return nil, fmt.Errorf("term %d: the counts of equal terms overflow", i+1)
			}
			rest[j].Count += t.Count
			continue
		}
		rest = append(rest, t)
	}
	var out []term
	if normal { // also where the square underflows, which gaussian refuses
		x, err := gaussian(math.Sqrt(mu2))
		if err != nil {
			return nil, err
		}
		out = append(out, term{x, 1})
	}
	for _, t := range rest {
		if t.Count > 1e9 {
			return nil, fmt.Errorf("%s: count is %d, want at most 1e9: %w", t.Leaf.Kind(), t.Count, ErrNotCovered)
		}
		if e, ok := privacy.LawOf(t.Leaf).(privacy.AllocatedGaussian); ok && e.Times > 1 &&
			t.Rate == 1 && t.Group <= 1 {
			blocks, err := allocated(t, e)
			if err != nil {
				return nil, err
			}
			out = append(out, blocks...)
			continue
		}
		x, err := worst(t)
		if err != nil {
			return nil, err
		}
		out = append(out, term{x, float64(t.Count)})
	}
	return out, nil
}

// worst returns a pair that dominates a term.
func worst(t terms.Term) (pair, error) {
	var x pair
	law := privacy.LawOf(t.Leaf)
	if g, normal := privacy.LawOf(t.Leaf).(privacy.Gaussian); normal {
		switch {
		case t.Group > 1:
			return groupGaussian(t, g)
		case t.Relation == privacy.Replace && t.Method == privacy.Poisson:
			return exchangedGaussian(g, t.Rate)
		case t.Relation == privacy.Replace && t.Method == privacy.WithoutReplacement:
			return subsetGaussian(g, t.Rate)
		}
	}
	err := ErrNotCovered
	if law != nil {
		err = law.Price(&x)
	}
	switch {
	case err == ErrNotCovered:
		return x, fmt.Errorf("event %q: %w", t.Leaf.Kind(), err)
	case err != nil || t.Rate == 1 && t.Group <= 1:
		return x, err
	case t.Group > 1:
		return x, fmt.Errorf("%s of a group of %d: %w", t.Leaf.Kind(), t.Group, ErrNotCovered)
	}
	_, answers := law.(privacy.ResponseLaw)
	if t.Method != privacy.Poisson || t.Relation == privacy.Replace || answers {
		return x, fmt.Errorf("%s sampled by %q under %s: %w", t.Leaf.Kind(), string(t.Method), t.Relation,
			ErrNotCovered)
	}
	if t.Rate < 1e-12 {
		return x, fmt.Errorf("%s: sampling rate is %v, want at least 1e-12: %w", t.Leaf.Kind(), t.Rate, ErrNotCovered)
	}
	return x.sampled(t.Rate), nil
}

// Supports returns an error for the first term that has no bracket. It computes no bracket itself.
func Supports(ts []terms.Term) error {
	_, err := build(ts)
	return err
}
