package graph

// FindNear returns the rows in the order that Near tries.
func (g *Bipartite) FindNear() *Near { return g.tryNear() }

// Fetches counts the vectors that rows need.
var Fetches = fetches
