package reference

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// ErrNoLaw is returned for an event without a law here.
var ErrNoLaw = errors.New("the reference has no law for it")

// Question holds what to compute for a ledger: for which unit, relation and delta.
type Question struct {
	Unit     privacy.Unit
	Relation privacy.Neighbouring
	Delta    float64
	Holdings []privacy.Holding
}

// AtLeast returns a lower bound of the epsilon of the entries for the unit of the question. It returns infinity if
// anything of the unit is unprotected, or if the cost of a release for the unit is not bounded.
func AtLeast(entries []privacy.Entry, q Question) (float64, error) {
	worst := 0.0
	for _, remove := range []bool{true, false} {
		p := pricer{Question: q, remove: remove}
		var all []Part
		for i, e := range entries {
			parts, err := p.entry(e)
			if err != nil {
				return 0, fmt.Errorf("entry %d: %w", i+1, err)
			}
			all = append(all, parts...)
		}
		if p.open {
			return math.Inf(1), nil
		}
		worst = max(worst, Epsilon(all, q.Delta))
	}
	return worst, nil
}

// pricer computes the answer in one direction: P has the unit, or Q has it.
type pricer struct {
	Question
	remove bool
	open   bool // set if something makes epsilon infinite
}

// stance says how the unit of an event relates to the unit of the question.
type stance int

const (
	same      stance = iota // the same unit
	around                  // it contains the unit: all data of the user who has the edge
	within                  // the unit contains it: an edge of the user
	elsewhere               // other data
	unknown                 // the relation is not known
)

func (p *pricer) stands(v privacy.Unit) stance {
	interaction := func(u privacy.Unit) bool {
		switch u {
		case privacy.Edge, privacy.Interaction, privacy.Sample, privacy.Cell, privacy.Position:
			return true
		}
		return false
	}
	switch u := p.Unit; {
	case u == v:
		return same
	case v == privacy.User:
		return around
	case u == privacy.User:
		return within
	case u == privacy.Feature && interaction(v), v == privacy.Feature && interaction(u):
		return elsewhere
	}
	return unknown
}

// held returns how many units v one unit of the question has; 0 if that is not stated.
func (p *pricer) held(v privacy.Unit) int64 {
	if v == privacy.Feature { // the vector of one user
		return 1
	}
	for _, h := range p.Holdings {
		if h.Unit == p.Unit && h.Of == v {
			return h.Most
		}
	}
	return 0
}

func (p *pricer) entry(e privacy.Entry) ([]Part, error) {
	n := e.Count
	if e.PerUnit > 0 {
		n = min(n, e.PerUnit)
		if p.Relation == privacy.Replace && replaced(e.Event) { // one unit leaves these, another enters others
			n = min(e.Count, 2*e.PerUnit)
		}
	}
	if v, _, local := about(e.Event); local && p.stands(v) == within {
		// Each release is about one value, so no more of them are about one user.
		if k := p.held(v); k > 0 && e.PerUnit > 0 {
			n = min(e.Count, k*e.PerUnit)
		} else {
			n = e.Count
		}
		if p.held(v) == 0 {
			p.open = true
		}
		return p.once(e.Event, n)
	}
	return p.parts(e.Event, n)
}

// replaced reports whether an event is one release about units that replace each other.
func replaced(e privacy.Event) bool {
	_, relation, local := about(e)
	return relation == privacy.Replace && !local
}

// parts returns n compositions of an event.
func (p *pricer) parts(e privacy.Event, n int64) ([]Part, error) {
	switch e := e.(type) {
	case privacy.Unprotected:
		if e.Unit == "" || p.stands(e.Unit) != elsewhere {
			p.open = true
		}
		return nil, nil
	case privacy.SelfComposed:
		return p.parts(e.Event, n*e.Count)
	case privacy.Composed:
		return p.all(e.Events, n)
	case privacy.Parallel:
		return p.parallel(e, n)
	}
	return p.leaf(e, n)
}

func (p *pricer) all(events []privacy.Event, n int64) (all []Part, err error) {
	for _, e := range events {
		parts, err := p.parts(e, n)
		if err != nil {
			return nil, err
		}
		all = append(all, parts...)
	}
	return all, nil
}

// parallel returns the most expensive branch. Under Replace it returns the two most expensive, since a unit leaves one
// and enters another.
func (p *pricer) parallel(e privacy.Parallel, n int64) ([]Part, error) {
	var first, second []Part
	most, next := -1.0, -1.0
	for _, branch := range e.Events {
		parts, err := p.parts(branch, n)
		if err != nil {
			return nil, err
		}
		switch eps := Epsilon(parts, p.Delta); {
		case eps > most:
			first, second, most, next = parts, first, eps, most
		case eps > next:
			second, next = parts, eps
		}
	}
	if p.Relation == privacy.Replace && !e.Fixed {
		return append(append([]Part(nil), first...), second...), nil
	}
	return first, nil
}

