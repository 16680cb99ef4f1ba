package gerai_test

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/model/gerai"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// relu is ReLU of a vector.
func relu(x []float64) []float64 {
	for k := range x {
		x[k] = max(x[k], 0)
	}
	return x
}

// plain is the network by loops.
type plain struct {
	m    *gerai.Model
	z, x [][]float64 // base embeddings and messages, users then items
}

func newPlain(m *gerai.Model) *plain {
	p := &plain{m: m}
	table := modeltest.Rows(m.User.Value)
	for _, features := range modeltest.Rows(m.Features) {
		z := make([]float64, len(table[0])) // eq. 4
		for f, x := range features {
			for k, e := range table[f] {
				z[k] += x * e
			}
		}
		p.z = append(p.z, z)
	}
	p.z = append(p.z, modeltest.Rows(m.Item.Value)...)
	for _, z := range p.z { // eq. 3
		for l, layer := range m.Message.Layers {
			if z = modeltest.Affine(modeltest.Rows(layer.W.Value), z, modeltest.Rows(layer.B.Value)[0]); l < 2 {
				z = relu(z)
			}
		}
		p.x = append(p.x, z)
	}
	return p
}

// neighbours lists a node and its neighbours.
func (p *plain) neighbours(c int) []int {
	g, all := p.m.Graph, []int{c}
	if c < g.Users {
		for _, i := range g.ItemsOf(c) {
			all = append(all, g.Users+int(i))
		}
		return all
	}
	for _, u := range g.UsersOf(c - g.Users) {
		all = append(all, int(u))
	}
	return all
}

// star returns z* of a node, equations 5 to 9.
func (p *plain) star(c int) []float64 {
	m, list, total := p.m, p.neighbours(c), 0.0
	alpha := make([]float64, len(list))
	for j, k := range list {
		hidden := modeltest.Affine(modeltest.Rows(m.Self.W.Value), p.z[c], modeltest.Rows(m.Self.B.Value)[0])
		for i, x := range modeltest.Affine(modeltest.Rows(m.Seen.W.Value), p.x[k], nil) {
			hidden[i] = modeltest.Sigmoid(hidden[i] + x)
		}
		alpha[j] = math.Exp(modeltest.Dot(modeltest.Rows(m.Weigh.Value)[0], hidden)) // eq. 8, above the line of eq. 7
		total += alpha[j]
	}
	sum := make([]float64, len(p.z[c]))
	for j, k := range list {
		for i, x := range p.x[k] {
			sum[i] += alpha[j] / total * x
		}
	}
	return relu(modeltest.Affine(modeltest.Rows(m.Update.W.Value), sum, modeltest.Rows(m.Update.B.Value)[0]))
}

// score returns h·q_uv, eq. 10.
func (p *plain) score(u, i int) (s float64) {
	m := p.m
	r := modeltest.Affine(modeltest.Rows(m.OfItem.W.Value), p.star(m.Graph.Users+i), modeltest.Rows(m.OfItem.B.Value)[0])
	for k, x := range modeltest.Affine(modeltest.Rows(m.OfUser.W.Value), p.star(u), nil) {
		r[k] += x
	}
	for k, x := range relu(r) {
		s += modeltest.Rows(m.H.Value)[0][k] * x / (1 + x)
	}
	return s
}

// features are two numbers of each of three users.
var features = tensor.From(3, 2, []tensor.Float{1, -0.5, 0.25, 1, 0, 1})

func small(c gerai.Config, init nn.Init) *gerai.Model {
	g, err := graph.NewBipartite(3, 4, []graph.Edge{{User: 0, Item: 0}, {User: 0, Item: 1}, {User: 1, Item: 1}, {User: 1, Item: 2}, {User: 2, Item: 0}})
	if err != nil {
		panic(err)
	}
	m, err := gerai.New(g, features, c, 1, init)
	if err != nil {
		panic(err)
	}
	return m
}

// Equations 3 to 11 by loops over nodes, beside the network: user 1 has item 2 and not item 3.
func Example() {
	c := gerai.Default()
	c.Dim = 3
	m := small(c, nn.Uniform(rng.Seed(1), 1))
	p := newPlain(m)
	users, items := m.Vectors()
	scores := tensor.New(1, 4)
	ranking := gerai.Ranking{Users: users, Goods: items, H: m.H.Value, Norm: c.Norm}
	if err := ranking.Score(nil, []int32{1}, scores); err != nil {
		fmt.Println(err)
	}
	for i := range 4 {
		fmt.Printf("user 1, item %d: formula %.4f, model %.4f\n", i, p.score(1, i), scores.Data[i])
	}
	x := p.score(1, 2) - p.score(1, 3)
	loss, err := m.Loss(autograd.NewTape(), 0, bpr.Triples{Users: []int32{1}, Items: []int32{2, 3}}, gerai.Objective{})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Printf("loss: formula %.4f, model %.4f\n", math.Ln2-x/2+x*x/8, loss.Scalar())
	// Output:
	// user 1, item 0: formula -0.1529, model -0.1529
	// user 1, item 1: formula -0.1534, model -0.1534
	// user 1, item 2: formula -0.1637, model -0.1637
	// user 1, item 3: formula -0.1559, model -0.1559
	// loss: formula 0.6971, model 0.6971
}
