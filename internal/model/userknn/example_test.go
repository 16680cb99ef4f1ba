package userknn_test

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/model/userknn"
	"privrec/internal/tensor"
)

// The score by loops over a dense matrix, beside the fitted model: every user is a neighbour of every other.
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
	similarity := func(u, v int) float64 {
		both, ofU, ofV := 0.0, 0.0, 0.0
		for i := range x[u] {
			both, ofU, ofV = both+x[u][i]*x[v][i], ofU+x[u][i], ofV+x[v][i]
		}
		return both / math.Sqrt(ofU*ofV)
	}

	g, err := graph.NewBipartite(4, 4, edges)
	if err != nil {
		fmt.Println(err)
	}
	m, err := userknn.Fit(context.Background(), g, nearest.Options{Similarity: nearest.Cosine, Neighbours: 3})
	if err != nil {
		fmt.Println(err)
	}
	scores := tensor.New(1, 4)
	if err := m.Score(nil, []int32{0}, scores); err != nil {
		fmt.Println(err)
	}
	for j := range scores.Data {
		sum := 0.0
		for v := range x {
			if v != 0 {
				sum += similarity(0, v) * x[v][j]
			}
		}
		fmt.Printf("item %d: formula %.4f, model %.4f\n", j, sum, scores.Data[j])
	}
	// Output:
	// item 0: formula 0.8165, model 0.8165
	// item 1: formula 1.2247, model 1.2247
	// item 2: formula 1.2247, model 1.2247
	// item 3: formula 0.4082, model 0.4082
}
