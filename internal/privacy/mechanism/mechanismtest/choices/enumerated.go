package choices

import (
	"math/big"

	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
)

// Enumerated makes a sampler's choices in every possible way, so the law found with it is that
// of the code that samples.
type Enumerated struct {
	C *law.Choices
	X *big.Rat // e^eps; nil: the thresholds of the sampler itself
}

// Keep chooses between keeping and replacing.
func (e Enumerated) Keep(o *mechanism.Odds) bool {
	one := big.NewRat(1, 1)
	n := new(big.Rat).SetInt(new(big.Int).SetUint64(o.Others))
	switch {
	case e.X != nil:
		return e.C.Choose(e.X, n) == 0
	case o.Flat:
		return e.C.Choose(one, n) == 0
	}
	t := mechanismtest.Threshold(o.Hi, o.Lo)
	return e.C.Choose(t, new(big.Rat).Sub(mechanismtest.Two128(), t)) == 0
}

// Below chooses one of n integers.
func (e Enumerated) Below(n uint64) uint64 { return uint64(e.C.Below(int(n))) }

// Again withdraws the last choice.
func (e Enumerated) Again() { e.C.Again() }

// Halved is a planted fault: it draws only the lower half of the integers.
type Halved struct{ D mechanism.Draws }

// Keep makes the choice without a fault.
func (f *Halved) Keep(o *mechanism.Odds) bool { return f.D.Keep(o) }

// Below draws from the lower half.
func (f *Halved) Below(n uint64) uint64 { return f.D.Below((n + 1) / 2) }

// Again does nothing.
func (f *Halved) Again() {}
