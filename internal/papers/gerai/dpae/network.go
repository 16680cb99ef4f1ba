package dpae

import (
	"math"

	"privrec/internal/graph"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// network is the autoencoder. Its parameters, and their gradients, are one vector.
type network struct {
	values []tensor.Float
	w1, w2 tensor.Matrix // (items, d)
	b1     []tensor.Float
	b2     []tensor.Float // (items)
}

// size returns the number of parameters.
func size(items, dim int) int { return 2*items*dim + dim + items }

// over divides a vector of parameters into the network's parts, which share its memory.
func over(values []tensor.Float, items, dim int) *network {
	n := &network{values: values}
	take := func(k int) []tensor.Float {
		part := values[:k:k]
		values = values[k:]
		return part
	}
	n.w1, n.w2 = tensor.From(items, dim, take(items*dim)), tensor.From(items, dim, take(items*dim))
	n.b1, n.b2 = take(dim), take(items)
	return n
}

// newNetwork returns a network with random uniform weights (Glorot). They do not depend on the data.
func newNetwork(items int, c ModelConfig, s rng.Stream) *network {
	n := over(make([]tensor.Float, size(items, c.Dim)), items, c.Dim)
	bound := math.Sqrt(6 / float64(items+c.Dim))
	for _, m := range []tensor.Matrix{n.w1, n.w2} {
		for i := range m.Data {
			m.Data[i] = tensor.Float(bound * (2*s.Float64() - 1))
		}
	}
	for i := range n.b2 {
		n.b2[i] = tensor.Float(c.Bias)
	}
	return n
}

// encode writes the hidden vectors of users (len(users), d).
func (n *network) encode(g *graph.Bipartite, users []int32, hidden tensor.Matrix) {
	tensor.Parallel(len(users), 8, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			h := tensor.Row(hidden, k)
			copy(h, n.b1)
			for _, i := range g.ItemsOf(int(users[k])) {
				tensor.Add(h, tensor.Row(n.w1, int(i)))
			}
			tensor.Sigmoid(h, h)
		}
	})
}

// pass computes sums of clipped gradients, batch after batch.
type pass struct {
	net    *network
	graph  *graph.Bipartite
	weight tensor.Float // of the items that a user has
	clip   float64

	hidden, outer, inner tensor.Matrix // h (B, d), e (B, items), f (B, d)
	norms                []float64
}

// room is the relative distance of the clipped length below the bound, since the scaled activations are rounded to
// single precision.
const room = 1e-6

// sum writes the sum of the users' clipped gradients to dst, and returns the lengths of the clipped gradients. The
// lengths are valid until the next call.
func (p *pass) sum(users []int32, dst *network) []float64 {
	b, d, items := len(users), p.net.w1.Cols, p.net.w1.Rows
	if b == 0 { // a Poisson batch may be
		clear(dst.values)
		return nil
	}
	if p.hidden.Rows < b {
		p.hidden, p.outer, p.inner = tensor.New(b, d), tensor.New(b, items), tensor.New(b, d)
		p.norms = make([]float64, b)
	}
	h, e, f := tensor.RowsView(p.hidden, 0, b), tensor.RowsView(p.outer, 0, b), tensor.RowsView(p.inner, 0, b)
	p.norms = p.norms[:cap(p.norms)][:b]
	p.net.encode(p.graph, users, h)
	tensor.Gemm(false, true, 1, h, p.net.w2, 0, e)
	tensor.Parallel(b, 4, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			row := tensor.Row(e, k)
			tensor.Add(row, p.net.b2)
			tensor.Sigmoid(row, row)
			for _, i := range p.graph.ItemsOf(int(users[k])) {
				row[i] = p.weight * (row[i] - 1)
			}
		}
	})
	tensor.Gemm(false, false, 1, e, p.net.w2, 0, f)
	tensor.Parallel(b, 8, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			outer, inner, x := tensor.Row(e, k), tensor.Row(f, k), tensor.Row(h, k)
			for j, v := range x {
				inner[j] *= v * (1 - v)
			}
			degree := float64(len(p.graph.ItemsOf(int(users[k]))))
			norm := math.Sqrt(tensor.SumSq(outer)*(tensor.SumSq(x)+1) + tensor.SumSq(inner)*(degree+1))
			if math.IsNaN(norm) || math.IsInf(norm, 1) { // counts as 0: an error would tell of the user
				clear(outer)
				clear(inner)
				clear(x)
				norm = 0
			}
			if norm > p.clip*(1-room) {
				by := tensor.Float(p.clip * (1 - room) / norm)
				tensor.Scale(by, outer)
				tensor.Scale(by, inner)
				norm = p.clip
			}
			p.norms[k] = norm
		}
	})
	p.backward(users, h, e, f, dst)
	return p.norms
}

// backward writes the sum of the users' gradients to dst. The rows of e and f are their factors.
func (p *pass) backward(users []int32, h, e, f tensor.Matrix, dst *network) {
	clear(dst.values)
	tensor.Gemm(true, false, 1, e, h, 0, dst.w2)
	for k, u := range users {
		outer, inner := tensor.Row(e, k), tensor.Row(f, k)
		tensor.Add(dst.b2, outer)
		tensor.Add(dst.b1, inner)
		for _, i := range p.graph.ItemsOf(int(u)) {
			tensor.Add(tensor.Row(dst.w1, int(i)), inner)
		}
	}
}

// vectors returns vectors of users and items (d+1) whose inner products are the outputs: hidden
// vectors with a 1, and rows of W2 with their bias.
func (n *network) vectors(g *graph.Bipartite) (users, items tensor.Matrix) {
	d := n.w1.Cols
	users, items = tensor.NewTable(g.Users, d+1), tensor.NewTable(g.Items, d+1)
	all := make([]int32, g.Users)
	for u := range all {
		all[u] = int32(u)
		tensor.Row(users, u)[d] = 1
	}
	n.encode(g, all, tensor.ColsView(users, 0, d))
	for i := range g.Items {
		row := tensor.Row(items, i)
		copy(row, tensor.Row(n.w2, i))
		row[d] = n.b2[i]
	}
	return users, items
}
