package channel_test

import (
	"fmt"
	"log"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
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

// Noise on two matrices, each a release with a key of its own, and the check of all
// that was added.
func ExampleOpen() {
	ledger := research()
	m := channel.Gaussian{Purpose: "aggregate", Sigma: 0.5, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	channel, err := channel.Open[float32](m, ledger, rng.Seed(1).Stream("aggregate"))
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

// Clipped gradients are never longer than the bound, rounding included.
func ExampleClip() {
	v := []float64{3, 4}
	clipped, err := channel.Clip(v, 1)
	fmt.Printf("%v %.3f %v\n", clipped, v, err)
	// Output:
	// true [0.600 0.800] <nil>
}

// The coefficients of a logistic loss get noise once; what minimises the noisy
// polynomial is free.
func ExampleOpenFunctional() {
	const dim, n = 60, 80000
	sum := channel.LogisticSensitivity(dim, true)
	fmt.Println("sensitivity of the sum:", sum, "in the paper:", channel.PaperLogisticSensitivity(dim))
	m := channel.Functional{Purpose: "loss", Epsilon: 0.4, Sensitivity: sum / n, Unit: privacy.Sample, Neighbouring: privacy.Replace}
	b, err := m.Scale()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("scale of a coefficient of the mean: %.5f\n", b)
	ledger := research()
	o, err := channel.OpenFunctional[float64](m, ledger, rng.Seed(1).Stream("loss"))
	if err != nil {
		log.Fatal(err)
	}
	p := channel.NewPolynomial[float64](dim)
	if err := p.AddLogistic(1.0/n, make([]float64, dim)); err != nil {
		log.Fatal(err)
	}
	if err := o.Perturb(p, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(ledger.Entries()[0].Count, ledger.Entries()[0].Event.Kind())
	// Output:
	// sensitivity of the sum: 480.5 in the paper: 960
	// scale of a coefficient of the mean: 0.01502
	// 1 laplace
}

// The scale of Laplace noise for a budget, never rounded down, and how far it goes.
func ExampleLaplaceScale() {
	b, err := channel.LaplaceScale(0.5, 1)
	if err != nil {
		log.Fatal(err)
	}
	m := channel.Laplace{Scale: b}
	fmt.Printf("scale %g, variance %g, beyond 20 with %.1e\n", b, m.Variance(), m.Tail(20))
	_, err = channel.LaplaceScale(0, 1)
	fmt.Println(err)
	// Output:
	// scale 2, variance 8, beyond 20 with 4.5e-05
	// laplace: epsilon 0 and sensitivity 1, want positive and finite
}

// A channel goes through a checkpoint: the next process makes the same noise and
// remembers which keys were used.
func ExampleChannel_Restore() {
	g := channel.Gaussian{Purpose: "noise", Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	open := func() *channel.Channel[float32] {
		c, err := channel.Open[float32](g, research(), rng.Seed(1).Stream("noise"))
		if err != nil {
			log.Fatal(err)
		}
		return c
	}
	first := open()
	if err := first.Perturb(make([]float32, 4), 4, 1, 0, 1); err != nil {
		log.Fatal(err)
	}
	second := open()
	if err := second.Restore(first.State()); err != nil {
		log.Fatal(err)
	}
	fmt.Println(second.State().Values, "values before")
	err := second.Perturb(make([]float32, 4), 4, 1, 0, 1)
	fmt.Println(err)
	// Output:
	// 4 values before
	// noise: key [0 1] is used twice: the noise would be the same
}
