package accountant

import (
	"fmt"
	"slices"
)

// Method is a way to compute a guarantee.
type Method string

const (
	// Analytic is the closed curve of composed Gaussians, see Exact.
	Analytic Method = "analytic"
	// Contour, named "exact", is the exact value by contour integration (package exact). It is
	// checked against a certified bracket and the Rényi bound.
	Contour Method = "exact"
	// RDP is the bound of Rényi differential privacy (package rdp).
	RDP Method = "rdp"
	// PLD is the certified bracket of discretised privacy losses (package pld).
	PLD Method = "pld"
)

// Methods lists the methods, best known first.
func Methods() []Method { return []Method{Analytic, Contour, RDP, PLD} }

// Validate reports a method that is not one of the constants.
func (m Method) Validate() error {
	if !slices.Contains(Methods(), m) {
		return fmt.Errorf("unknown accountant %q, want one of %v", string(m), Methods())
	}
	return nil
}
