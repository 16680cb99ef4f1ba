package ials_test

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/ials"
	"privrec/internal/model/modeltest"
	"privrec/internal/rng"
)

// eliminate solves a x = b by Gauss, without pivots, which a positive definite matrix does not need.
func eliminate(a [][]float64, b []float64) []float64 {
	for k := range a {
		for i := range a {
			if factor := a[i][k] / a[k][k]; i != k {
				for j := range a {
					a[i][j] -= factor * a[k][j]
				}
				b[i] -= factor * b[k]
			}
		}
	}
	for k := range a {
		b[k] /= a[k][k]
	}
	return b
}

// The normal equations of a user by loops over all items, beside the fitted model. alpha0 is 0.5, lambda 0.1, nu 1.
func Example() {
	x := [][]float64{{1, 1, 0}, {0, 1, 1}, {1, 0, 0}, {1, 1, 0}} // 4 users, 3 items
	const d, alpha0, lambda, nu = 2, 0.5, 0.1, 1.0
	var edges []graph.Edge
	for u := range x {
		for i := range x[u] {
			if x[u][i] == 1 {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	g, err := graph.NewBipartite(4, 3, edges)
	if err != nil {
		fmt.Println(err)
	}
	m, err := ials.Fit(context.Background(), g, ials.Options{Dim: d, Rounds: 3, Unobserved: alpha0, Lambda: lambda, Exponent: nu, Std: 0.1}, rng.Seed(1).Stream("example"))
	if err != nil {
		fmt.Println(err)
	}
	defer m.Close()
	w, h := modeltest.Rows(m.Users), modeltest.Rows(m.Items)
	for u := range x {
		a, b := [][]float64{{0, 0}, {0, 0}}, []float64{0, 0}
		has := 0.0 // |S_u|
		for i := range h {
			has += x[u][i]
			for k := range d {
				for l := range d {
					a[k][l] += (x[u][i] + alpha0) * h[i][k] * h[i][l]
				}
				b[k] += x[u][i] * h[i][k]
			}
		}
		for k := range d {
			a[k][k] += lambda * math.Pow(has+alpha0*float64(len(h)), nu)
		}
		plain := eliminate(a, b) // w_u
		fmt.Printf("user %d, item 0: formula %.4f, model %.4f\n", u, modeltest.Dot(plain, h[0]), modeltest.Dot(w[u], h[0]))
	}
	// Output:
	// user 0, item 0: formula 0.5607, model 0.5607
	// user 1, item 0: formula 0.1148, model 0.1148
	// user 2, item 0: formula 0.4821, model 0.4821
	// user 3, item 0: formula 0.5607, model 0.5607
}
