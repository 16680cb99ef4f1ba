package mechanism_test

import (
	"errors"
	"fmt"
	"log"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
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

// Noise that is not what the ledger says ends a run for good: here values so large
// that rounding leaves nothing of it.
func ExampleCheckError() {
	g := channel.Gaussian{Purpose: "noise", Sigma: 1, Sensitivity: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}
	c, err := channel.Open[float32](g, research(), rng.Seed(1).Stream("noise"))
	if err != nil {
		log.Fatal(err)
	}
	huge := make([]float32, 1000)
	for i := range huge {
		huge[i] = 1e12
	}
	var failed *mechanism.CheckError
	if errors.As(c.Perturb(huge, 1000, 1), &failed) {
		fmt.Println(failed.Purpose, failed.What, failed.Got, failed.Final())
	}
	// Output: noise number of unchanged values 1000 true
}
