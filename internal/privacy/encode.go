package privacy

import (
	"encoding/json"
	"fmt"

	"privrec/internal/privacy/chain"
)

// maxDepth bounds nesting, so that a hostile ledger cannot exhaust the stack.
const maxDepth = 16

// maxEvent bounds the JSON text of an event, in bytes, so that an entry with it and its labels fits one line of a
// ledger.
const maxEvent = chain.MaxLine - 1<<14

// node marshals an event inside a JSON document as an object whose first key is kind.
type node struct{ Event }

// MarshalEvent returns the canonical JSON of an event: equal events have equal bytes. It fails if
// the event is not valid, or too long or too deeply nested for UnmarshalEvent.
func MarshalEvent(e Event) ([]byte, error) {
	if err := validate(e); err != nil {
		return nil, err
	}
	if levels(e) > maxDepth {
		return nil, fmt.Errorf("events nested deeper than %d", maxDepth)
	}
	b, err := node{e}.MarshalJSON()
	if err == nil && len(b) > maxEvent {
		return nil, fmt.Errorf("%s: a text of %d bytes, want at most %d", e.Kind(), len(b), maxEvent)
	}
	return b, err
}

// levels returns the nesting depth of an event: 0 if it nests no other.
func levels(e Event) int {
	deepest := 0
	for _, inner := range nested(e) {
		deepest = max(deepest, 1+levels(inner))
	}
	return deepest
}

// UnmarshalEvent parses what MarshalEvent wrote. It fails on unknown kinds, unknown or missing
// fields and values out of range.
func UnmarshalEvent(b []byte) (Event, error) { return decode(b, 0) }

// MarshalJSON writes the event as an object whose first key is kind.
func (n node) MarshalJSON() ([]byte, error) {
	body := any(n.Event)
	if c, ok := n.Event.(compound); ok {
		body = c.body()
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"kind":"`+n.Kind()+`",`), b[1:]...), nil
}

func nodes(events []Event) []node {
	n := make([]node, len(events))
	for i, e := range events {
		n[i] = node{e}
	}
	return n
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
	for _, k := range kinds {
		if k.Kind() == kind {
			return k.read(b, depth)
		}
	}
	return nil, fmt.Errorf("unknown event kind %q", kind)
}

// decodeAll decodes the nested events of an event.
func decodeAll(kind string, raw []json.RawMessage, depth int) ([]Event, error) {
	events := make([]Event, len(raw))
	for i, r := range raw {
		e, err := decode(r, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: event %d: %w", kind, i, err)
		}
		events[i] = e
	}
	return events, nil
}

// strict decodes one JSON value into v. It fails on unknown keys, repeated keys and keys in another spelling.
func strict(b []byte, v any) error { return chain.Strict(b, v) }
