package rdpgcf

import (
	"fmt"

	"privrec/internal/graph"
	"privrec/internal/rng"
)

// apart divides the edges of a graph. Every edge is a label with probability share. The draw
// depends only on its user and item, so that one edge more or less changes one part by itself.
// With a share of 0 both parts are the graph.
func apart(g *graph.Bipartite, share float64, s rng.Stream) (rows, labels *graph.Bipartite, err error) {
	if share == 0 {
		return g, g, nil
	}
	var edges [2][]graph.Edge
	for u := range g.Users {
		for _, i := range g.ItemsOf(u) {
			draw := s.Sub(uint64(u), uint64(i))
			part := 0
			if draw.Float64() < share {
				part = 1
			}
			edges[part] = append(edges[part], graph.Edge{User: int32(u), Item: i})
		}
	}
	if len(edges[0]) == 0 || len(edges[1]) == 0 {
		return nil, nil, fmt.Errorf("privacy.repaired.label_share: of %d edges %d are labels: take another share", g.Edges(), len(edges[1]))
	}
	if rows, err = graph.NewBipartite(g.Users, g.Items, edges[0]); err != nil {
		return nil, nil, err
	}
	labels, err = graph.NewBipartite(g.Users, g.Items, edges[1])
	return rows, labels, err
}
