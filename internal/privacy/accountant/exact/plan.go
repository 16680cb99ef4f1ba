package exact

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// plan holds a composition, sorted by how its terms are treated.
type plan struct {
	ctx   context.Context // context of the question; nil: none
	mu2   float64         // of all Gaussians that are not sampled
	terms []term
}

// term stands for count releases of one pair of laws.
type term struct {
	law   law
	count float64
}

// newPlan returns the plan of the terms. It fails on terms that have no worst pair of laws.
func newPlan(ts []terms.Term) (*plan, error) {
	p := &plan{}
	for i, t := range ts {
		if t.Leaf == nil {
			return nil, fmt.Errorf("term %d: no event", i)
		}
		if err := t.Leaf.Validate(); err != nil {
			return nil, fmt.Errorf("term %d: %w", i, err)
		}
		if t.Count < 1 {
			return nil, fmt.Errorf("term %d: count is %d, want at least 1", i, t.Count)
		}
		if !(t.Rate > 0 && t.Rate <= 1) {
			return nil, fmt.Errorf("term %d: rate is %v, want above 0 and at most 1", i, t.Rate)
		}
		if err := p.add(t); err != nil {
			return nil, fmt.Errorf("term %d (%s): %w", i, t.Leaf.Kind(), err)
		}
	}
	if math.IsInf(p.mu2, 1) {
		return nil, notCovered("the Gaussian releases overflow")
	}
	return p, nil
}

func (p *plan) add(t terms.Term) error {
	if t.Rate < 1 && t.Method != privacy.Poisson {
		return notCovered("a release on a sample %s", string(t.Method))
	}
	if t.Group > 1 {
		return notCovered("a group of %d on one sample", t.Group)
	}
	pricer := worst{Term: t, plan: p}
	if from := privacy.LawOf(t.Leaf); from == nil {
		return notCovered(noPair)
	} else if err := from.Price(&pricer); err != nil {
		return err
	}
	l := pricer.law
	if l == nil {
		return nil
	}
	if t.Rate < 1 && t.Relation == privacy.Replace {
		if _, gaussian := l.(sampledGaussian); !gaussian {
			return notCovered("a sampled release under %s", string(t.Relation))
		}
	}
	if !l.sane() {
		return notCovered("parameters too far out")
	}
	for i := range p.terms {
		if p.terms[i].law == l {
			p.terms[i].count += float64(t.Count)
			return nil
		}
	}
	p.terms = append(p.terms, term{l, float64(t.Count)})
	return nil
}

// worst prices a term: it finds the law of its worst pair. Gaussians that are not sampled have none, and are added to
// the plan.
type worst struct {
	terms.Term
	plan *plan
	law  law
}

const noPair = "no single pair of laws is the worst"

// Gaussian implements privacy.Pricer.
func (t *worst) Gaussian(e privacy.Gaussian) error {
	mu := e.Sensitivity / e.Sigma
	if t.Rate == 1 {
		square := float64(t.Count) * mu * mu
		if t.plan.mu2 += square; square == 0 {
			return notCovered("a Gaussian with sensitivity/sigma %v", mu)
		}
		return nil
	}
	if !(mu > leastMu && mu < mostMu) {
		return notCovered("a sampled Gaussian with sensitivity/sigma %v", mu)
	}
	if t.Relation == privacy.Replace && !e.Clipped() {
		return notCovered("a sampled Gaussian under %s, unless its vectors are known to be clipped at half of "+
			"its sensitivity", string(t.Relation))
	}
	t.law = sampledGaussian{mu: mu, rate: t.Rate, replace: t.Relation == privacy.Replace}
	return nil
}

// Laplace implements privacy.Pricer.
func (t *worst) Laplace(e privacy.Laplace) error {
	t.law = laplace{shift: e.Sensitivity / e.Scale, rate: t.Rate}
	return nil
}

// DiscreteLaplace implements privacy.Pricer.
func (t *worst) DiscreteLaplace(e privacy.DiscreteLaplace) error {
	t.law = discreteLaplace{shift: e.Steps(), scale: e.Scale, rate: t.Rate}
	return nil
}

// DiscreteGaussian implements privacy.Pricer.
func (t *worst) DiscreteGaussian(e privacy.DiscreteGaussian) error {
	if !e.OnLine() {
		return notCovered("a discrete Gaussian in %d dimensions, whose worst pair is not known", e.Dimension)
	}
	if t.Rate < 1 {
		return notCovered("a sampled discrete Gaussian")
	}
	t.law = discreteGaussian{shift: math.Sqrt(e.Squared()), sigma: e.Sigma}
	return nil
}

// Response implements privacy.Pricer.
func (t *worst) Response(e privacy.ResponseLaw) error {
	if t.Rate < 1 {
		return notCovered("a sampled release of which only its largest log-ratio is known")
	}
	t.law = response{eps: e.Epsilon, categories: float64(e.Categories)}
	return nil
}

// Allocated implements privacy.Pricer.
func (*worst) Allocated(privacy.AllocatedGaussian) error {
	return notCovered("a random allocation to steps")
}

