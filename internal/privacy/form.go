package privacy

import "slices"

// Way is how an event is made up.
type Way int

// The ways. All parts are about the same data unless a way says otherwise.
const (
	Single     Way = iota // of nothing else: a Release
	LeftOpen              // of nothing else, and not protected: see Opened
	Repeated              // of its part, Count times
	InSequence            // of its parts, one after the other
	InParallel            // of its parts, on disjoint parts of the data
	OnSample              // of its part, on a random part of the data
)

// Form is what an accountant needs to know of how an event is made up.
type Form struct {
	Way    Way
	Part   Event    // where Repeated or OnSample
	Count  int64    // where Repeated
	Parts  []Event  // where InSequence or InParallel; not to be changed
	Fixed  bool     // where InParallel: under Replace a unit stays in its part
	Rate   float64  // where OnSample: probability of a unit to be in, in (0, 1]
	Method Sampling // where OnSample
}

// compound is an event that nests others.
type compound interface {
	Event
	// with is the event with other parts, as many as its way takes.
	with(parts []Event) Event
	// body is what JSON has of the event beside its kind.
	body() any
}

// WithParts returns an event with other parts in place of its own, as many as its way
// takes; an event without parts as it is.
func WithParts(e Event, parts ...Event) Event {
	if c, ok := e.(compound); ok {
		return c.with(parts)
	}
	return e
}

// parts lists the events that an event nests.
func parts(e Event) []Event {
	if e == nil {
		return nil
	}
	f := e.Form()
	if f.Way == Repeated || f.Way == OnSample {
		return []Event{f.Part}
	}
	return f.Parts
}

// copied is an event that shares no list with e.
func copied(e Event) Event {
	c, ok := e.(compound)
	if !ok {
		return e
	}
	list := slices.Clone(parts(e))
	for i, part := range list {
		list[i] = copied(part)
	}
	return c.with(list)
}
