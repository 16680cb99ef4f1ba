package privacy

import (
	"encoding/json"
	"errors"
	"fmt"

	"privrec/internal/privacy/chain"
)

// Assumption states what a guarantee takes as public, such as which users there are. It is not a
// release, and no epsilon covers it.
type Assumption struct {
	What string `json:"what"`
	Why  string `json:"why,omitempty"` // why it is public, or what that leaves out
}

// String returns the assumption as one phrase.
func (a Assumption) String() string {
	if a.Why == "" {
		return a.What
	}
	return a.What + ": " + a.Why
}

// Validate returns an error for an assumption that names nothing, or is not UTF-8.
func (a Assumption) Validate() error {
	if a.What == "" {
		return errors.New("assumption: it names nothing")
	}
	if err := errors.Join(text("what", a.What), text("why", a.Why)); err != nil {
		return fmt.Errorf("assumption: %w", err)
	}
	return nil
}

// assumptionLine is the line of an assumption in a ledger file.
type assumptionLine struct {
	Assumption Assumption `json:"assumption"`
}

// assumptionPrefix is the beginning of the line of an assumption, and of no other line.
var assumptionPrefix = []byte(`{"assumption":`)

func (a Assumption) marshal() ([]byte, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(assumptionLine{a})
}

// parseAssumption parses the body of the line of an assumption, as strictly as parseEntry.
func parseAssumption(body []byte) (Assumption, error) {
	var raw assumptionLine
	if err := strict(body, &raw); err != nil {
		return Assumption{}, err
	}
	again, err := raw.Assumption.marshal()
	if err == nil {
		err = chain.Same(body, again)
	}
	if err != nil {
		return Assumption{}, err
	}
	return raw.Assumption, nil
}
