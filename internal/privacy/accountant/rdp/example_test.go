package rdp_test

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/rdp"
)

// The guarantee of a training run: batches of 256 of 60000 examples drawn by
// Poisson sampling, clipped gradients, noise 1.1 times the clipping norm, 60
// epochs.
func Example() {
	step, err := rdp.SampledGaussian(256.0/60000, 1.1)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := rdp.Epsilon(context.Background(), rdp.Times(step, 14062), 1e-5, rdp.Options{})
	fmt.Printf("epsilon %.4f at order %.2f, %v\n", p.Epsilon, p.Order, err)
	// Output: epsilon 2.5965 at order 8.12, <nil>
}

// The noise for a target, and proof that it is enough.
func ExampleCalibrateSampledGaussian() {
	target := privacy.Budget{Epsilon: 1, Delta: 1e-5}
	noise, err := rdp.CalibrateSampledGaussian(context.Background(), 256.0/60000, 14062, target, rdp.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	step, err := rdp.SampledGaussian(256.0/60000, noise)
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := rdp.Epsilon(context.Background(), rdp.Times(step, 14062), 1e-5, rdp.Options{})
	fmt.Printf("noise multiplier %.4f, within the target: %v, %v\n", noise, p.Epsilon <= 1, err)
	// Output: noise multiplier 2.1780, within the target: true, <nil>
}

// The bound of the RDP-GCF paper has a floor that no noise removes.
func ExampleWithoutReplacement() {
	noise, err := rdp.Gaussian(1e6, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, capped := range []bool{false, true} {
		c, err := rdp.WithoutReplacement{Rate: 1024.0 / 810128, Base: noise, EpsInf: math.Inf(1), Variant: rdp.Printed, Capped: capped}.Curve()
		if err != nil {
			fmt.Println(err)
			return
		}
		p, err := rdp.Epsilon(context.Background(), rdp.Times(c, 3*237343), 1e-5, rdp.Options{Conversion: rdp.Classic})
		fmt.Printf("capped %v: epsilon %.3f, %v\n", capped, p.Epsilon, err)
	}
	// Output:
	// capped false: epsilon 0.755, <nil>
	// capped true: epsilon 0.004, <nil>
}
