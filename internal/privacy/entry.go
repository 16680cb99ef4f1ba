package privacy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy/chain"
)

// Noise names the quality of a run's random numbers.
type Noise string

const (
	// Research noise is seeded floating-point noise. Its finite support can reveal the input to an observer, so a
	// guarantee holds on paper only.
	Research Noise = "research noise"
	// Secure noise comes from a cryptographic source, on a grid that does not depend on the data.
	Secure Noise = "secure"
)

// Validate returns an error for a value that is not one of the constants.
func (n Noise) Validate() error {
	if n != Research && n != Secure {
		return fmt.Errorf("unknown noise %q", string(n))
	}
	return nil
}

// Entry is one line of a ledger: Count releases of Event in one period.
type Entry struct {
	Period  string // epoch 3, evaluation 1; UTF-8, at most 1024 bytes, like Purpose
	Purpose string // what the release is for: aggregate
	Count   int64  // releases
	// PerUnit bounds how many of the Count releases one unit takes part in; 0 if no bound is known, and all of them
	// count. See Charged.
	PerUnit int64
	Event   Event
}

// Charged returns how many compositions of Event one unit is charged for. Under an exchange, the old unit leaves
// PerUnit releases and the new one may enter as many others, so it is twice PerUnit, at most Count.
func (e Entry) Charged() int64 {
	n := e.PerUnit
	switch {
	case n == 0:
		return e.Count
	case exchanges(e.Event):
		n = min(n, math.MaxInt64/2) * 2
	}
	return min(e.Count, n)
}

// exchanges reports whether an event contains a release under the Replace relation. Local randomisers do not count:
// their unit stays, and only its value is exchanged.
func exchanges(e Event) bool {
	if s, ok := About(e); ok {
		return s.Neighbouring == Replace && !Local(e)
	}
	return slices.ContainsFunc(nested(e), exchanges)
}

func (e Entry) validate() error {
	switch {
	case e.Purpose == "":
		return errors.New("no purpose")
	case e.Count < 1:
		return fmt.Errorf("count is %d, want at least 1", e.Count)
	case e.PerUnit < 0:
		return fmt.Errorf("per_unit is %d, want at least 0", e.PerUnit)
	}
	return errors.Join(label("period", e.Period), label("purpose", e.Purpose), validate(e.Event))
}

// entryLine is the line of an entry in a ledger file.
type entryLine struct {
	Period  string `json:"period"`
	Purpose string `json:"purpose"`
	Count   int64  `json:"count"`
	PerUnit int64  `json:"per_unit,omitempty"`
	Event   node   `json:"event"`
}

func (e Entry) marshal() ([]byte, error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	return json.Marshal(entryLine{e.Period, e.Purpose, e.Count, e.PerUnit, node{e.Event}})
}

// parseEntry parses the body of the line of an entry. It accepts only bytes that marshal would write.
func parseEntry(body []byte) (Entry, error) {
	var raw struct {
		Period  string          `json:"period"`
		Purpose string          `json:"purpose"`
		Count   int64           `json:"count"`
		PerUnit int64           `json:"per_unit"`
		Event   json.RawMessage `json:"event"`
	}
	if err := strict(body, &raw); err != nil {
		return Entry{}, err
	}
	if raw.Event == nil {
		return Entry{}, errors.New("no event")
	}
	ev, err := UnmarshalEvent(raw.Event)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{raw.Period, raw.Purpose, raw.Count, raw.PerUnit, ev}
	again, err := e.marshal()
	if err == nil {
		err = chain.Same(body, again)
	}
	if err != nil {
		return Entry{}, err
	}
	return e, nil
}
