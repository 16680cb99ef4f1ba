package privacy

import "errors"

// Unprotected states that something about a unit is released without protection. An empty Unit means every unit.
type Unprotected struct {
	What string `json:"what"` // a short name: labels, readout
	Why  string `json:"why"`  // one sentence for a reader of the report
	Unit Unit   `json:"unit,omitempty"`
}

func (Unprotected) Kind() string { return "unprotected" }

func (Unprotected) Form() Form { return Form{Way: WithoutNoise} }

// Validate returns an error if What or Why is missing, or not UTF-8, which a file would change.
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

// AsUnprotected returns the event as an Unprotected. The bool is false for releases and for events that nest others.
func AsUnprotected(e Event) (Unprotected, bool) {
	u, ok := e.(Unprotected)
	return u, ok
}

func (Unprotected) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		Unprotected
	}
	err := strict(b, &v)
	return v.Unprotected, err
}
