package privacy

import (
	"errors"
	"fmt"
	"slices"
)

// Event describes something that a mechanism released or that a run left unprotected. Events are immutable values. An
// event is a Release, a combination of other events (see Form), or unprotected (see AsUnprotected). Accountants read
// these properties and never look at the name of a kind.
//
// The set of kinds is closed: the list kinds holds every kind that a ledger may contain. An accountant refuses an event
// whose law or form it cannot price.
type Event interface {
	// Kind returns the name of the kind, as a ledger writes it.
	Kind() string
	// Validate returns an error if a field is out of range.
	Validate() error
	// Form returns how the event is made up of other events.
	Form() Form
	// read parses an event of this kind at nesting depth depth.
	read(b []byte, depth int) (Event, error)
}

// Release is an event that nests no other and has a price of its own. It is comparable.
type Release interface {
	Event
	// About returns the unit that neighbours differ in, and their relation.
	About() Subject
	// Law returns what an observer can learn about neighbours, or nil if that is not known.
	Law() Law
	// Group returns the release restated about subject s, where one change of s consists of size successive changes of
	// the release's unit. It may be of another kind, such as pure noise where the shape of the noise helps no more.
	Group(size int64, s Subject) Event
}

func validate(e Event) error {
	if e == nil {
		return errors.New("no event")
	}
	return e.Validate()
}

func validateAll(kind string, events []Event) error {
	if len(events) == 0 {
		return fmt.Errorf("%s: no events", kind)
	}
	for i, e := range events {
		if err := validate(e); err != nil {
			return fmt.Errorf("%s: event %d: %w", kind, i, err)
		}
	}
	return nil
}

// Way names how an event is made up of other events.
type Way int

// The ways to make up an event. All nested events are about the same data unless a way says otherwise.
const (
	Single       Way = iota // a Release, of no other event
	WithoutNoise            // unprotected, of no other event: see AsUnprotected
	Repeated                // one event, Count times
	InSequence              // several events, one after the other
	InParallel              // several events, on disjoint parts of the data
	OnSample                // one event, on a random part of the data
)

// Form tells an accountant how an event is made up of others. Only the fields of its way are set.
type Form struct {
	Way    Way
	Event  Event    // of Repeated and OnSample
	Count  int64    // of Repeated
	Events []Event  // of InSequence and InParallel; read only
	Fixed  bool     // of InParallel: under Replace a unit stays in its part of the data
	Rate   float64  // of OnSample: probability that a unit is in the sample, in (0, 1]
	Method Sampling // of OnSample
}

// compound is an event that nests others.
type compound interface {
	Event
	// with returns the event with its nested events replaced by as many others.
	with(events []Event) Event
	// body returns the value that is marshalled as the event's JSON, without its kind.
	body() any
}

// WithEvents returns event e with its nested events replaced by as many others. It returns an event that nests none
// unchanged.
func WithEvents(e Event, events ...Event) Event {
	if c, ok := e.(compound); ok {
		return c.with(events)
	}
	return e
}

// nested returns the events that an event nests.
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

// copied returns a copy of an event that shares no slice with e.
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
