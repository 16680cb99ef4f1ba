package mechanism_test

import (
	"fmt"
	"log"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

func secure() *privacy.Ledger {
	l, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// Noise on two matrices, each a release with a key of its own, and the check of all
// that was added.
func ExampleOpen() {
	ledger := research()
	m := mechanism.Gaussian{Purpose: "aggregate", Sigma: 0.5, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	channel, err := mechanism.Open[float32](m, ledger, rng.Seed(1).Stream("aggregate"))
	if err != nil {
		log.Fatal(err)
	}
	const cols = 4
	for step := range uint64(2) {
		sums := make([]float32, 3*cols) // sums of vectors of norm at most 1
		if err := channel.Perturb(sums, cols, 1, 0, step); err != nil {
			log.Fatal(err)
		}
	}
	// The same noise a second time would show a difference in the clear.
	fmt.Println(channel.Perturb(make([]float32, cols), cols, 1, 0, 1))
	for _, e := range ledger.Entries() {
		fmt.Println(e.Purpose, e.Count, e.Event.(privacy.Gaussian).Sigma)
	}
	// Output:
	// aggregate: key [0 1] is used twice: the noise would be the same
	// aggregate 2 0.5
}

// Every user sends one of four categories. The estimate of how many sent each needs
// no more than the two probabilities of the mechanism.
func ExamplePerturbResponses() {
	ledger := research()
	m := mechanism.Response{Purpose: "age group", Epsilon: 2, Categories: 4, Unit: privacy.User}
	const users = 100_000
	answers := make([]int, users)
	for i := range answers {
		answers[i] = i % 10 / 4 // 40%, 40%, 20%, nobody
	}
	if err := mechanism.PerturbResponses(m, ledger, mechanism.Keyed(rng.Seed(1).Stream("ages")), answers); err != nil {
		log.Fatal(err)
	}
	counts := make([]float64, 4)
	for _, a := range answers {
		counts[a]++
	}
	fmt.Printf("the truth with probability %.3f, any other with %.3f\n", m.Keep(), m.Other())
	for _, c := range counts {
		fmt.Printf("%.2f ", math.Abs((c/users-m.Other())/(m.Keep()-m.Other())))
	}
	fmt.Println()
	// Output:
	// the truth with probability 0.711, any other with 0.096
	// 0.40 0.40 0.20 0.00
}

// Counts that are published: cryptographic bits, an exact sampler, and outputs whose
// digits tell nothing. There is no seed, so that what comes out differs every time.
func ExampleOpenSecureGaussian() {
	m := mechanism.DiscreteGaussian{Purpose: "counts", Sigma: 20, Sensitivity: 1, Dimension: 1, Bound: 1 << 20,
		Grid: 1, Whole: true, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	if _, err := mechanism.OpenSecureGaussian[float64](m, research()); err != nil {
		fmt.Println(err)
	}
	ledger := secure()
	channel, err := mechanism.OpenSecureGaussian[float64](m, ledger)
	if err != nil {
		log.Fatal(err)
	}
	counts := []float64{812, 90, 7, 1}
	if err := channel.Perturb(counts, len(counts), 1); err != nil {
		log.Fatal(err)
	}
	for _, c := range counts {
		if c != math.Trunc(c) {
			fmt.Println(c, "is no whole number")
		}
	}
	e := ledger.Entries()[0].Event.(privacy.DiscreteGaussian)
	fmt.Printf("%s: sigma %v and sensitivity %v steps\n", ledger.Noise(), e.Sigma, e.Sensitivity)
	// Output:
	// counts: this sampler gives noise marked "secure" and the ledger promises "research noise"
	// secure: sigma 20 and sensitivity 1 steps
}

// Sequences of item ids, 0 for padding, become sequences of ids. What the release
// costs depends on what neighbours differ in: a cell, or a whole user.
func ExamplePerturbSequences() {
	ledger := research()
	m := mechanism.Sequence{Purpose: "histories", Variant: mechanism.SDPFixed, Epsilon: 8, Items: 1000, Length: 5}
	rows := []int32{
		12, 7, 930, 0, 0,
		7, 412, 55, 613, 8,
	}
	if err := mechanism.PerturbSequences(m, ledger, mechanism.Keyed(rng.Seed(1).Stream("histories")), nil, rows, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("a first cell stays with probability %.3f\n", m.Keep(0))
	cell, user := ledger.Entries()[0].Event.(privacy.PureLDP), m.UserEvent().(privacy.PureLDP)
	fmt.Printf("epsilon %v of a %s, %v of a %s\n", cell.Epsilon, cell.Unit, user.Epsilon, user.Unit)
	// Output:
	// a first cell stays with probability 0.748
	// epsilon 8 of a cell, 40 of a user
}
