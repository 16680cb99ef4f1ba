package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/tensor"
)

// Normalizer weighs the edges of a propagation: the row of node i becomes the sum over its neighbours j of l(deg i)
// r(deg j) x_j, by the same rule for users and for items. The zero value is the symmetric one.
type Normalizer struct {
	rule  rule
	clamp int // degrees count as at least this; 0 for rules without a clamp
}

type rule uint8

const (
	symmetric    rule = iota // l = r = deg^-1/2 (He et al. 2020, eq. 3)
	symmetricMin             // the same of max(deg, clamp)
	rightMin                 // l = 1, r = max(deg, clamp)^-1/2
	plainSum                 // l = r = 1
)

// ParseNormalizer returns the normalizer named by "sym", "sym-clamp:K", "right-clamp:K" or "sum", with K at least 1,
// and fails on anything else. With d the degree:
//
//	sym            l = r = d^-1/2
//	sym-clamp:K    l = r = max(d, K)^-1/2
//	right-clamp:K  l = 1, r = max(d, K)^-1/2
//	sum            l = r = 1
func ParseNormalizer(s string) (Normalizer, error) {
	name, arg, has := strings.Cut(s, ":")
	r, ok := map[string]rule{"sym": symmetric, "sym-clamp": symmetricMin, "right-clamp": rightMin,
		"sum": plainSum}[name]
	clamped := r == symmetricMin || r == rightMin
	if !ok || has != clamped {
		return Normalizer{}, fmt.Errorf("graph: normaliser %q: want sym, sym-clamp:K, right-clamp:K or sum", s)
	}
	n := Normalizer{rule: r}
	if clamped {
		k, err := strconv.Atoi(arg)
		if err != nil || k < 1 || k > math.MaxInt32 {
			return Normalizer{}, fmt.Errorf("graph: normaliser %q: the least degree is %q, want a number from 1 to %d",
				s, arg, math.MaxInt32)
		}
		n.clamp = k
	}
	return n, nil
}

// String returns the name that ParseNormalizer takes.
func (n Normalizer) String() string {
	switch n.rule {
	case symmetricMin:
		return fmt.Sprintf("sym-clamp:%d", n.clamp)
	case rightMin:
		return fmt.Sprintf("right-clamp:%d", n.clamp)
	case plainSum:
		return "sum"
	}
	return "sym"
}

// left returns l, the weight of a row by the degree of its own node.
func (n Normalizer) left(degree int) float64 {
	if n.rule == rightMin || n.rule == plainSum {
		return 1
	}
	return n.root(degree)
}

// right returns r, the weight of a neighbour by its degree.
func (n Normalizer) right(degree int) float64 {
	if n.rule == plainSum {
		return 1
	}
	return n.root(degree)
}

// root returns max(degree, clamp)^-1/2, 0 for an isolated node without a clamp.
func (n Normalizer) root(degree int) float64 {
	if d := max(degree, n.clamp); d > 0 {
		return 1 / math.Sqrt(float64(d))
	}
	return 0
}

// Factors returns l and r of every node, users first, then items: the weight of
// an edge in the row of node i with neighbour j is left[i] right[j].
func (n Normalizer) Factors(g *Bipartite) (left, right []float64) {
	left, right = make([]float64, g.Nodes()), make([]float64, g.Nodes())
	for v := range left {
		d := g.degree(v)
		left[v], right[v] = n.left(d), n.right(d)
	}
	return left, right
}

// degree returns the degree of a node, users first.
func (g *Bipartite) degree(v int) int {
	if v < g.Users {
		return g.UserDegree(v)
	}
	return g.ItemDegree(v - g.Users)
}

// degrees holds the working memory for weights: degree counters by node and, by source node, the list of its edges seen
// so far.
type degrees struct {
	in, out    []int32
	head, next []int32
}

func (d *degrees) reset(nodes, edges int) {
	d.in, d.out, d.head = zeroed(d.in, nodes), zeroed(d.out, nodes), zeroed(d.head, nodes)
	d.next = zeroed(d.next, edges)
}

func zeroed(x []int32, n int) []int32 {
	if cap(x) < n {
		return make([]int32, n)
	}
	x = x[:n]
	clear(x)
	return x
}

// CountWeights appends to in and out the degree-normalised weight of every
// edge: in[e] = 1/indegree(Dst[e]) and out[e] = 1/outdegree(Src[e]). Degrees are
// counted with multiplicity, so that each row of the in- and of the out-adjacency
// sums to one or is empty (A-PGNN's normalised counts).
func (g *Packed) CountWeights(in, out []tensor.Float) (win, wout []tensor.Float) {
	d := &g.scratch
	d.reset(g.Nodes(), len(g.Src))
	for e, s := range g.Src {
		d.out[s]++
		d.in[g.Dst[e]]++
	}
	for e, s := range g.Src {
		in = append(in, 1/tensor.Float(d.in[g.Dst[e]]))
		out = append(out, 1/tensor.Float(d.out[s]))
	}
	return in, out
}

// BinaryWeights appends the weights of CountWeights for the binary adjacency of SR-GNN: an edge that a session repeats
// counts once, so its repeats have weight zero and degrees count distinct neighbours.
func (g *Packed) BinaryWeights(in, out []tensor.Float) (win, wout []tensor.Float) {
	d := &g.scratch
	d.reset(g.Nodes(), len(g.Src))
	for e, s := range g.Src {
		repeated := false
		for k := d.head[s]; k != 0; k = d.next[k-1] {
			if g.Dst[k-1] == g.Dst[e] {
				repeated = true
				break
			}
		}
		if repeated {
			d.next[e] = -1 // marks a repeat: never linked, so the list walk cannot meet it
			continue
		}
		d.next[e], d.head[s] = d.head[s], int32(e+1)
		d.out[s]++
		d.in[g.Dst[e]]++
	}
	for e, s := range g.Src {
		if d.next[e] < 0 {
			in, out = append(in, 0), append(out, 0)
			continue
		}
		in = append(in, 1/tensor.Float(d.in[g.Dst[e]]))
		out = append(out, 1/tensor.Float(d.out[s]))
	}
	return in, out
}