// leaf returns n releases of an event that is one release, sampled or not.
func (p *pricer) leaf(e privacy.Event, n int64) ([]Part, error) {
	v, relation, local := about(e)
	switch p.stands(v) {
	case elsewhere:
		return nil, nil
	case unknown:
		p.open = true
		return nil, nil
	case around:
		if relation == privacy.Replace {
			return p.once(e, n)
		}
		return p.group(e, n, 2)
	case within:
		k := p.held(v)
		if k == 0 {
			p.open = true
			return nil, nil
		}
		if _, ok := e.(privacy.Sampled); ok || local {
			return p.once(e, n) // only one of them, or k answers below
		}
		return p.group(e, n, k)
	}
	if p.Relation == privacy.Replace && relation != privacy.Replace { // removed, and another one added
		return p.group(e, n, 2)
	}
	return p.once(e, n)
}

// about returns the unit and relation of a release, and whether it is local: about one value, for any two values.
func about(e privacy.Event) (unit privacy.Unit, relation privacy.Neighbouring, local bool) {
	if on, ok := e.(privacy.Sampled); ok {
		unit, relation, _ = about(on.Event)
		return unit, relation, false
	}
	s, _ := privacy.About(e)
	return s.Unit, s.Neighbouring, privacy.Local(e)
}

// whole returns the number of grid steps within a sensitivity.
func whole(sensitivity float64) int { return int(math.Floor(sensitivity + 1e-9)) }

// once returns n releases at the distance that the event names.
func (p *pricer) once(e privacy.Event, n int64) ([]Part, error) { return p.group(e, n, 1) }

// group returns n releases at k times the distance that the event names. Some data reach that distance.
func (p *pricer) group(e privacy.Event, n, k int64) ([]Part, error) {
	one := func(l Law) ([]Part, error) { return []Part{{l, n}}, nil }
	times := float64(k)
	switch e := e.(type) {
	case privacy.Gaussian:
		return one(normal{times * e.Sensitivity / e.Sigma})
	case privacy.CorrelatedGaussian: // all sums together are one release
		return p.group(together(e), n, k)
	case privacy.AllocatedGaussian: // by an observer who adds up all steps
		return one(normal{times * float64(e.Times) * e.Sensitivity / e.Sigma / math.Sqrt(float64(e.Steps))})
	case privacy.TruncatedGaussian: // the others are 0
		if k > 1 {
			return one(normal{0})
		}
		full, in := e.Crowded()
		return one(sampled{normal{e.Sensitivity / e.Sigma}, e.Rate*(1-full) + in, p.remove})
	case privacy.Laplace:
		return one(laplace{times * e.Sensitivity / e.Scale})
	case privacy.SphericalLaplace: // of any dimension: by its bound
		return one(response(times*e.Sensitivity/e.Scale, 2))
	case privacy.DiscreteGaussian:
		return one(discreteNormal(e.Sigma, int(k)*whole(e.Sensitivity)))
	case privacy.DiscreteLaplace:
		return one(discreteLaplace(e.Scale, int(k)*whole(e.Sensitivity)))
	case privacy.PureLDP:
		return one(response(e.Epsilon, 2))
	case privacy.RandomizedResponse:
		return one(response(e.Epsilon, e.Categories))
	case privacy.Exponential:
		return one(response(times*e.Epsilon/2, 2))
	case privacy.Sampled:
		return p.sampled(e, n, k)
	}
	return nil, fmt.Errorf("%s: %w", e.Kind(), ErrNoLaw)
}

// together returns all sums of a stream as one release.
func together(e privacy.CorrelatedGaussian) privacy.Gaussian {
	return privacy.Gaussian{Sigma: e.NoiseMultiplier, Sensitivity: e.Sensitivity, Unit: e.Unit,
		Neighbouring: e.Neighbouring}
}

// sampled returns n releases on samples.
func (p *pricer) sampled(e privacy.Sampled, n, k int64) ([]Part, error) {
	one := func(l Law) ([]Part, error) { return []Part{{l, n}}, nil }
	if c, ok := e.Event.(privacy.CorrelatedGaussian); ok {
		e.Event = together(c)
	}
	_, relation, _ := about(e)
	inner, err := p.group(e.Event, 1, 1)
	if err != nil {
		return nil, err
	}
	switch {
	case e.Rate == 1:
		return p.group(e.Event, n, k)
	case relation != privacy.Replace && k == 1 && e.Method == privacy.Poisson:
		return one(sampled{inner[0].Law, e.Rate, p.remove})
	}
	g, normals := e.Event.(privacy.Gaussian)
	if !normals || relation != privacy.Replace && e.Method != privacy.Poisson {
		return nil, fmt.Errorf("sampled %s, %s, under %s: %w", e.Event.Kind(), e.Method, relation, ErrNoLaw)
	}
	far := g.Sensitivity / g.Sigma
	switch {
	case relation != privacy.Replace: // removed, and added again with the opposite value
		return one(mirrored{far, e.Rate})
	case g.Norm > 0 && 2*g.Norm <= g.Sensitivity*(1+1e-9): // from one end to the other
		return one(mirrored{g.Norm / g.Sigma, e.Rate})
	case e.Method == privacy.WithoutReplacement:
		// another unit is in the sample in place of this one: no further than it
		return one(sampled{normal{far}, e.Rate, p.remove})
	case g.Norm > 0: // from 0 to the largest contribution
		return one(sampled{normal{min(g.Norm/g.Sigma, far)}, e.Rate, p.remove})
	}
	return one(hidden{normal{far}, e.Rate}) // from one end of a long range to the other
}
