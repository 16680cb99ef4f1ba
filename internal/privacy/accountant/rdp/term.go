package rdp

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// FromTerm returns the curve of a term, with all its compositions.
//
// Poisson samples must be about AddRemove or ZeroOut, samples without replacement about Replace. For other pairs no
// bound is known, and FromTerm fails with ErrNotCovered. A Gaussian on a Poisson sample under Replace has a bound for
// unit vectors of any length, RevealedGaussian. Clipped vectors are not covered, since the bound would be far above the
// truth. Sensitivities are under the leaf's own relation.
func FromTerm(t terms.Term) (Curve, error) {
	c, err := fromTerm(t)
	if err != nil {
		return nil, err
	}
	return Times(c, t.Count), nil
}

func fromTerm(t terms.Term) (Curve, error) {
	if t.Leaf == nil {
		return nil, fmt.Errorf("no event")
	}
	if err := t.Leaf.Validate(); err != nil {
		return nil, err
	}
	if err := atLeast("count", t.Count, 1); err != nil {
		return nil, err
	}
	l, err := leafOf(t.Leaf)
	if err == nil && t.Group > 1 {
		if l.noise == 0 || t.Method != privacy.Poisson && t.Rate < 1 || t.Relation == privacy.Replace {
			return nil, fmt.Errorf("%s of a group of %d, sampled by %q under %s: %w", t.Leaf.Kind(), t.Group,
				string(t.Method), t.Relation, ErrNotCovered)
		}
		return SampledGroup(t.Rate, l.noise, t.Group)
	}
	if err != nil || t.Rate == 1 {
		return l.curve, err
	}
	var curves []Curve
	switch {
	case t.Method == privacy.Poisson && (t.Relation == privacy.AddRemove || t.Relation == privacy.ZeroOut):
		switch {
		case l.noise > 0:
			c, err := SampledGaussian(t.Rate, l.noise)
			return c, err
		case l.even:
			c, err := Poisson{t.Rate, l.curve}.Curve()
			if err != nil {
				return nil, err
			}
			curves = append(curves, c)
		}
	case t.Method == privacy.Poisson && l.noise > 0 && !l.clipped:
		return RevealedGaussian(t.Rate, l.noise)
	case t.Method == privacy.WithoutReplacement && t.Relation == privacy.Replace:
		var c Curve
		if l.noise > 0 {
			c, err = WithoutReplacementGaussian(t.Rate, l.noise)
		} else {
			c, err = WithoutReplacement{Rate: t.Rate, Base: l.curve, EpsInf: l.pure, Capped: true}.Curve()
		}
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	default:
		return nil, fmt.Errorf("%s sampled by %q under %s: %w", t.Leaf.Kind(), string(t.Method), t.Relation,
			ErrNotCovered)
	}
	if !math.IsInf(l.pure, 1) {
		c, err := amplified(t.Rate, l.pure)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	// A sample shows at most what the whole does: divergences are quasi-convex.
	return Min(append(curves, l.curve)...), nil
}

// leaf holds the properties of a mechanism that sampling needs. As a pricer it takes them from a law.
type leaf struct {
	curve   Curve
	pure    float64 // largest log-ratio, +Inf if there is none
	even    bool    // additive noise of an even law
	noise   float64 // multiplier of Gaussian noise, else 0
	clipped bool    // Gaussian.Clipped
}

func leafOf(e privacy.Event) (leaf, error) {
	law := privacy.LawOf(e)
	if law == nil {
		return leaf{}, fmt.Errorf("event %q: %w", e.Kind(), ErrNotCovered)
	}
	l := leaf{pure: law.Pure()}
	if err := law.Price(&l); err != nil {
		return leaf{}, fmt.Errorf("%s: %w", e.Kind(), err)
	}
	return l, nil
}

// Gaussian implements privacy.Pricer.
func (l *leaf) Gaussian(g privacy.Gaussian) (err error) {
	l.noise, l.clipped = g.Sigma/g.Sensitivity, g.Clipped()
	l.curve, err = Gaussian(g.Sigma, g.Sensitivity)
	return err
}

// Truncated implements privacy.Pricer. The observer sees whether the other units fill the batch, as in pld.
func (l *leaf) Truncated(e privacy.TruncatedGaussian) error {
	noise := e.Sigma / e.Sensitivity
	one, err := SampledGaussian(e.Rate, noise)
	full, in := e.Crowded()
	if l.curve = one; err != nil || full == 0 {
		return err
	}
	two, err := SampledGaussian(min(1, in/full), noise/2)
	if err != nil {
		return err
	}
	l.curve = bounded(func(alpha float64) float64 {
		a, b := one(alpha), two(alpha)
		if alpha == 1 || math.IsInf(alpha, 1) || math.IsInf(b, 1) {
			return math.Max(a, b)
		}
		return numeric.LogAdd(math.Log1p(-full)+(alpha-1)*a, math.Log(full)+(alpha-1)*b) / (alpha - 1)
	})
	return nil
}

// DiscreteGaussian implements privacy.Pricer.
func (l *leaf) DiscreteGaussian(g privacy.DiscreteGaussian) (err error) {
	l.even = true
	l.curve, err = DiscreteGaussian(g.Sigma, math.Sqrt(g.Squared()))
	return err
}

// Laplace implements privacy.Pricer.
func (l *leaf) Laplace(e privacy.Laplace) (err error) {
	l.even = true
	l.curve, err = Laplace(e.Scale, e.Sensitivity)
	return err
}

// DiscreteLaplace implements privacy.Pricer.
func (l *leaf) DiscreteLaplace(e privacy.DiscreteLaplace) (err error) {
	l.even = true
	l.curve, err = DiscreteLaplace(e.Scale, e.Steps())
	return err
}

// Response implements privacy.Pricer.
func (l *leaf) Response(r privacy.ResponseLaw) (err error) {
	l.curve, err = RandomizedResponse(r.Epsilon, r.Categories)
	return err
}

// Exponential implements privacy.Pricer.
func (l *leaf) Exponential(e privacy.Exponential) (err error) {
	l.curve, err = BoundedRange(e.Epsilon)
	return err
}

// Total returns the curve of the composition of all terms.
func Total(ts []terms.Term) (Curve, error) {
	var curves []Curve
	for _, t := range ts {
		c, err := FromTerm(t)
		if err != nil {
			return nil, err
		}
		curves = append(curves, c)
	}
	return Sum(curves...), nil
}

// FromList returns the curve of everything that a list protects: its terms, and for each parallel composition the
// largest branch, or the largest two, order by order. It does not include unprotected events: the caller must look at
// List.WithoutNoise.
func FromList(l terms.List) (Curve, error) {
	total, err := Total(l.Terms)
	if err != nil {
		return nil, err
	}
	for _, b := range l.Parallels {
		var branches []Curve
		for _, branch := range b.Of {
			c, err := FromList(branch)
			if err != nil {
				return nil, err
			}
			branches = append(branches, c)
		}
		worst := Max(branches...)
		if b.Pairs {
			worst = maxPair(branches...)
		}
		total = Sum(total, Times(worst, b.Count))
	}
	return total, nil
}
