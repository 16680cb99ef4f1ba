package sequence_test

import (
	"fmt"
	"log"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
)

// research opens a ledger for noise from a seed.
func research() *privacy.Ledger {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// Sequences of item ids, 0 for padding, become sequences of ids. What the release
// costs depends on what neighbours differ in: a cell, or a whole user.
func ExamplePerturb() {
	ledger := research()
	m := sequence.Mechanism{Purpose: "histories", Variant: sequence.SDPFixed, Epsilon: 8, Items: 1000, Length: 5}
	rows := []int32{
		12, 7, 930, 0, 0,
		7, 412, 55, 613, 8,
	}
	if err := sequence.Perturb(m, ledger, mechanism.Keyed(rng.Seed(1).Stream("histories")), nil, rows, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a first cell stays with probability %.3f\n", m.Keep(0))
	cell, user := ledger.Entries()[0].Event.(privacy.PureLDP), m.UserEvent().(privacy.PureLDP)
	fmt.Printf("epsilon %v of a %s, %v of a %s\n", cell.Epsilon, cell.Unit, user.Epsilon, user.Unit)
	// Output:
	// a first cell stays with probability 0.748
	// epsilon 8 of a cell, 40 of a user
}
