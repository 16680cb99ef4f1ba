package bench

import (
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/tensor"
)

// Weights and data that a program in another language can compute too, so that both sides of a
// comparison show that they compute the same loss.

// fillFixed fills x as the p-th parameter, both from 0: weight i is width (frac(i/phi + p/10) - 1/2),
// with phi the golden ratio.
func fillFixed(x tensor.Matrix, p int, width float64) {
	for i := range x.Rows {
		for j, row := 0, tensor.Row(x, i); j < len(row); j++ {
			_, f := math.Modf(float64(i*x.Cols+j)*(math.Phi-1) + float64(p)/10)
			row[j] = tensor.Float(width*f - width/2)
		}
	}
}

// fixedUsers and fixedItems are the sizes of fixedGraph.
const fixedUsers, fixedItems = 30, 40

// fixedGraph returns a graph in which user u has the items (7u + 3j) mod 40, j = 0..4+u mod 5.
func fixedGraph() (*graph.Bipartite, error) {
	var edges []graph.Edge
	for u := range fixedUsers {
		for j := range 5 + u%5 {
			edges = append(edges, graph.Edge{User: int32(u), Item: int32((7*u + 3*j) % fixedItems)})
		}
	}
	return graph.NewBipartite(fixedUsers, fixedItems, edges)
}

// fixedTriples returns 8 triples: number k is user 3k, its first item and item (7·3k + 39) mod 40.
func fixedTriples() bpr.Triples {
	t := bpr.Triples{Items: make([]int32, 16)}
	for k := range 8 {
		t.Users = append(t.Users, int32(3*k))
		t.Items[k], t.Items[8+k] = int32(21*k%fixedItems), int32((21*k+39)%fixedItems)
	}
	return t
}
