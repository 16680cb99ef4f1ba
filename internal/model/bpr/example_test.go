package bpr_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/bpr"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
)

// BPR-OPT of section 4.1, negated and averaged: a loop over triples beside the fused loss.
// Pair k scores item k above item 3+k.
func Example() {
	const lambda = 0.1
	users, items := nn.NewParam("u", 3, 4, nn.Uniform(1, 1)), nn.NewParam("i", 6, 4, nn.Uniform(1, 1))

	plain := 0.0
	u, z := modeltest.Rows(users.Value), modeltest.Rows(items.Value)
	for k := range u {
		x := modeltest.Dot(u[k], z[k]) - modeltest.Dot(u[k], z[3+k]) // x_u,i - x_u,j
		plain -= math.Log(modeltest.Sigmoid(x)) / 3
		for _, row := range [][]float64{u[k], z[k], z[3+k]} {
			plain += lambda / 2 * modeltest.Dot(row, row) / 3
		}
	}

	t := autograd.NewTape()
	loss := bpr.Loss(t.Use(users), t.Use(items), 1, 3).Add(bpr.Penalty(lambda, 3, t.Use(users), t.Use(items)))
	fmt.Printf("formula %.4f, model %.4f\n", plain, loss.Scalar())
	// Output:
	// formula 1.0663, model 1.0663
}
