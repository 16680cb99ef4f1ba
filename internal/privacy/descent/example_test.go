package descent_test

import (
	"fmt"
	"log"

	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/rng"
)

// A step of DP-SGD draws its own batch, so that the sampler on record is the one
// that was used.
func ExampleOpen() {
	ledger, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		log.Fatal(err)
	}
	m := descent.DPSGD{Purpose: "gradient", Clip: 1, NoiseMultiplier: 1.1, Examples: 60000,
		Sampling: privacy.Poisson, Rate: 256.0 / 60000, Unit: privacy.Sample}
	steps, err := descent.Open[float32](m, 2, ledger, rng.Seed(1).Stream("sgd"))
	if err != nil {
		log.Fatal(err)
	}
	mean := make([]float32, 2)
	for step := range uint64(3) {
		batch, err := steps.Begin(0, step)
		if err != nil {
			log.Fatal(err)
		}
		for k := range batch {
			if err := steps.Add(k, []float32{3, 4}); err != nil { // the gradient of example batch[k]
				log.Fatal(err)
			}
		}
		if err := steps.Finish(mean); err != nil {
			log.Fatal(err)
		}
	}
	if err := steps.Check(); err != nil {
		log.Fatal(err)
	}
	e := ledger.Entries()[0]
	s := e.Event.(privacy.Sampled)
	fmt.Println(e.Count, s.Method, s.Event.(privacy.Gaussian).Neighbouring)
	// Output:
	// 3 poisson add-remove
}
