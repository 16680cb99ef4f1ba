package ngcf_test

import (
	"fmt"
	"math"

	"privrec/internal/graph"
	"privrec/internal/model/modeltest"
	"privrec/internal/model/ngcf"
	"privrec/internal/nn"
)

// leaky is LeakyReLU.
func leaky(x float64) float64 { return max(x, 0.2*x) }

// layer is eq. 7 as this package has it: mean is over a node and its neighbours.
func layer(m *ngcf.Model, l int, e [][]float64, neighbours [][]int) [][]float64 {
	w1, b1 := modeltest.Rows(m.Sum[l].W.Value), modeltest.Rows(m.Sum[l].B.Value)[0]
	w2, b2 := modeltest.Rows(m.Bi[l].W.Value), modeltest.Rows(m.Bi[l].B.Value)[0]
	next := make([][]float64, len(e))
	for v := range e {
		mean, product := make([]float64, len(e[v])), make([]float64, len(e[v]))
		for _, w := range append(neighbours[v], v) {
			for k := range mean {
				mean[k] += e[w][k] / float64(len(neighbours[v])+1)
			}
		}
		for k := range product {
			product[k] = e[v][k] * mean[k]
		}
		one, two := modeltest.Affine(w1, mean, b1), modeltest.Affine(w2, product, b2)
		for k := range one {
			next[v] = append(next[v], leaky(one[k]+two[k]))
		}
	}
	return next
}

// Equations 7, 9 and 10 by loops over nodes, beside the fused network. Node u is user u, node 2+i is item i.
func Example() {
	g, err := graph.NewBipartite(2, 3, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}, {User: 1, Item: 2}})
	if err != nil {
		fmt.Println(err)
	}
	m, err := ngcf.New(g, ngcf.Config{Dim: 3, Layers: 2}, 1, nn.Uniform(1, 1))
	if err != nil {
		fmt.Println(err)
	}

	neighbours := [][]int{{2, 3}, {3, 4}, {0}, {0, 1}, {1}}
	e := append(modeltest.Rows(m.User.Value), modeltest.Rows(m.Item.Value)...)
	z := append([][]float64(nil), e...) // e*, which begins with e^(0)
	for l := range m.Sum {
		e = layer(m, l, e, neighbours)
		for v := range e {
			length := math.Sqrt(modeltest.Dot(e[v], e[v]))
			for _, x := range e[v] {
				z[v] = append(z[v], x/length)
			}
		}
	}

	users, items := m.All()
	vu, vi := modeltest.Rows(users), modeltest.Rows(items)
	for i := range vi {
		fmt.Printf("user 0, item %d: formula %.4f, model %.4f\n", i, modeltest.Dot(z[0], z[2+i]), modeltest.Dot(vu[0], vi[i]))
	}
	// Output:
	// user 0, item 0: formula 1.7900, model 1.7900
	// user 0, item 1: formula 1.9113, model 1.9113
	// user 0, item 2: formula 1.9374, model 1.9374
}
