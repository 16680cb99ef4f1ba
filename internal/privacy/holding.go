package privacy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/privacy/chain"
)

// Holding states a fact about the data that an account may rely on: one Unit holds at most Most units of kind Of, for
// example a user at most 101 cells. It is not a release.
type Holding struct {
	Unit Unit  `json:"unit"`
	Of   Unit  `json:"of"`
	Most int64 `json:"most"` // at least 1
}

// Validate returns an error for units that are unknown or equal, and for a Most below 1.
func (h Holding) Validate() error {
	if err := errors.Join(h.Unit.Validate(), h.Of.Validate()); err != nil {
		return fmt.Errorf("holding: %w", err)
	}
	switch {
	case h.Unit == h.Of:
		return fmt.Errorf("holding: %s of itself", h.Unit)
	case h.Most < 1:
		return fmt.Errorf("holding of %s by %s: most is %d, want at least 1", h.Of, h.Unit, h.Most)
	}
	return nil
}

// holdings maps a pair of units to the largest Most that was stated for it.
type holdings map[[2]Unit]int64

// raise records a valid holding and reports whether it exceeds the earlier ones.
func (m holdings) raise(h Holding) bool {
	key := [2]Unit{h.Unit, h.Of}
	if h.Most <= m[key] {
		return false
	}
	m[key] = h.Most
	return true
}

// list returns the holdings sorted by their units.
func (m holdings) list() []Holding {
	var all []Holding
	for k, most := range m {
		all = append(all, Holding{k[0], k[1], most})
	}
	slices.SortFunc(all, func(a, b Holding) int { return cmp.Or(cmp.Compare(a.Unit, b.Unit), cmp.Compare(a.Of, b.Of)) })
	return all
}

// holdingLine is the line of a holding in a ledger file.
type holdingLine struct {
	Holding Holding `json:"holding"`
}

// holdingPrefix is the beginning of the line of a holding, and of no other line.
var holdingPrefix = []byte(`{"holding":`)

func (h Holding) marshal() ([]byte, error) {
	if err := h.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(holdingLine{h})
}

// parseHolding parses the body of the line of a holding, as strictly as parseEntry.
func parseHolding(body []byte) (Holding, error) {
	var raw holdingLine
	if err := strict(body, &raw); err != nil {
		return Holding{}, err
	}
	again, err := raw.Holding.marshal()
	if err == nil {
		err = chain.Same(body, again)
	}
	if err != nil {
		return Holding{}, err
	}
	return raw.Holding, nil
}
