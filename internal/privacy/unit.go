package privacy

import (
	"fmt"
	"slices"
)

// Unit names the piece of data in which neighbouring data sets differ.
type Unit string

const (
	Edge        Unit = "edge"        // one of the transitions that an edge counts
	Interaction Unit = "interaction" // one user and one item, once
	User        Unit = "user"        // everything about one user
	Sample      Unit = "sample"      // one training example, of one user
	Feature     Unit = "feature"     // the feature vector of one user
	Record      Unit = "record"      // one record of one user, of any data that a calculator is asked about
	Cell        Unit = "cell"        // one cell of a user's sequence, or the order of two
	Position    Unit = "position"    // the item at one position of one slate
)

// Units returns every unit, in the order in which they are named to users.
func Units() []Unit {
	return []Unit{Edge, Interaction, User, Sample, Feature, Record, Cell, Position}
}

// Validate returns an error for a unit that is not in Units.
func (u Unit) Validate() error {
	if !slices.Contains(Units(), u) {
		return fmt.Errorf("unknown unit %q", string(u))
	}
	return nil
}

// Contains reports whether in every data set each v is part of one u. Then noise that protects a u protects its v, and
// showing a v shows something about its u. A user contains all of their data, and a unit contains itself.
//
// No other unit always contains another. An interaction changes several transitions and moves the cells before it. A
// training example has many interactions, and each of these is in many examples. A position of a slate depends on
// earlier clicks.
func (u Unit) Contains(v Unit) bool { return u == v || u == User }

// Apart reports whether two units always hold different data, so that showing one tells nothing about the other. The
// feature vector of a user is apart from what the user did: edges, interactions, cells and positions.
//
// No other two units are known to be apart. A training example may contain features, and a record anything. An edge, an
// interaction, a cell and a position may come from the same click.
func (u Unit) Apart(v Unit) bool {
	return u == Feature && v.behaviour() || v == Feature && u.behaviour()
}

// behaviour reports whether a unit holds nothing but what users did.
func (u Unit) behaviour() bool {
	return u == Edge || u == Interaction || u == Cell || u == Position
}

// Neighbouring names the relation between two data sets that must look alike.
type Neighbouring string

const (
	AddRemove Neighbouring = "add-remove" // one unit more or less
	Replace   Neighbouring = "replace"    // one unit exchanged for another
	ZeroOut   Neighbouring = "zero-out"   // one unit exchanged for an empty one
)

// Validate returns an error for a relation that is not one of the constants.
func (n Neighbouring) Validate() error {
	if n != AddRemove && n != Replace && n != ZeroOut {
		return fmt.Errorf("unknown neighbouring relation %q", string(n))
	}
	return nil
}

// Steps returns how many changes under n make one change under m of the same unit; 0 if none do. Exchanging or blanking
// a unit takes two changes under AddRemove: remove it, add another. Exchanging it takes two under ZeroOut: blank it,
// put another in its place.
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

// Validate returns an error for an epsilon that is not positive and finite or a delta outside [0, 1).
func (b Budget) Validate() error {
	if err := positive("epsilon", b.Epsilon); err != nil {
		return err
	}
	if !(b.Delta >= 0 && b.Delta < 1) {
		return fmt.Errorf("delta is %v, want at least 0 and below 1", b.Delta)
	}
	return nil
}
