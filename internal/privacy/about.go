package privacy

import (
	"fmt"
	"math"
)

// Subject is what a release is about: the unit in which neighbouring data sets
// differ, and how.
type Subject struct {
	Unit         Unit
	Neighbouring Neighbouring
}

// release is an event that nests nothing and has a price. Each kind says here what
// it is about and what it is for a group of its units.
type release interface {
	Event
	about() Subject
	// group is the release as it is about another subject, one change of which is
	// size changes of the unit, one after the other.
	group(size int64, s Subject) Event
}

func (e Gaussian) about() Subject           { return Subject{e.Unit, e.Neighbouring} }
func (e Laplace) about() Subject            { return Subject{e.Unit, e.Neighbouring} }
func (e DiscreteGaussian) about() Subject   { return Subject{e.Unit, e.Neighbouring} }
func (e DiscreteLaplace) about() Subject    { return Subject{e.Unit, e.Neighbouring} }
func (e Exponential) about() Subject        { return Subject{e.Unit, e.Neighbouring} }
func (e PureLDP) about() Subject            { return Subject{e.Unit, Replace} }
func (e RandomizedResponse) about() Subject { return Subject{e.Unit, Replace} }

// Distances add up along the changes: the triangle inequality. How long all of a group
// are together is not said.

func (e Gaussian) group(size int64, s Subject) Event {
	if size > 1 {
		e.Norm = 0
	}
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (e Laplace) group(size int64, s Subject) Event {
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

// What is integer moves by whole numbers, and a group by multiples of these.

func (e DiscreteGaussian) group(size int64, s Subject) Event {
	if d := math.Sqrt(e.Squared()); !math.IsInf(d, 1) {
		e.Sensitivity = d
	}
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Sensitivity, size), s.Unit, s.Neighbouring
	return e
}

func (e DiscreteLaplace) group(size int64, s Subject) Event {
	e.Sensitivity, e.Unit, e.Neighbouring = timesUp(e.Steps(), size), s.Unit, s.Neighbouring
	return e
}

// A quality that moves by at most D a change moves by at most size times D.
func (e Exponential) group(size int64, s Subject) Event {
	e.Epsilon, e.Unit, e.Neighbouring = timesUp(e.Epsilon, size), s.Unit, s.Neighbouring
	return e
}

// Log-ratios add up along the changes. Size randomisers with an epsilon each would
// cost less at a delta above 0, but the event may be one mechanism on all of the
// units, as of a whole sequence of cells.
func (e PureLDP) group(size int64, s Subject) Event {
	e.Epsilon, e.Unit = timesUp(e.Epsilon, size), s.Unit
	return e
}

// Every unit has an answer of its own, and the answers are independent.
func (e RandomizedResponse) group(size int64, s Subject) Event {
	e.Unit = s.Unit
	if size == 1 {
		return e
	}
	return SelfComposed{e, size}
}

// About returns what a release is about. It is false of events that nest others and
// of Unprotected.
func About(e Event) (Subject, bool) {
	if r, ok := e.(release); ok {
		return r.about(), true
	}
	return Subject{}, false
}

// Local reports whether a release is a local randomiser, of whatever value its unit
// has. Of an edge or an interaction that is whether it is there.
func Local(e Event) bool {
	switch e.(type) {
	case PureLDP, RandomizedResponse:
		return true
	}
	return false
}

// Leaves lists the releases within an event, and what of it is unprotected.
func Leaves(e Event) (list []Event) {
	of := parts(e)
	if len(of) == 0 {
		return []Event{e}
	}
	for _, part := range of {
		list = append(list, Leaves(part)...)
	}
	return list
}

// Subjects lists what the releases within an event are about, and each Unprotected,
// which has no relation and perhaps no unit.
func Subjects(e Event) (list []Subject) {
	for _, leaf := range Leaves(e) {
		if u, ok := leaf.(Unprotected); ok {
			list = append(list, Subject{Unit: u.Unit})
		} else if s, ok := About(leaf); ok {
			list = append(list, s)
		}
	}
	return list
}

// Group returns a release as it is about another subject, where one change of that
// is made of size changes of the release's own subject (group privacy). Whether it
// is so the caller must know. A local randomiser stays one about exchanging values.
func Group(e Event, size int64, s Subject) (Event, error) {
	r, ok := e.(release)
	switch {
	case !ok:
		return nil, fmt.Errorf("a group of %d: the event is no single release", size)
	case size < 1:
		return nil, fmt.Errorf("%s: a group of %d, want at least 1", e.Kind(), size)
	}
	g := r.group(size, s)
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("a group of %d: %w", size, err)
	}
	return g, nil
}

// timesUp is v times n, rounded up.
func timesUp(v float64, n int64) float64 {
	k := float64(n)
	if n > 1<<53 {
		k = math.Nextafter(k, math.Inf(1))
	}
	p := v * k
	if math.FMA(v, k, -p) > 0 {
		p = math.Nextafter(p, math.Inf(1))
	}
	return p
}
