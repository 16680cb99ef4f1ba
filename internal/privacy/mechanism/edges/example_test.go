package edges_test

import (
	"fmt"
	"log"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/edges"
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

// threeUsers is a matrix of three users and four items.
func threeUsers() edges.Adjacency {
	return edges.Adjacency{Rows: 3, Cols: 4, Ptr: []int64{0, 2, 3, 5}, Idx: []int32{0, 2, 1, 0, 3}}
}

// An adjacency matrix is perturbed once, before training: what is trained on it
// costs nothing more.
func ExamplePerturbEdgeRand() {
	ledger := research()
	m := edges.EdgeRand{Purpose: "graph", Epsilon: 6, Unit: privacy.Interaction}
	noisy, err := edges.PerturbEdgeRand(m, ledger, rng.Seed(1).Stream("graph"), threeUsers())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(noisy.Rows, noisy.Cols, noisy.Validate())
	fmt.Printf("each cell changes with probability %.4f\n", m.Flip())
	ones, trueShare := m.Expected(29858*40981, 810128)
	fmt.Printf("a graph of 810128 edges becomes one of %.0f, of which %.1f%% are true\n", ones, 100*trueShare)
	fmt.Println(ledger.Entries()[0].Event.Kind())
	// Output:
	// 3 4 <nil>
	// each cell changes with probability 0.0025
	// a graph of 810128 edges becomes one of 3831650, of which 21.1% are true
	// randomized-response
}

// LapGraph releases the number of edges first, then that many cells: two entries.
func ExamplePerturbLapGraph() {
	ledger := research()
	m := edges.LapGraph{Purpose: "graph", Epsilon: 2, CountShare: 0.25, Unit: privacy.Edge}
	if _, err := edges.PerturbLapGraph(m, ledger, rng.Seed(1).Stream("graph"), threeUsers()); err != nil {
		log.Fatal(err)
	}
	for _, e := range ledger.Entries() {
		fmt.Printf("%s: scale %.3f\n", e.Purpose, e.Event.(privacy.Laplace).Scale)
	}
	// Output:
	// graph: scale 0.667
	// graph: scale 2.000
}
