package privacy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds nesting, so that a hostile ledger cannot exhaust the stack.
const maxDepth = 16

// maxEvent bounds the text of an event, in bytes: with the names of an entry it
// fits a line of a ledger file.
const maxEvent = maxLine - 1<<14

// node is an event inside a JSON document: an object whose first key is kind.
type node struct{ Event }

// MarshalEvent returns the canonical JSON of an event: equal events have equal
// bytes. It fails when the event is not valid, and when UnmarshalEvent would not
// read it back, being nested too deep or too long.
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

// levels is how deep an event nests: 0 for one without parts.
func levels(e Event) int {
	deepest := 0
	for _, part := range parts(e) {
		deepest = max(deepest, 1+levels(part))
	}
	return deepest
}

// UnmarshalEvent parses what MarshalEvent wrote: unknown kinds, unknown or
// missing fields and values out of range are errors.
func UnmarshalEvent(b []byte) (Event, error) { return decode(b, 0) }

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

// decodeAll decodes the parts of an event.
func decodeAll(kind string, parts []json.RawMessage, depth int) ([]Event, error) {
	events := make([]Event, len(parts))
	for i, r := range parts {
		e, err := decode(r, depth+1)
		if err != nil {
			return nil, fmt.Errorf("%s: event %d: %w", kind, i, err)
		}
		events[i] = e
	}
	return events, nil
}

// strict decodes one JSON value that has no other keys than v, each once and
// spelt as in v.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("data after the event")
	}
	return plainKeys(b)
}

// plainKeys reports a key of an object that comes twice, of which the decoder
// would take the last, or that is not in lower case, which it would take too.
func plainKeys(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		k := fmt.Sprint(key)
		if seen[k] {
			return fmt.Errorf("key %q comes twice", k)
		}
		if strings.ContainsFunc(k, func(r rune) bool { return r != '_' && (r < 'a' || r > 'z') }) {
			return fmt.Errorf("unknown key %q", k)
		}
		seen[k] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
	}
	return nil
}
