package itemknn_test

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/itemknn"
	"privrec/internal/model/nearest"
	"privrec/internal/tensor"
)

// The score by loops over a dense matrix, beside the fitted model: every item is a neighbour of every other,
// weights are normalised.
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
	similarity := func(j, i int) float64 {
		both, ofJ, ofI := 0.0, 0.0, 0.0
		for u := range x {
			both, ofJ, ofI = both+x[u][j]*x[u][i], ofJ+x[u][j], ofI+x[u][i]
		}
		return both / math.Sqrt(ofJ*ofI)
	}

	g, err := graph.NewBipartite(4, 4, edges)
	if err != nil {
		fmt.Println(err)
	}
	m, err := itemknn.Fit(context.Background(), g, itemknn.Options{Options: nearest.Options{Similarity: nearest.Cosine, Neighbours: 3, Normalise: true}})
	if err != nil {
		fmt.Println(err)
	}
	scores := tensor.New(1, 4)
	if err := m.Score(nil, []int32{0}, scores); err != nil {
		fmt.Println(err)
	}
	for j := range scores.Data {
		sum, weights := 0.0, 0.0
		for i := range x[0] {
			if i != j {
				sum += similarity(j, i) * x[0][i]
				weights += similarity(j, i)
			}
		}
		fmt.Printf("user 0, item %d: formula %.4f, model %.4f\n", j, sum/weights, scores.Data[j])
	}
	// Output:
	// user 0, item 0: formula 0.6667, model 0.6667
	// user 0, item 1: formula 0.4317, model 0.4317
	// user 0, item 2: formula 0.5683, model 0.5683
	// user 0, item 3: formula 0.3333, model 0.3333
}