// Truncated implements privacy.Pricer.
func (*worst) Truncated(privacy.TruncatedGaussian) error {
	return notCovered("batches that are cut to a size")
}

// Exponential implements privacy.Pricer.
func (*worst) Exponential(privacy.Exponential) error { return notCovered(noPair) }

// symmetric reports whether both directions give the same loss.
func (p *plan) symmetric() bool {
	for _, q := range p.terms {
		if !q.law.symmetric() {
			return false
		}
	}
	return true
}

// epsilon returns the epsilon at delta in one direction. Each function that rounds says how its error is bounded.
func (p *plan) epsilon(d Direction, delta float64) (Value, error) {
	v := Value{Delta: delta, Method: Closed}
	target := math.Log(delta)
	switch {
	case len(p.terms) == 0 && p.mu2 == 0:
		return v, nil
	case len(p.terms) == 0:
		mu := math.Sqrt(p.mu2)
		if !(mu > leastMu && mu < mostMu) {
			return Value{}, notCovered("Gaussian releases with a total sensitivity/sigma of %v", mu)
		}
		return v.solved(func(e float64) float64 { return numeric.GaussianLogDelta(mu, e) },
			func(e float64) float64 { return gaussError(mu, e) }, target, gaussBound(mu, delta))
	}
	if v, ok := p.largestLoss(d, v, target); ok {
		return v, nil
	}
	if s := p.closedCurve(d); s != nil {
		return v.solved(s.log, s.err, target, s.most(delta))
	}
	return p.integrate(d).epsilon(delta)
}

// largestLoss returns the answer if delta is so small that epsilon is the largest loss there is. If that loss has
// probability p, delta >= p (1 - exp(eps - most)) below it.
func (p *plan) largestLoss(d Direction, v Value, target float64) (Value, bool) {
	if p.mu2 > 0 {
		return v, false
	}
	most, top := 0.0, 0.0
	for _, q := range p.terms {
		most += q.count * q.law.most(d)
		top += q.count * q.law.top(d)
	}
	if !(target < top-25) {
		return v, false
	}
	v.Epsilon = most * (1 + 4*ulp)
	v.Error = 2*math.Exp(target-top) + 8*ulp*most
	return v, true
}

// delta returns the delta at eps in one direction.
func (p *plan) delta(d Direction, eps float64) (Value, error) {
	v := Value{Epsilon: eps, Method: Closed}
	switch {
	case len(p.terms) == 0 && p.mu2 == 0:
		return v, nil
	case len(p.terms) == 0:
		mu := math.Sqrt(p.mu2)
		if !(mu > leastMu && mu < mostMu) {
			return Value{}, notCovered("Gaussian releases with a total sensitivity/sigma of %v", mu)
		}
		return v.at(numeric.GaussianLogDelta(mu, eps), gaussError(mu, eps))
	}
	if log, relative, ok := p.sum(eps); ok {
		return v.at(log, relative)
	}
	if s := p.closedCurve(d); s != nil {
		return v.at(s.log(eps), s.err(eps))
	}
	return p.integrate(d).delta(eps)
}

// solved returns the value with its smallest epsilon at which a curve, known to a relative error, is at most the
// target.
func (v Value) solved(log, relative func(float64) float64, target, most float64) (Value, error) {
	eps := smallest(log, target, most)
	if math.IsInf(eps, 1) {
		return Value{}, notCovered("a curve that does not fall to the logarithm %.4g of delta up to epsilon %.4g",
			target, 2*most)
	}
	if eps > 0 {
		r := relative(eps)
		if !(r < tolerance) {
			return Value{}, notCovered("rounding of a relative %.1g", r)
		}
		// Log delta is concave in epsilon and at most 0 at the left, so its slope at
		// eps is at least this steep. A difference over r itself would be noise.
		step := math.Max(eps*1e-4, 1e-300)
		slope := (log(eps-step) - log(eps)) / step
		if !(slope > 0) {
			return Value{}, notCovered("a curve that does not fall at epsilon %v", eps)
		}
		width := 2*r/slope + 4*ulp*eps
		v.Epsilon, v.Error = eps+width, 2*width
	}
	return v, nil
}

// at returns the value with a delta that is given by its logarithm and known to a relative error.
func (v Value) at(logDelta, relative float64) (Value, error) {
	if math.IsInf(logDelta, -1) {
		return v, nil
	}
	if !(relative < tolerance) || math.IsNaN(logDelta) {
		return Value{}, notCovered("rounding of a relative %.1g", relative)
	}
	relative += 4 * ulp * (1 + math.Abs(logDelta))
	d := math.Exp(logDelta)
	v.Delta = math.Min(1, d*(1+relative)+math.SmallestNonzeroFloat64)
	v.Error = v.Delta - d*(1-relative)
	return v, nil
}

// In these ranges squares and exponentials of the parameters are finite.
const (
	leastMu = 1e-8
	mostMu  = 1e8
	// tolerance is the largest relative error of delta in an answer.
	tolerance = 1e-6
)
