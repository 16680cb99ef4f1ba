package lightgcn_test

import (
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/lightgcn"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
)

// aggregate is eq. 3, once for users and once for items: it adds the rows of the other side over the edges.
func aggregate(g *graph.Bipartite, users, items [][]float64) (ofUsers, ofItems [][]float64) {
	d := len(users[0])
	ofUsers, ofItems = zeros(len(users), d), zeros(len(items), d)
	for e := range g.Edges() {
		u, i := int(g.Edge(e).User), int(g.Edge(e).Item)
		weight := 1 / math.Sqrt(float64(g.UserDegree(u)*g.ItemDegree(i)))
		for f := range d {
			ofUsers[u][f] += weight * items[i][f]
			ofItems[i][f] += weight * users[u][f]
		}
	}
	return ofUsers, ofItems
}

// addTo is a term of eq. 4: sum += alpha rows.
func addTo(sum [][]float64, alpha float64, rows [][]float64) {
	for v := range sum {
		for f := range sum[v] {
			sum[v][f] += alpha * rows[v][f]
		}
	}
}

func zeros(n, d int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
	}
	return x
}

// Equations 3 to 5 by loops over edges, beside the propagation.
func Example() {
	const layers, d = 2, 3
	g, err := graph.NewBipartite(2, 3, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}, {User: 1, Item: 2}})
	if err != nil {
		fmt.Println(err)
	}
	m := lightgcn.New(g, graph.Normalizer{}, layers, d, nn.Uniform(1, 1))
	defer m.Close()

	eu, ei := modeltest.Rows(m.User.Value), modeltest.Rows(m.Item.Value) // e^(0)
	zu, zi := zeros(2, d), zeros(3, d)
	for k := 0; ; k++ {
		addTo(zu, 1.0/(layers+1), eu)
		addTo(zi, 1.0/(layers+1), ei)
		if k == layers {
			break
		}
		eu, ei = aggregate(g, eu, ei) // e^(k+1)
	}

	users, items, err := m.All()
	if err != nil {
		fmt.Println(err)
	}
	vu, vi := modeltest.Rows(users), modeltest.Rows(items)
	for i := range zi {
		fmt.Printf("user 0, item %d: formula %.4f, model %.4f\n", i, modeltest.Dot(zu[0], zi[i]), modeltest.Dot(vu[0], vi[i]))
	}
	// Output:
	// user 0, item 0: formula 0.1850, model 0.1850
	// user 0, item 1: formula 0.0910, model 0.0910
	// user 0, item 2: formula -0.0459, model -0.0459
}
