package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// maxDepth bounds nesting, so that a hostile ledger cannot exhaust the stack.
const maxDepth = 16

// node is an event inside a JSON document: an object whose first key is kind.
type node struct{ Event }

// MarshalEvent returns the canonical JSON of an event: equal events have equal
// bytes. It fails when the event is not valid.
func MarshalEvent(e Event) ([]byte, error) {
	if err := validate(e); err != nil {
		return nil, err
	}
	return node{e}.MarshalJSON()
}

// UnmarshalEvent parses what MarshalEvent wrote: unknown kinds, unknown or
// missing fields and values out of range are errors.
func UnmarshalEvent(b []byte) (Event, error) { return decode(b, 0) }

func (n node) MarshalJSON() ([]byte, error) {
	var body any
	switch e := n.Event.(type) {
	case Composed:
		body = list{nodes(e.Events)}
	case Parallel:
		body = list{nodes(e.Events)}
	case SelfComposed:
		body = repeated{e.Count, node{e.Event}}
	case Sampled:
		body = sampled{e.Rate, e.Method, node{e.Event}}
	default:
		body = e
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"kind":"`+n.Kind()+`",`), b[1:]...), nil
}

type list struct {
	Events []node `json:"events"`
}
type repeated struct {
	Count int64 `json:"count"`
	Event node  `json:"event"`
}
type sampled struct {
	Rate   float64  `json:"rate"`
	Method Sampling `json:"method"`
	Event  node     `json:"event"`
}

func nodes(events []Event) []node {
	n := make([]node, len(events))
	for i, e := range events {
		n[i] = node{e}
	}
	return n
}

// raw shapes, to decode level by level with a known depth.
type rawList struct {
	Kind   string            `json:"kind"`
	Events []json.RawMessage `json:"events"`
}
type rawRepeated struct {
	Kind  string          `json:"kind"`
	Count int64           `json:"count"`
	Event json.RawMessage `json:"event"`
}
type rawSampled struct {
	Kind   string          `json:"kind"`
	Rate   float64         `json:"rate"`
	Method Sampling        `json:"method"`
	Event  json.RawMessage `json:"event"`
}

func decode(b []byte, depth int) (Event, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("events nested deeper than %d", maxDepth)
	}
	var k struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(b, &k); err != nil {
		return nil, err
	}
	e, err := decodeKind(k.Kind, b, depth)
	if err != nil {
		return nil, err
	}
	return e, e.Validate()
}

func decodeKind(kind string, b []byte, depth int) (Event, error) {
	switch kind {
	case "gaussian":
		var v struct {
			Kind string `json:"kind"`
			Gaussian
		}
		err := strict(b, &v)
		return v.Gaussian, err
	case "laplace":
		var v struct {
			Kind string `json:"kind"`
			Laplace
		}
		err := strict(b, &v)
		return v.Laplace, err
	case "discrete-gaussian":
		var v struct {
			Kind string `json:"kind"`
			DiscreteGaussian
		}
		err := strict(b, &v)
		return v.DiscreteGaussian, err
	case "discrete-laplace":
		var v struct {
			Kind string `json:"kind"`
			DiscreteLaplace
		}
		err := strict(b, &v)
		return v.DiscreteLaplace, err
	case "pure-ldp":
		var v struct {
			Kind string `json:"kind"`
			PureLDP
		}
		err := strict(b, &v)
		return v.PureLDP, err
	case "randomized-response":
		var v struct {
			Kind string `json:"kind"`
			RandomizedResponse
		}
		err := strict(b, &v)
		return v.RandomizedResponse, err
	case "exponential":
		var v struct {
			Kind string `json:"kind"`
			Exponential
		}
		err := strict(b, &v)
		return v.Exponential, err
	case "unprotected":
		var v struct {
			Kind string `json:"kind"`
			Unprotected
		}
		err := strict(b, &v)
		return v.Unprotected, err
	case "composed", "parallel":
		var v rawList
		if err := strict(b, &v); err != nil {
			return nil, err
		}
		events := make([]Event, len(v.Events))
		for i, r := range v.Events {
			e, err := decode(r, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%s: event %d: %w", kind, i, err)
			}
			events[i] = e
		}
		if kind == "parallel" {
			return Parallel{events}, nil
		}
		return Composed{events}, nil
	case "self-composed":
		var v rawRepeated
		if err := strict(b, &v); err != nil {
			return nil, err
		}
		e, err := decode(v.Event, depth+1)
		return SelfComposed{Event: e, Count: v.Count}, err
	case "sampled":
		var v rawSampled
		if err := strict(b, &v); err != nil {
			return nil, err
		}
		e, err := decode(v.Event, depth+1)
		return Sampled{Event: e, Rate: v.Rate, Method: v.Method}, err
	}
	return nil, fmt.Errorf("unknown event kind %q", kind)
}

// strict decodes one JSON value that has no other keys than v.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("data after the event")
	}
	return nil
}
