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

// About returns what a release is about. It is false of events that nest others and
// of what is unprotected.
func About(e Event) (Subject, bool) {
	if r, ok := e.(Release); ok {
		return r.About(), true
	}
	return Subject{}, false
}

// Local reports whether a release is a local randomiser, of whatever value its unit
// has. Of an edge or an interaction that is whether it is there.
func Local(e Event) bool {
	_, ok := e.(interface{ local() })
	return ok
}

// Leaves lists the releases within an event, and what of it is unprotected.
func Leaves(e Event) []Event { return leaves(nil, e) }

// leaves appends the leaves of an event to a list; one that should have parts and has
// none is its own.
func leaves(list []Event, e Event) []Event {
	if e == nil {
		return append(list, e)
	}
	f := e.Form()
	switch {
	case f.Way == Repeated, f.Way == OnSample:
		return leaves(list, f.Part)
	case len(f.Parts) == 0:
		return append(list, e)
	}
	for _, part := range f.Parts {
		list = leaves(list, part)
	}
	return list
}

// Subjects lists what the releases within an event are about, and what is
// unprotected, which has no relation and perhaps no unit.
func Subjects(e Event) (list []Subject) {
	for _, leaf := range Leaves(e) {
		if u, ok := Opened(leaf); ok {
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
