package itemknn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/model/nearest"
	"privrec/internal/tensor"
)

// Options sets how the neighbours of an item are chosen and weighted.
type Options struct {
	nearest.Options      // a row is an item, its columns are the users that have it
	MeanBias        bool // take scores as deviations from the items' means
}

// Model is a fitted ItemKNN. It implements eval.Scorer, with users as samples.
type Model struct {
	graph *graph.Bipartite
	base  []float64 // m_j - sum of w_ji m_i (items)
	ptr   []int64   // the items that have item i as a neighbour are idx[ptr[i]:ptr[i+1]]
	idx   []int32   // ascending for each i
	val   []float64 // their weights w_ji
}

// Fit returns a model with the neighbours of every item. It looks at all pairs of items in users' lists, as many as the
// sum of squared user degrees. Equal similarities are ordered by item, so results do not depend on the number of
// workers. It fails on an option out of its range, on a graph without users or items, and if ctx ends.
func Fit(ctx context.Context, g *graph.Bipartite, o Options) (*Model, error) {
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("itemknn: %w", err)
	}
	mean := o.means(g)
	x := nearest.Matrix{Columns: g.UsersOf, Rows: g.ItemsOf} // transposed: a row is an item
	return fit(ctx, g, mean, x.Pairs, o.Similar(x, g.Items))
}

// means returns the items' means; nil if scores are not deviations from them.
func (o Options) means(g *graph.Bipartite) (mean []float64) {
	if !o.MeanBias {
		return nil
	}
	mean = make([]float64, g.Items)
	for i := range mean {
		mean[i] = float64(g.ItemDegree(i)) / float64(g.Users)
	}
	return mean
}

// fit returns the model from the neighbours of every item, as nearest.Lists finds them.
func fit(ctx context.Context, g *graph.Bipartite, mean []float64, cost func(j int) float64,
	worker func() func(j int) []nearest.Neighbour) (*Model, error) {
	if g.Users == 0 || g.Items == 0 {
		return nil, errors.New("itemknn: no users or no items")
	}
	lists, err := nearest.Lists(ctx, fmt.Sprintf("find the neighbours of %d items", g.Items), g.Items, cost, worker)
	if err != nil {
		return nil, err
	}
	return assemble(g, mean, lists), nil
}

// assemble returns the model from lists by item, regrouped by neighbour. Nil means are 0.
func assemble(g *graph.Bipartite, mean []float64, lists [][]nearest.Neighbour) *Model {
	m := &Model{graph: g, base: make([]float64, g.Items), ptr: make([]int64, g.Items+1)}
	for j, list := range lists {
		if mean != nil {
			m.base[j] = mean[j]
		}
		for _, n := range list {
			m.ptr[n.ID+1]++
			if mean != nil {
				m.base[j] -= n.Weight * mean[n.ID]
			}
		}
	}
	for i := range g.Items {
		m.ptr[i+1] += m.ptr[i]
	}
	m.idx, m.val = make([]int32, m.ptr[g.Items]), make([]float64, m.ptr[g.Items])
	next := slices.Clone(m.ptr)
	for j, list := range lists {
		for _, n := range list {
			k := next[n.ID]
			next[n.ID]++
			m.idx[k], m.val[k] = int32(j), n.Weight
		}
	}
	return m
}

// Items returns the number of items.
func (m *Model) Items() int { return m.graph.Items }

// Rest implements eval.Sparse.
func (m *Model) Rest() []float64 { return m.base }

// Changed implements eval.Sparse. It returns nil where the samples add more weights than there are items.
func (m *Model) Changed(samples []int32) (worker func() func(int32) ([]int32, []tensor.Float), err error) {
	if err := m.check(samples); err != nil {
		return nil, err
	}
	weights := int64(0)
	for _, u := range samples {
		for _, i := range m.graph.ItemsOf(int(u)) {
			weights += m.ptr[i+1] - m.ptr[i]
		}
	}
	if weights > int64(len(samples))*int64(m.graph.Items) {
		return nil, nil
	}
	return func() func(int32) ([]int32, []tensor.Float) {
		sums := nearest.NewSums(m.base)
		return func(u int32) ([]int32, []tensor.Float) {
			for _, i := range m.graph.ItemsOf(int(u)) {
				for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
					sums.Add(m.idx[k], m.val[k])
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
			return fmt.Errorf("itemknn: user %d is outside 0..%d", u, m.graph.Users-1)
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
			copy(sum, m.base)
			for _, i := range m.graph.ItemsOf(int(samples[b])) {
				for k := m.ptr[i]; k < m.ptr[i+1]; k++ {
					sum[m.idx[k]] += m.val[k]
				}
			}
			row := tensor.Row(scores, b)
			for j, v := range sum {
				row[j] = tensor.Float(v)
			}
		}
	})
	return nil
}
