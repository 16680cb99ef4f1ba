package rp3beta_test

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/rp3beta"
	"privrec/internal/tensor"
)

// The score by loops over a dense matrix, beside the fitted model: every walk of three steps is kept.
func Example() {
	x := [][]float64{{1, 1, 0, 0}, {1, 1, 1, 0}, {0, 1, 1, 1}, {0, 0, 1, 1}} // 4 users, 4 items
	var edges []graph.Edge
	for u := range x {
		for i := range x[u] {
			if x[u][i] == 1 {
				edges = append(edges, graph.Edge{User: int32(u), Item: int32(i)})
			}
		}
	}
	ofUser, ofItem := make([]float64, 4), make([]float64, 4)
	for u := range x {
		for i := range x[u] {
			ofUser[u], ofItem[i] = ofUser[u]+x[u][i], ofItem[i]+x[u][i]
		}
	}

	g, err := graph.NewBipartite(4, 4, edges)
	if err != nil {
		fmt.Println(err)
	}
	m, err := rp3beta.Fit(context.Background(), g, rp3beta.Options{Alpha: 0.8, Beta: 0.4, Neighbours: 3})
	if err != nil {
		fmt.Println(err)
	}
	scores := tensor.New(1, 4)
	if err := m.Score(nil, []int32{0}, scores); err != nil {
		fmt.Println(err)
	}
	for j := range scores.Data {
		sum := 0.0
		for i := range x[0] {
			for v := range x {
				if i != j { // user 0, item i, user v, item j; without the first step's probability
					step2, step3 := x[v][i]/ofItem[i], x[v][j]/ofUser[v]
					sum += x[0][i] * math.Pow(step2, 0.8) * math.Pow(step3, 0.8) / math.Pow(ofItem[j], 0.4)
				}
			}
		}
		fmt.Printf("item %d: formula %.4f, model %.4f\n", j, sum, scores.Data[j])
	}
	// Output:
	// item 0: formula 0.3114, model 0.3114
	// item 1: formula 0.3663, model 0.3663
	// item 2: formula 0.3759, model 0.3759
	// item 3: formula 0.1307, model 0.1307
}
