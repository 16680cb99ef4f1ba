// Package terms brings the events of a ledger into the one form that accountants price: a flat list
// of leaf releases with their counts and their sampling. It knows the structure of composition and
// no epsilon. All counts are multiplied here, for every kind of event.
package terms

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// Term stands for Count adaptive compositions of one leaf release. Each may be on its own random part of the data.
type Term struct {
	Leaf     privacy.Event        // a privacy.Release
	Rate     float64              // probability that a unit is in a release; 1: not sampled
	Method   privacy.Sampling     // empty where Rate is 1
	Relation privacy.Neighbouring // of the leaf; Replace for a local randomiser
	Count    int64
	// Group is the number of units that come or go together. Each is sampled independently, and together they move the
	// release by at most Group times the sensitivity. 0 and 1 mean one unit.
	Group int64
}

// List holds a composition in flat form.
type List struct {
	Terms        []Term
	Parallels    []Branches
	WithoutNoise []privacy.Unprotected // each once
}

// Branches holds Count compositions of events on disjoint parts of the data. A unit is in one branch, or, with Pairs,
// leaves one and enters another.
type Branches struct {
	Of    []List
	Count int64
	Pairs bool
}

// ErrUnit is returned for an event about another unit or relation than the one asked for, so that its cost is not
// known.
var ErrUnit = errors.New("the event is about another unit or relation")

// ErrForm is returned for an event without a flat form, and if no branch of a parallel composition is known to be the
// worst.
var ErrForm = errors.New("no accountant has a form for it")

// Flatten returns the flat form of count compositions of an event about a unit under a relation.
//
// A local randomiser is about exchanging one value for another, so it fits only the relation Replace. Several Gaussians
// on one sample become one sampled Gaussian with the sum of their (D/sigma)². Poisson sampling of a Poisson sample
// multiplies the rates. Anything else that is sampled must be one leaf, or Flatten fails with ErrForm. A sampled
// discrete normal release in several dimensions, which has no law of its own to price, becomes a normal one that is at
// most as private (OnSamples).
func Flatten(e privacy.Event, count int64, unit privacy.Unit, relation privacy.Neighbouring) (List, error) {
	return flattener{unit, relation, false}.flatten(e, count)
}

// Restated flattens an event that was about another unit or relation and was restated for these, see privacy.Group.
// Unprotected events keep the unit that they name. A local randomiser fits any relation, and so does a sampled release
// with the relation Replace, because its worst pair of laws is that of an exchange.
func Restated(e privacy.Event, count int64, unit privacy.Unit, relation privacy.Neighbouring) (List, error) {
	return flattener{unit, relation, true}.flatten(e, count)
}

type flattener struct {
	unit     privacy.Unit
	relation privacy.Neighbouring
	restated bool
}

func (f flattener) flatten(e privacy.Event, count int64) (List, error) {
	if count < 1 {
		return List{}, fmt.Errorf("count is %d, want at least 1", count)
	}
	if e == nil {
		return List{}, errors.New("no event")
	}
	if err := errors.Join(e.Validate(), f.unit.Validate(), f.relation.Validate()); err != nil {
		return List{}, err
	}
	l, err := f.list(OnSamples(e))
	if err != nil {
		return List{}, err
	}
	return l.times(count)
}

func (f flattener) list(e privacy.Event) (List, error) {
	form := e.Form()
	switch form.Way {
	case privacy.WithoutNoise:
		return f.withoutNoise(e)
	case privacy.Repeated:
		l, err := f.list(form.Event)
		if err != nil {
			return List{}, err
		}
		return l.times(form.Count)
	case privacy.InSequence:
		var sum List
		for i, inner := range form.Events {
			l, err := f.list(inner)
			if err == nil {
				sum, err = sum.plus(l)
			}
			if err != nil {
				return List{}, fmt.Errorf("event %d: %w", i, err)
			}
		}
		return sum, nil
	case privacy.InParallel:
		b := Branches{Count: 1, Pairs: f.relation == privacy.Replace && !form.Fixed}
		var open []privacy.Unprotected
		for i, inner := range form.Events {
			l, err := f.list(inner)
			if err != nil {
				return List{}, fmt.Errorf("event %d: %w", i, err)
			}
			open = merge(open, l.WithoutNoise)
			l.WithoutNoise = nil
			b.Of = append(b.Of, l)
		}
		return List{Parallels: []Branches{b}, WithoutNoise: open}, nil
	case privacy.OnSample:
		return f.sampled(form)
	}
	return f.leaf(e)
}

