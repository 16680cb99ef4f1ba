package ease_test

import (
	"context"
	"fmt"

	"privrec/internal/graph"
	"privrec/internal/model/ease"
	"privrec/internal/tensor"
)

// inverse eliminates by Gauss and Jordan, without pivots, which a positive definite matrix does not need.
func inverse(a [][]float64) [][]float64 {
	n := len(a)
	inv := make([][]float64, n)
	for i := range inv {
		inv[i] = make([]float64, n)
		inv[i][i] = 1
	}
	for k := range n {
		for i := range n {
			pivot, factor := a[k][k], a[i][k]
			for j := range n {
				if i == k {
					a[i][j], inv[i][j] = a[i][j]/pivot, inv[i][j]/pivot
				} else {
					a[i][j], inv[i][j] = a[i][j]-factor*a[k][j]/pivot, inv[i][j]-factor*inv[k][j]/pivot
				}
			}
		}
	}
	return inv
}

// Equation 8 by loops over items, beside the fitted model. Lambda is 2.
func Example() {
	x := [][]float64{{1, 1, 0}, {0, 1, 1}, {1, 0, 0}, {1, 1, 0}} // 4 users, 3 items
	var edges []graph.Edge
	a := [][]float64{{2, 0, 0}, {0, 2, 0}, {0, 0, 2}} // lambda I, then X'X + lambda I
	for u := range x {
		for i := range x[u] {
			for j := range x[u] {
				a[i][j] += x[u][i] * x[u][j]
			}
			if x[u][i] == 1 {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	p := inverse(a)

	g, err := graph.NewBipartite(4, 3, edges)
	if err != nil {
		fmt.Println(err)
	}
	m, err := ease.Fit(context.Background(), g, 2)
	if err != nil {
		fmt.Println(err)
	}
	defer m.Close()
	scores := tensor.New(1, 3)
	if err := m.Score(nil, []int32{0}, scores); err != nil {
		fmt.Println(err)
	}
	for j := range p {
		s := 0.0 // (X B)_0j
		for i := range p {
			if i != j {
				s -= x[0][i] * p[i][j] / p[j][j]
			}
		}
		fmt.Printf("user 0, item %d: formula %.4f, model %.4f\n", j, s, scores.Data[j])
	}
	// Output:
	// user 0, item 0: formula 0.4286, model 0.4286
	// user 0, item 1: formula 0.4000, model 0.4000
	// user 0, item 2: formula 0.1429, model 0.1429
}
