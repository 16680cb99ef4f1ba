// Package rp3beta is RP3beta: Paudel, Christoffel, Newell, Bernstein, "Updatable, Accurate,
// Diverse, and Scalable Recommendations for Interactive Applications", ACM TiiS 7(1), 2017. A
// walk of three steps from a user u goes to one of the user's items i, to one of the users v of
// i, and to one of the items j of v. Each step takes its neighbours with equal probability,
// raised to a power alpha (P3alpha, Cooper et al., WWW 2014), and the last item is divided by a
// power of its popularity, so that popular items gain less:
//
//	s_uj = sum over i, v of p_ui^alpha p_iv^alpha p_vj^alpha / d_j^beta       section 3
//	p_ui = x_ui / d_u, p_iv = x_vi / d_i, p_vj = x_vj / d_v
//
// x is the 0/1 matrix of users and items and d counts what a user or item has. p_ui^alpha is
// the same for all items of u and changes no order; it is left out. The rest is a matrix
// between items:
//
//	w_ij = d_i^-alpha d_j^-beta (sum over v with i and j of d_v^-alpha),  w_ii = 0
//	s_uj = sum over i of x_ui w_ij
//
// There is no gradient and no seed.
//
// Departures: the diagonal is 0, each row i of w keeps its K largest weights, and these are
// divided by their sum if Normalise is set, as Ferrari Dacrema, Cremonesi, Jannach, RecSys 2019,
// and the frameworks after them have it. The paper samples walks or keeps all; K as large as
// the number of items keeps all. With K = 777, alpha 0.56636, beta 0.001085 and Normalise the
// model is the one that Anelli et al., RecSys 2023, tuned on Gowalla, but for a second cut: their
// program also keeps of each column j of w the K largest weights. Columns does so.
package rp3beta

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/tensor"
)

// Cite names the publication.
const Cite = "Paudel, Christoffel, Newell, Bernstein, Updatable, Accurate, Diverse, and Scalable Recommendations for " +
	"Interactive Applications, ACM TiiS 2017"

// Options sets the powers of the walk, and which of its weights are kept.
type Options struct {
	Alpha      float64 // power of each step's probability, at least 0 and finite
	Beta       float64 // power of an item's popularity, by which its score is divided, at least 0 and finite
	Neighbours int     // K, kept for each item, at least 1; fewer where fewer share a user
	Normalise  bool    // divide the weights of an item by their sum
	Columns    bool    // then keep of each column the K largest weights, too
}

// Validate returns an error for the first option out of its range.
func (o Options) Validate() error {
	switch {
	case !(o.Alpha >= 0) || math.IsInf(o.Alpha, 1):
		return fmt.Errorf("alpha is %v, want at least 0 and finite", o.Alpha)
	case !(o.Beta >= 0) || math.IsInf(o.Beta, 1):
		return fmt.Errorf("beta is %v, want at least 0 and finite", o.Beta)
	case o.Neighbours < 1:
		return fmt.Errorf("neighbours is %d, want at least 1", o.Neighbours)
	}
	return nil
}

// Model is a fitted RP3beta. It implements eval.Scorer, with users as samples.
type Model struct {
	graph *graph.Bipartite
	next  [][]nearest.Neighbour // w_ij by i, the largest first
}

