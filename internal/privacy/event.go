package privacy

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Event is one thing that a mechanism released or that a run left unprotected. Events are values:
// an event never changes after it was made. An event is a Release, or its Form says which other
// events make it up, or it is what is unprotected (see AsUnprotected). An accountant asks the event for
// what it needs, and knows no kind by its name.
//
// The set of kinds is closed: the list kinds has all that a ledger can hold. An accountant refuses
// an event whose law or form it cannot price.
type Event interface {
	// Kind returns the name of the kind, as it stands in a ledger.
	Kind() string
	// Validate fails on values out of their range.
	Validate() error
	// Form returns how other events make up the event.
	Form() Form
	// read parses an event of this kind, which lies depth events deep.
	read(b []byte, depth int) (Event, error)
}

// Release is an event that nests no other and has a price. It is comparable.
type Release interface {
	Event
	// About returns the unit that neighbours differ in, and their relation.
	About() Subject
	// Law returns what an observer can tell about neighbours; nil if that is not known.
	Law() Law
	// Group returns the release as it is about subject s, one change of which is size changes of
	// the release's unit, one after the other.
	Group(size int64, s Subject) Event
}

// kinds has one empty event of every kind.
var kinds = []Event{
	Gaussian{}, Laplace{}, SphericalLaplace{}, DiscreteGaussian{}, DiscreteLaplace{}, PureLDP{}, RandomizedResponse{}, Exponential{},
	Composed{}, SelfComposed{}, Parallel{}, Sampled{}, Unprotected{},
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

func text(name, s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%s %q is not UTF-8", name, s)
	}
	return nil
}

func atLeast(name string, v, least int64) error {
	if v < least {
		return fmt.Errorf("%s is %d, want at least %d", name, v, least)
	}
	return nil
}

func first(kind string, errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

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
