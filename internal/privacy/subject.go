package privacy

import "fmt"

// Subject holds the unit in which neighbouring data sets differ and the relation between them. Every release has one.
type Subject struct {
	Unit         Unit
	Neighbouring Neighbouring
}

// About returns the subject of a release. The bool is false for events that nest others and for unprotected ones.
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

// Leaves returns the releases and the unprotected events within an event.
func Leaves(e Event) []Event { return leaves(nil, e) }

// leaves appends the leaves of an event to a list. A compound event without nested events counts as a leaf.
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

// Subjects returns the subjects of the leaves of an event. The subject of an unprotected leaf has no relation, and no
// unit if the leaf is about every unit.
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

// Group returns a release restated about subject s, where one change of s consists of size changes of the release's own
// subject (group privacy). The caller must know that this holds. A local randomiser keeps the relation of exchanged
// values. Group fails on an event that is not one release, on a size below 1, and if the result is not valid.
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
