package privacy

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// Event is one thing that a mechanism released or that a run left open. Events
// are values: nothing changes one after it was made. An event is a Release, or says by
// its Form how others make it up, or is what is unprotected (see Opened). What an
// accountant needs it asks of the event, so that it knows no kind by its name.
//
// The set is closed: kinds lists it, which is what a ledger can hold. An accountant that
// meets a law, or a form, that it cannot price refuses it.
type Event interface {
	Kind() string
	Validate() error
	// Form says how the event is made up.
	Form() Form
	// read parses an event of the kind, of which the depth is how deep it lies.
	read(b []byte, depth int) (Event, error)
}

// Release is an event that nests nothing and has a price. It is comparable.
type Release interface {
	Event
	// About is the unit that neighbours differ in, and how.
	About() Subject
	// Law says what an observer can tell of neighbours; nil where that is not known.
	Law() Law
	// Group is the release as it is about another subject, one change of which is
	// size changes of the unit, one after the other.
	Group(size int64, s Subject) Event
}

// kinds lists every kind of event by an empty one.
var kinds = []Event{
	Gaussian{}, Laplace{}, DiscreteGaussian{}, DiscreteLaplace{}, PureLDP{}, RandomizedResponse{}, Exponential{},
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
