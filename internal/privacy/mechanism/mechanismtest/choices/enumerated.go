package choices

import (
	"math/big"

	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// Enumerated makes a sampler's choices in every possible way, so the law found with it is that of the sampling code
// itself.
type Enumerated struct {
	C *law.Choices
	X *big.Rat // e^eps; nil: the thresholds of the sampler itself
}

// Keep chooses between keeping and replacing.
func (e Enumerated) Keep(o *mechanism.Odds) bool {
	one := big.NewRat(1, 1)
	n := new(big.Rat).SetInt(new(big.Int).SetUint64(o.Others))
	switch {
	case o.Hi == 1<<63 && o.Lo == 0 && o.Others == 1 && !o.Flat: // a fair coin, whatever eps is
		return e.C.Below(2) == 0
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

// Again rejects the last choice.
func (e Enumerated) Again() { e.C.Again() }

// Halved is a planted fault: it draws only the lower half of the integers.
type Halved struct{ D mechanism.Draws }

// Keep makes the choice without a fault.
func (f *Halved) Keep(o *mechanism.Odds) bool { return f.D.Keep(o) }

// Below draws from the lower half.
func (f *Halved) Below(n uint64) uint64 { return f.D.Below((n + 1) / 2) }

// Again does nothing.
func (f *Halved) Again() {}

// Chosen returns the cells below a limit that a field chooses, block by block.
func Chosen(p float64, s rng.Stream, limit int64) map[int64]bool {
	f, set := mechanism.NewField(p), map[int64]bool{}
	for b := int64(0); b*f.Size < limit; b++ {
		for _, place := range f.Draw(f, s.Sub(uint64(b)), nil) {
			if c := b*f.Size + int64(place); c < limit {
				set[c] = true
			}
		}
	}
	return set
}
