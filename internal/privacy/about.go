package privacy

import (
	"fmt"
	"math"
)

// Subject is what a release is about: the unit in which neighbouring data sets differ, and the
// relation between them.
type Subject struct {
	Unit         Unit
	Neighbouring Neighbouring
}

// About returns the subject of a release. The bool is false for events that nest others and for
// what is unprotected.
func About(e Event) (Subject, bool) {
	if r, ok := e.(Release); ok {
		return r.About(), true
	}
	return Subject{}, false
}

// Local reports whether a release is a local randomiser, which perturbs the value of one unit by
// itself. The value of an edge or an interaction is whether it is there.
func Local(e Event) bool {
	_, ok := e.(interface{ local() })
	return ok
}

// Leaves lists the releases and the unprotected events within an event.
func Leaves(e Event) []Event { return leaves(nil, e) }

// leaves appends the leaves of an event to a list. An event that should nest others and nests none
// is a leaf.
func leaves(list []Event, e Event) []Event {
	if e == nil {
		return append(list, e)
	}
	f := e.Form()
	switch {
	case f.Way == Repeated, f.Way == OnSample:
		return leaves(list, f.Event)
	case len(f.Events) == 0:
		return append(list, e)
	}
	for _, inner := range f.Events {
		list = leaves(list, inner)
	}
	return list
}

// Subjects lists the subjects of the leaves of an event. The subject of an unprotected leaf has no
// relation, and no unit where the leaf is about every unit.
func Subjects(e Event) (list []Subject) {
	for _, leaf := range Leaves(e) {
		if u, ok := AsUnprotected(leaf); ok {
			list = append(list, Subject{Unit: u.Unit})
		} else if s, ok := About(leaf); ok {
			list = append(list, s)
		}
	}
	return list
}

// Group returns a release as it is about subject s, where one change of s consists of size changes
// of the release's own subject (group privacy). The caller must know that it does. A local
// randomiser stays about exchanging values. Group fails on an event that is not one release, on a
// size below 1, and if the result is not valid.
func Group(e Event, size int64, s Subject) (Event, error) {
	r, ok := e.(Release)
	switch {
	case !ok:
		return nil, fmt.Errorf("a group of %d: the event is no single release", size)
	case size < 1:
		return nil, fmt.Errorf("%s: a group of %d, want at least 1", e.Kind(), size)
	}
	g := r.Group(size, s)
	if err := g.Validate(); err != nil {
		return nil, fmt.Errorf("a group of %d: %w", size, err)
	}
	return g, nil
}

// timesUp returns v times n, rounded up.
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
