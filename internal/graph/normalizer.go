package graph

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Normalizer says how a propagation weighs edges: the row of node i becomes
// the sum over its neighbours j of l(deg i) r(deg j) x_j, by the same rule for
// users and for items. The zero value is the symmetric one.
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

// ParseNormalizer reads "sym", "sym-clamp:K", "right-clamp:K" or "sum", with K at
// least 1, and fails on anything else. With d the degree:
//
//	sym            l = r = d^-1/2
//	sym-clamp:K    l = r = max(d, K)^-1/2
//	right-clamp:K  l = 1, r = max(d, K)^-1/2
//	sum            l = r = 1
func ParseNormalizer(s string) (Normalizer, error) {
	name, arg, has := strings.Cut(s, ":")
	r, ok := map[string]rule{"sym": symmetric, "sym-clamp": symmetricMin, "right-clamp": rightMin, "sum": plainSum}[name]
	clamped := r == symmetricMin || r == rightMin
	if !ok || has != clamped {
		return Normalizer{}, fmt.Errorf("graph: normaliser %q: want sym, sym-clamp:K, right-clamp:K or sum", s)
	}
	n := Normalizer{rule: r}
	if clamped {
		k, err := strconv.Atoi(arg)
		if err != nil || k < 1 || k > math.MaxInt32 {
			return Normalizer{}, fmt.Errorf("graph: normaliser %q: the least degree is %q, want a number from 1 to %d", s, arg, math.MaxInt32)
		}
		n.clamp = k
	}
	return n, nil
}

// String returns the form that ParseNormalizer reads.
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
