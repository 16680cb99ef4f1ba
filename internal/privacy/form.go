package privacy

import "slices"

// Way says how other events make up an event.
type Way int

// The ways. All nested events are about the same data unless a way says otherwise.
const (
	Single       Way = iota // no other event: a Release
	WithoutNoise            // no other event, and not protected: see AsUnprotected
	Repeated                // one event, Count times
	InSequence              // several events, one after the other
	InParallel              // several events, on disjoint parts of the data
	OnSample                // one event, on a random part of the data
)

// Form is what an accountant needs to know about how other events make up an event.
type Form struct {
	Way    Way
	Event  Event    // where Repeated or OnSample
	Count  int64    // where Repeated
	Events []Event  // where InSequence or InParallel; read only
	Fixed  bool     // where InParallel: under Replace a unit stays in its part of the data
	Rate   float64  // where OnSample: probability that a unit is in the sample, in (0, 1]
	Method Sampling // where OnSample
}

// compound is an event that nests others.
type compound interface {
	Event
	// with returns the event with other nested events, as many as its way takes.
	with(events []Event) Event
	// body returns what JSON has of the event, except its kind.
	body() any
}

// WithEvents returns an event with other nested events in place of its own, as many as its way
// takes. It returns an event that nests none as it is.
func WithEvents(e Event, events ...Event) Event {
	if c, ok := e.(compound); ok {
		return c.with(events)
	}
	return e
}

// nested lists the events that an event nests.
func nested(e Event) []Event {
	if e == nil {
		return nil
	}
	f := e.Form()
	if f.Way == Repeated || f.Way == OnSample {
		return []Event{f.Event}
	}
	return f.Events
}

// copied returns an event that shares no list with e.
func copied(e Event) Event {
	c, ok := e.(compound)
	if !ok {
		return e
	}
	list := slices.Clone(nested(e))
	for i, inner := range list {
		list[i] = copied(inner)
	}
	return c.with(list)
}
