package secure_test

import (
	"fmt"
	"log"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/secure"
	"privrec/internal/rng"
)

// secret opens a ledger for noise from cryptographic bits.
func secret() *privacy.Ledger {
	l, err := privacy.NewLedger(privacy.Secure)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// research opens a ledger for noise from a seed.
func research() *privacy.Ledger {
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		log.Fatal(err)
	}
	return l
}

// Counts that are published: cryptographic bits, an exact sampler, and outputs whose
// digits tell nothing. There is no seed, so that what comes out differs every time.
func ExampleOpenGaussian() {
	m := secure.DiscreteGaussian{Purpose: "counts", Sigma: 20, Sensitivity: 1, Dimension: 1, Bound: 1 << 20,
		Grid: 1, Whole: true, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	if _, err := secure.OpenGaussian[float64](m, research()); err != nil {
		fmt.Println(err)
	}
	ledger := secret()
	channel, err := secure.OpenGaussian[float64](m, ledger)
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
	// counts: this sampler draws "secure", but the ledger promises "research noise"
	// secure: sigma 20 and sensitivity 1 steps
}

// The same law by a formula and by exact draws: no floating point is in the sampler.
func ExampleGaussianSampler() {
	sigma, err := secure.RatioOf(2.5)
	if err != nil {
		log.Fatal(err)
	}
	sampler, err := secure.NewGaussianSampler(sigma)
	if err != nil {
		log.Fatal(err)
	}
	bits := rng.Seed(1).Stream("bits")
	zeros := 0
	for range 20000 {
		if sampler.Sample(&bits) == 0 {
			zeros++
		}
	}
	law := secure.DiscreteGaussianLaw{Sigma: 2.5}
	off := math.Abs(float64(zeros)/20000-law.PMF(0)) / math.Sqrt(law.PMF(0)/20000)
	fmt.Printf("sigma %s, 0 with probability %.4f, seen as often within 4 standard errors: %v\n", sigma, law.PMF(0), off < 4)
	// Output:
	// sigma 5/2, 0 with probability 0.1596, seen as often within 4 standard errors: true
}

// exp(-x) without computing it: sums of budgets are products of coins.
func ExampleBernoulliExp() {
	bits := rng.Seed(1).Stream("coin")
	yes := 0
	for range 20000 {
		b, err := secure.BernoulliExp(&bits, secure.Ratio{Num: 1, Den: 2})
		if err != nil {
			log.Fatal(err)
		}
		if b {
			yes++
		}
	}
	off := math.Abs(float64(yes)/20000-math.Exp(-0.5)) / math.Sqrt(0.25/20000)
	fmt.Println("within 4 standard errors:", off < 4)
	// Output: within 4 standard errors: true
}