// Fit returns the model after computing the matrix between items. It looks at all pairs of items in users' lists, as
// many as the sum of squared user degrees. Sums are taken by user, so results do not depend on the number of workers.
// It fails on an option out of its range, on a graph without users or items, on weights beyond the range of numbers,
// and if ctx ends.
func Fit(ctx context.Context, g *graph.Bipartite, o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("rp3beta: %w", err)
	}
	if g.Users == 0 || g.Items == 0 {
		return nil, errors.New("rp3beta: no users or no items")
	}
	ofUser, ofItem, popular := make([]float64, g.Users), make([]float64, g.Items), make([]float64, g.Items)
	for v := range ofUser {
		ofUser[v] = math.Pow(float64(len(g.ItemsOf(v))), -o.Alpha)
	}
	for i := range ofItem {
		ofItem[i], popular[i] = math.Pow(float64(g.ItemDegree(i)), -o.Alpha),
			math.Pow(float64(g.ItemDegree(i)), -o.Beta)
	}
	x := nearest.Matrix{Columns: g.UsersOf, Rows: g.ItemsOf} // transposed: a row is an item
	vanished := make([]bool, g.Items)
	lists, err := nearest.Lists(ctx, fmt.Sprintf("walk from %d items", g.Items), g.Items, x.Pairs,
		func() func(i int) []nearest.Neighbour {
			mass := make([]float64, g.Items)
			var reached []int32
			var all []nearest.Neighbour
			return func(i int) []nearest.Neighbour {
				reached, all = reached[:0], all[:0]
				for _, v := range g.UsersOf(i) {
					for _, j := range g.ItemsOf(int(v)) {
						if mass[j] == 0 {
							reached = append(reached, j)
						}
						mass[j] += ofUser[v]
					}
				}
				for _, j := range reached {
					w := ofItem[i] * mass[j] * popular[j]
					if mass[j] = 0; int(j) == i {
						continue
					}
					vanished[i] = vanished[i] || !(w > 0)
					all = append(all, nearest.Neighbour{ID: j, Weight: w})
				}
				return nearest.Keep(all, o.Neighbours, o.Normalise)
			}
		})
	if err != nil {
		return nil, err
	}
	for i, bad := range vanished {
		if bad {
			return nil, fmt.Errorf("rp3beta: weights of item %d vanish: alpha %g or beta %g is too large", i, o.Alpha,
				o.Beta)
		}
	}
	if o.Columns {
		lists = nearest.KeepColumns(lists, o.Neighbours)
	}
	return &Model{graph: g, next: lists}, nil
}

// Items returns the number of items.
func (m *Model) Items() int { return m.graph.Items }

// Rest implements eval.Sparse: items at the end of no walk have score 0.
func (m *Model) Rest() []float64 { return make([]float64, m.graph.Items) }

// Changed implements eval.Sparse. It returns nil where the samples add more weights than there are items.
func (m *Model) Changed(samples []int32) (worker func() func(int32) ([]int32, []tensor.Float), err error) {
	if err := m.check(samples); err != nil {
		return nil, err
	}
	weights := 0
	for _, u := range samples {
		for _, i := range m.graph.ItemsOf(int(u)) {
			weights += len(m.next[i])
		}
	}
	if weights > len(samples)*m.graph.Items {
		return nil, nil
	}
	rest := m.Rest()
	return func() func(int32) ([]int32, []tensor.Float) {
		sums := nearest.NewSums(rest)
		return func(u int32) ([]int32, []tensor.Float) {
			for _, i := range m.graph.ItemsOf(int(u)) {
				for _, n := range m.next[i] {
					sums.Add(n.ID, n.Weight)
				}
			}
			return sums.Take()
		}
	}, nil
}

// check fails on a user outside the graph.
func (m *Model) check(samples []int32) error {
	for _, u := range samples {
		if u < 0 || int(u) >= m.graph.Users {
			return fmt.Errorf("rp3beta: user %d is outside 0..%d", u, m.graph.Users-1)
		}
	}
	return nil
}

// Score writes s_uj of every sample u and item j into scores (len(samples), Items()). It fails on a user outside the
// graph.
func (m *Model) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	if err := m.check(samples); err != nil {
		return err
	}
	tensor.Parallel(len(samples), 8, func(_, lo, hi int) {
		sum := make([]float64, m.graph.Items)
		for b := lo; b < hi; b++ {
			clear(sum)
			for _, i := range m.graph.ItemsOf(int(samples[b])) {
				for _, n := range m.next[i] {
					sum[n.ID] += n.Weight
				}
			}
			row := tensor.Row(scores, b)
			for j, s := range sum {
				row[j] = tensor.Float(s)
			}
		}
	})
	return nil
}
