package privacy

import (
	"encoding/json"
	"fmt"
	"math"
)

// Number is a float64 that may be infinite, such as an unbounded epsilon. JSON has no infinity, so it is written as the
// string "infinity".
type Number float64

// MarshalJSON writes a number or "infinity". It fails on NaN and minus infinity.
func (n Number) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(n), 1) {
		return []byte(`"infinity"`), nil
	}
	return json.Marshal(float64(n))
}

// JSONForms returns samples of both JSON forms that MarshalJSON writes.
func (Number) JSONForms() []any { return []any{0.0, "infinity"} }

// UnmarshalJSON reads both forms that MarshalJSON writes.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == `"infinity"` {
		*n = Number(math.Inf(1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// String returns the number with five significant digits, or "infinity".
func (n Number) String() string {
	if math.IsInf(float64(n), 1) {
		return "infinity"
	}
	return fmt.Sprintf("%.5g", float64(n))
}
