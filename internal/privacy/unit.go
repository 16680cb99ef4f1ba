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
	Sample      Unit = "sample"      // one training example, of one user
	Feature     Unit = "feature"     // the feature vector of one user
	Record      Unit = "record"      // one record, of one user, of whatever data a calculator is asked about
	Cell        Unit = "cell"        // one cell of a user's sequence, or the order of two
	Position    Unit = "position"    // the item at one position of one slate
)

// Units lists every unit, in the order in which they are named to users.
func Units() []Unit {
	return []Unit{Edge, Interaction, User, Sample, Feature, Record, Cell, Position}
}

// Validate reports a unit that is not in Units.
func (u Unit) Validate() error {
	if !slices.Contains(Units(), u) {
		return fmt.Errorf("unknown unit %q", string(u))
	}
	return nil
}

// Contains reports whether every v is part of one u, whatever the data: then what
// noise covers of a u it covers of a v, and what is shown of a v is shown of the u
// that it is part of. A user contains all that is theirs; a unit contains itself.
//
// Nothing else is sure to. An interaction changes several transitions and moves the
// cells before it; a training example has many interactions and each of them is in
// many examples; a position of a slate follows from what was clicked before.
func (u Unit) Contains(v Unit) bool { return u == v || u == User }

// Apart reports whether two units are always of different data, so that what is
// shown of one tells nothing of the other: the feature vector of a user is no part of
// what they did, which edges, interactions, cells and positions are about.
//
// No other two are known to be apart. A training example may have features in it, and
// a record anything; an edge, an interaction, a cell and a position may come from the
// same click.
func (u Unit) Apart(v Unit) bool {
	return u == Feature && v.behaviour() || v == Feature && u.behaviour()
}

// behaviour reports whether a unit is about what users did, and about nothing else.
func (u Unit) behaviour() bool {
	return u == Edge || u == Interaction || u == Cell || u == Position
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

// Steps returns how many changes under n make one change under m of the same unit; 0
// where none do. A unit that is exchanged, or blanked, is removed and the other one
// added; it is blanked and the other one put in its place.
func (n Neighbouring) Steps(m Neighbouring) int64 {
	switch {
	case n == m:
		return 1
	case m == Replace, n == AddRemove && m == ZeroOut:
		return 2
	}
	return 0
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
