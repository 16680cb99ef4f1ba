package privacy

import (
	"encoding/json"
	"fmt"
)

// Composed holds several events on the same data. Each may be chosen after seeing the results of earlier ones.
type Composed struct{ Events []Event }

func (Composed) Kind() string { return "composed" }

// Validate returns an error for an empty or invalid composition.
func (e Composed) Validate() error { return validateAll("composed", e.Events) }

func (e Composed) Form() Form { return Form{Way: InSequence, Events: e.Events} }

func (Composed) with(events []Event) Event { return Composed{events} }

type list struct {
	Events []node `json:"events"`
}

func (e Composed) body() any { return list{nodes(e.Events)} }

type rawList struct {
	Kind   string            `json:"kind"`
	Events []json.RawMessage `json:"events"`
}

func (Composed) read(b []byte, depth int) (Event, error) {
	var v rawList
	if err := strict(b, &v); err != nil {
		return nil, err
	}
	events, err := decodeAll("composed", v.Events, depth)
	if err != nil {
		return nil, err
	}
	return Composed{events}, nil
}

// SelfComposed repeats one event Count times on the same data.
type SelfComposed struct {
	Event Event
	Count int64
}

func (SelfComposed) Kind() string { return "self-composed" }

// Validate returns an error for a missing or invalid event and a count below one.
func (e SelfComposed) Validate() error {
	return first("self-composed", atLeast("count", e.Count, 1), validate(e.Event))
}

func (e SelfComposed) Form() Form { return Form{Way: Repeated, Event: e.Event, Count: e.Count} }

func (e SelfComposed) with(events []Event) Event { return SelfComposed{events[0], e.Count} }

type repeated struct {
	Count int64 `json:"count"`
	Event node  `json:"event"`
}

func (e SelfComposed) body() any { return repeated{e.Count, node{e.Event}} }

type rawRepeated struct {
	Kind  string          `json:"kind"`
	Count int64           `json:"count"`
	Event json.RawMessage `json:"event"`
}

func (SelfComposed) read(b []byte, depth int) (Event, error) {
	var v rawRepeated
	if err := strict(b, &v); err != nil {
		return nil, err
	}
	e, err := decode(v.Event, depth+1)
	return SelfComposed{Event: e, Count: v.Count}, err
}

// Parallel holds events on disjoint parts of the data. A unit is in one part only, so it costs as much as the most
// expensive event.
//
// Under Replace a unit that is exchanged for another may leave one part and enter another. Then it costs as much as the
// two most expensive events together. The sensitivity of each event must be that between neighbours of the whole data:
// it covers a unit that leaves or enters the part, not only one that is exchanged within it. Fixed says that a unit
// always stays in its part, because the part does not depend on what the unit is exchanged for. An example is a record
// whose part is chosen by its user.
type Parallel struct {
	Events []Event
	Fixed  bool // under Replace a unit stays in its part
}

func (Parallel) Kind() string { return "parallel" }

// Validate returns an error for an empty or invalid composition.
func (e Parallel) Validate() error { return validateAll("parallel", e.Events) }

func (e Parallel) Form() Form { return Form{Way: InParallel, Events: e.Events, Fixed: e.Fixed} }

func (e Parallel) with(events []Event) Event { return Parallel{events, e.Fixed} }

type parallel struct {
	Fixed  bool   `json:"fixed,omitempty"`
	Events []node `json:"events"`
}

func (e Parallel) body() any { return parallel{e.Fixed, nodes(e.Events)} }

type rawParallel struct {
	Kind   string            `json:"kind"`
	Fixed  bool              `json:"fixed"`
	Events []json.RawMessage `json:"events"`
}

func (Parallel) read(b []byte, depth int) (Event, error) {
	var v rawParallel
	if err := strict(b, &v); err != nil {
		return nil, err
	}
	events, err := decodeAll("parallel", v.Events, depth)
	if err != nil {
		return nil, err
	}
	return Parallel{events, v.Fixed}, nil
}

// Sampling names how the units that an event sees are drawn.
type Sampling string

const (
	Poisson            Sampling = "poisson"             // each unit independently
	WithoutReplacement Sampling = "without-replacement" // a subset of fixed size
)

// Sampled holds an event that runs on a random part of the data.
//
// Under Replace, a Gaussian on a Poisson sample costs least where its Norm is half of its sensitivity, as for vectors
// clipped at C with a sensitivity of 2C. It costs more where its Norm is the sensitivity, as for values from 0 to the
// sensitivity. Without a Norm the output may show whether a unit is in the sample. Then sampling makes such an output
// rarer, but no less clear.
type Sampled struct {
	Event  Event
	Rate   float64 // probability that a unit is in the sample, in (0, 1]
	Method Sampling
}

func (Sampled) Kind() string { return "sampled" }

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

func (e Sampled) Form() Form {
	return Form{Way: OnSample, Event: e.Event, Rate: e.Rate, Method: e.Method}
}

func (e Sampled) with(events []Event) Event { return Sampled{events[0], e.Rate, e.Method} }

type sampled struct {
	Rate   float64  `json:"rate"`
	Method Sampling `json:"method"`
	Event  node     `json:"event"`
}

func (e Sampled) body() any { return sampled{e.Rate, e.Method, node{e.Event}} }

type rawSampled struct {
	Kind   string          `json:"kind"`
	Rate   float64         `json:"rate"`
	Method Sampling        `json:"method"`
	Event  json.RawMessage `json:"event"`
}

func (Sampled) read(b []byte, depth int) (Event, error) {
	var v rawSampled
	if err := strict(b, &v); err != nil {
		return nil, err
	}
	e, err := decode(v.Event, depth+1)
	return Sampled{Event: e, Rate: v.Rate, Method: v.Method}, err
}
