package privacy

import (
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Event is one thing that a mechanism released or that a run left open. Events
// are values: nothing changes one after it was made. The set is closed; an
// accountant that meets a kind it cannot price refuses it.
type Event interface {
	Kind() string
	Validate() error
	event()
}

// Gaussian is x + N(0, Sigma² I) where x moves by at most Sensitivity in the
// Euclidean norm between neighbours.
//
// Norm says how far x moves by one unit being in or not, where x is a sum over units:
// the longest that one of them is, such as the norm that they are clipped to. Only
// sampling under Replace asks: whether a unit is in moves x by Norm, which one it is by
// Sensitivity.
type Gaussian struct {
	Sigma        float64      `json:"sigma"` // standard deviation, not a multiple of anything
	Sensitivity  float64      `json:"sensitivity"`
	Norm         float64      `json:"norm,omitempty"` // at least half of Sensitivity; 0: not known
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

// Laplace is x + independent Laplace noise of scale Scale where x moves by at
// most Sensitivity in the l1 norm.
type Laplace struct {
	Scale        float64      `json:"scale"`
	Sensitivity  float64      `json:"sensitivity"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

// DiscreteGaussian is x + independent discrete normal noise in every of Dimension
// coordinates, all in steps of a grid that does not depend on the data: P(k) is
// proportional to exp(-k²/(2 Sigma²)) (Canonne, Kamath, Steinke, "The discrete
// Gaussian for differential privacy", NeurIPS 2020). x is integer and moves by
// at most Sensitivity in the Euclidean norm: at least one step, and see Squared.
type DiscreteGaussian struct {
	Sigma        float64      `json:"sigma"`       // grid steps; the standard deviation is a little below
	Sensitivity  float64      `json:"sensitivity"` // grid steps, rounding to the grid included
	Dimension    int64        `json:"dimension"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

// DiscreteLaplace is x + independent noise with P(k) proportional to
// exp(-|k|/Scale), in steps of a grid that does not depend on the data; x is
// integer and moves by at most Sensitivity in the l1 norm: at least one step, and
// see Steps (Ghosh, Roughgarden, Sundararajan, "Universally utility-maximizing
// privacy mechanisms", STOC 2009).
type DiscreteLaplace struct {
	Scale        float64      `json:"scale"`       // grid steps
	Sensitivity  float64      `json:"sensitivity"` // grid steps, rounding to the grid included
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

// PureLDP is a local randomiser: any two inputs give any output with
// probabilities within a factor exp(Epsilon).
type PureLDP struct {
	Epsilon float64 `json:"epsilon"`
	Unit    Unit    `json:"unit"`
}

// RandomizedResponse is a local randomiser of one of Categories values: the true
// one with probability e^Epsilon/(e^Epsilon + Categories - 1), any other alike.
type RandomizedResponse struct {
	Epsilon    float64 `json:"epsilon"`
	Categories int64   `json:"categories"` // at least 2
	Unit       Unit    `json:"unit"`
}

// Exponential is a choice with probability proportional to exp(Epsilon u/(2 D))
// of a quality u that moves by at most D: its log-ratios lie in an interval of
// length Epsilon (bounded range: Durfee and Rogers, NeurIPS 2019).
type Exponential struct {
	Epsilon      float64      `json:"epsilon"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

// Composed is several events on the same data, each perhaps chosen after the
// results of those before.
type Composed struct{ Events []Event }

// SelfComposed is Count times the same event on the same data.
type SelfComposed struct {
	Event Event
	Count int64
}

// Parallel is events on disjoint parts of the data: one unit is in one of them, and
// costs what the worst of them does.
//
// Under Replace a unit that is exchanged for another may leave one part and enter
// another. Then it costs what any two of the events do, composed; the sensitivity of
// each is that of neighbours of the whole data, so that leaving its part and entering
// it count, and not an exchange within it alone. Fixed says that this cannot be: a
// unit's part does not depend on what it is exchanged for, as the part of a user's
// records that is known beforehand by the user does not.
type Parallel struct {
	Events []Event
	Fixed  bool // under Replace a unit stays in its part
}

// Sampling is how the units that an event sees were chosen.
type Sampling string

const (
	Poisson            Sampling = "poisson"             // each unit independently
	WithoutReplacement Sampling = "without-replacement" // a subset of fixed size
)

// Sampled is an event on a random part of the data. A Gaussian on a Poisson sample
// under Replace costs least where its Norm is half of the sensitivity, as clipping at C
// makes it with a sensitivity of 2C. Values from 0 to the sensitivity, whose Norm is
// that, cost more. Without a Norm the output may show whether a unit is in, and then
// sampling makes what it shows rarer but no less.
type Sampled struct {
	Event  Event
	Rate   float64 // probability of a unit to be in, in (0, 1]
	Method Sampling
}

// Unprotected says that something about the unit leaves without protection. An
// empty Unit means every unit.
type Unprotected struct {
	What string `json:"what"` // a short name: labels, readout
	Why  string `json:"why"`  // one sentence for a reader of the report
	Unit Unit   `json:"unit,omitempty"`
}

func (Gaussian) Kind() string           { return "gaussian" }
func (Laplace) Kind() string            { return "laplace" }
func (DiscreteGaussian) Kind() string   { return "discrete-gaussian" }
func (DiscreteLaplace) Kind() string    { return "discrete-laplace" }
func (PureLDP) Kind() string            { return "pure-ldp" }
func (RandomizedResponse) Kind() string { return "randomized-response" }
func (Exponential) Kind() string        { return "exponential" }
func (Composed) Kind() string           { return "composed" }
func (SelfComposed) Kind() string       { return "self-composed" }
func (Parallel) Kind() string           { return "parallel" }
func (Sampled) Kind() string            { return "sampled" }
func (Unprotected) Kind() string        { return "unprotected" }

func (Gaussian) event()           {}
func (Laplace) event()            {}
func (DiscreteGaussian) event()   {}
func (DiscreteLaplace) event()    {}
func (PureLDP) event()            {}
func (RandomizedResponse) event() {}
func (Exponential) event()        {}
func (Composed) event()           {}
func (SelfComposed) event()       {}
func (Parallel) event()           {}
func (Sampled) event()            {}
func (Unprotected) event()        {}

// Validate reports the first field out of its range.
func (e Gaussian) Validate() error {
	var norm error
	if e.Norm != 0 && (!(2*e.Norm >= e.Sensitivity) || math.IsInf(e.Norm, 1)) {
		norm = fmt.Errorf("norm is %v, want at least half of the sensitivity and finite, or none: units that long move a sum by twice that at most", e.Norm)
	}
	return first("gaussian", positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity), norm, e.Unit.Validate(), e.Neighbouring.Validate())
}

// Validate reports the first field out of its range.
func (e Laplace) Validate() error {
	return first("laplace", positive("scale", e.Scale), positive("sensitivity", e.Sensitivity), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Validate reports the first field out of its range.
func (e PureLDP) Validate() error {
	return first("pure-ldp", positive("epsilon", e.Epsilon), e.Unit.Validate())
}

// Validate reports the first field out of its range.
func (e DiscreteGaussian) Validate() error {
	return first("discrete-gaussian", positive("sigma", e.Sigma), positive("sensitivity", e.Sensitivity), atLeastStep(e.Sensitivity),
		atLeast("dimension", e.Dimension, 1), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Validate reports the first field out of its range.
func (e DiscreteLaplace) Validate() error {
	return first("discrete-laplace", positive("scale", e.Scale), positive("sensitivity", e.Sensitivity), atLeastStep(e.Sensitivity),
		e.Unit.Validate(), e.Neighbouring.Validate())
}

// Validate reports the first field out of its range.
func (e RandomizedResponse) Validate() error {
	return first("randomized-response", positive("epsilon", e.Epsilon), atLeast("categories", e.Categories, 2), e.Unit.Validate())
}

// Validate reports the first field out of its range.
func (e Exponential) Validate() error {
	return first("exponential", positive("epsilon", e.Epsilon), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Validate reports an empty or invalid composition.
func (e Composed) Validate() error { return validateAll("composed", e.Events) }

// Validate reports an empty or invalid composition.
func (e Parallel) Validate() error { return validateAll("parallel", e.Events) }

// Validate reports a missing or invalid event and a count below one.
func (e SelfComposed) Validate() error {
	return first("self-composed", atLeast("count", e.Count, 1), validate(e.Event))
}

// Validate reports a missing or invalid event, a rate outside (0, 1] and an
// unknown method.
func (e Sampled) Validate() error {
	var rate, method error
	if !(e.Rate > 0 && e.Rate <= 1) {
		rate = fmt.Errorf("rate is %v, want above 0 and at most 1", e.Rate)
	}
	if e.Method != Poisson && e.Method != WithoutReplacement {
		method = fmt.Errorf("unknown sampling %q", string(e.Method))
	}
	return first("sampled", rate, method, validate(e.Event))
}

// Validate reports a missing name or reason, and one that is not UTF-8: it would
// be another one in a file.
func (e Unprotected) Validate() error {
	var what, unit error
	if e.What == "" || e.Why == "" {
		what = errors.New("what and why must not be empty")
	}
	if e.Unit != "" {
		unit = e.Unit.Validate()
	}
	return first("unprotected", what, text("what", e.What), text("why", e.Why), unit)
}

// copied is an event that shares no list with e.
func copied(e Event) Event {
	all := func(events []Event) []Event {
		list := make([]Event, len(events))
		for i, e := range events {
			list[i] = copied(e)
		}
		return list
	}
	switch e := e.(type) {
	case Composed:
		return Composed{all(e.Events)}
	case Parallel:
		return Parallel{all(e.Events), e.Fixed}
	case SelfComposed:
		return SelfComposed{copied(e.Event), e.Count}
	case Sampled:
		return Sampled{copied(e.Event), e.Rate, e.Method}
	}
	return e
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
