package privacy

import (
	"fmt"
	"math"
	"slices"
)

// Unit is what one difference between neighbouring data sets consists of.
type Unit string

const (
	Edge        Unit = "edge"        // one unit of one transition count
	Interaction Unit = "interaction" // one (user, item) event
	User        Unit = "user"        // everything of one user
	Sample      Unit = "sample"      // one training example
	Feature     Unit = "feature"     // the feature vector of one user
	Record      Unit = "record"      // one record of whatever data a calculator is asked about
	Cell        Unit = "cell"        // one cell of a user's sequence, or the order of two
	Position    Unit = "position"    // the item at one position of one slate
)

// Validate reports a unit that is not one of the constants.
func (u Unit) Validate() error {
	if !slices.Contains([]Unit{Edge, Interaction, User, Sample, Feature, Record, Cell, Position}, u) {
		return fmt.Errorf("unknown unit %q", string(u))
	}
	return nil
}

// Neighbouring is the relation between two data sets that must look alike.
type Neighbouring string

const (
	AddRemove Neighbouring = "add-remove" // one unit more or less
	Replace   Neighbouring = "replace"    // one unit exchanged for another
	ZeroOut   Neighbouring = "zero-out"   // one unit exchanged for an empty one
)

// Validate reports a relation that is not one of the constants.
func (n Neighbouring) Validate() error {
	if n != AddRemove && n != Replace && n != ZeroOut {
		return fmt.Errorf("unknown neighbouring relation %q", string(n))
	}
	return nil
}

// Budget is a guarantee (epsilon, delta) that was asked for.
type Budget struct {
	Epsilon float64 `json:"epsilon"` // > 0
	Delta   float64 `json:"delta"`   // in [0, 1); 0 is pure
}

// Validate reports an epsilon that is not positive and finite or a delta
// outside [0, 1).
func (b Budget) Validate() error {
	if err := positive("epsilon", b.Epsilon); err != nil {
		return err
	}
	if !(b.Delta >= 0 && b.Delta < 1) {
		return fmt.Errorf("delta is %v, want at least 0 and below 1", b.Delta)
	}
	return nil
}

// positive reports v unless it is positive and finite.
func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %v, want positive and finite", name, v)
	}
	return nil
}