// withoutNoise checks the unit of an unprotected event and returns a list of it.
func (f flattener) withoutNoise(e privacy.Event) (List, error) {
	u, _ := privacy.AsUnprotected(e)
	if u.Unit != "" && u.Unit != f.unit && !f.restated {
		return List{}, fmt.Errorf("%s unprotected for %s; asked about %s: %w", u.What, u.Unit, f.unit, ErrUnit)
	}
	return List{WithoutNoise: []privacy.Unprotected{u}}, nil
}

// leaf checks the unit and relation of a release and returns a list of it.
func (f flattener) leaf(e privacy.Event) (List, error) {
	s, ok := privacy.About(e)
	if !ok {
		return List{}, fmt.Errorf("event %q: %w", e.Kind(), ErrForm)
	}
	if s.Unit != f.unit || s.Neighbouring != f.relation && !(f.restated && s.Neighbouring == privacy.Replace) {
		return List{}, fmt.Errorf("%s about %s, %s; asked about %s, %s: %w", e.Kind(), s.Unit, s.Neighbouring, f.unit,
			f.relation, ErrUnit)
	}
	// A release that is not sampled has one law under all relations.
	return List{Terms: []Term{{Leaf: privacy.OnGrid(e), Rate: 1, Relation: f.relation, Count: 1}}}, nil
}

// sampled turns the list of the event under the sampling into one sampled term.
func (f flattener) sampled(e privacy.Form) (List, error) {
	l, err := f.list(e.Event)
	if err != nil {
		return l, err
	}
	if e.Rate == 1 {
		return l, nil
	}
	if len(l.Parallels) > 0 {
		return List{}, fmt.Errorf("a sampled parallel composition: %w", ErrForm)
	}
	if len(l.Terms) == 0 { // only what is unprotected, which sampling does not help
		return l, nil
	}
	t, err := join(l.Terms)
	if err != nil {
		return List{}, err
	}
	switch {
	case t.Rate == 1:
		t.Rate, t.Method = e.Rate, e.Method
		if s, ok := privacy.About(t.Leaf); ok {
			t.Relation = s.Neighbouring
		}
	case t.Method == privacy.Poisson && e.Method == privacy.Poisson && t.Count == 1:
		rate := t.Rate * e.Rate
		if math.FMA(t.Rate, e.Rate, -rate) > 0 { // rounded down
			rate = math.Nextafter(rate, 1)
		}
		t.Rate = rate
	default:
		return List{}, fmt.Errorf("a sample of a sample: %w", ErrForm)
	}
	if !(t.Rate > 0) {
		return List{}, fmt.Errorf("the sampling rate %v of a sample underflows", e.Rate)
	}
	l.Terms = []Term{t}
	return l, nil
}

// join merges unsampled normal releases into one of the same cost.
func join(ts []Term) (Term, error) {
	if len(ts) == 1 && ts[0].Count == 1 {
		return ts[0], nil
	}
	mu2, laws := 0.0, make([]privacy.Gaussian, 0, 4)
	for _, t := range ts {
		g, ok := privacy.LawOf(t.Leaf).(privacy.Gaussian)
		if !ok || t.Rate != 1 {
			return Term{}, fmt.Errorf("a sampled composition of anything but Gaussians: %w", ErrForm)
		}
		mu := g.Sensitivity / g.Sigma
		mu2 += float64(t.Count) * mu * mu
		laws = append(laws, g)
	}
	g := laws[0]
	// The sensitivity stays and sigma is rounded down, to the safe side.
	g.Sigma = g.Sensitivity / math.Sqrt(mu2) * (1 - 0x1p-50)
	g.Norm = joinedNorm(ts, laws, g.Sensitivity, mu2)
	t := ts[0]
	about, _ := privacy.About(t.Leaf)
	t.Leaf, t.Count = g.Group(1, about), 1
	if err := t.Leaf.Validate(); err != nil {
		return Term{}, fmt.Errorf("joined release: %w", err)
	}
	return t, nil
}
