package gram

import (
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/graph"
	"privrec/internal/tensor"
)

// scorer ranks by the releases and by users' own rows. It implements eval.Scorer, with users as samples.
type scorer struct {
	graph *graph.Bipartite
	prior []tensor.Float // of all items
	items []int32        // of the rows of weights, ascending; none: the prior alone
	place []int32        // by item: its row of weights, or -1
	// weights (m, m) holds in row i, column j the part that item i in a user's row adds to the score of item j.
	weights tensor.Matrix
	inner   tensor.Matrix // (chunk, m)
}

// newScorer returns a scorer with weights among some items. prior has a number for every item.
func newScorer(g *graph.Bipartite, prior []float64, items []int32, weights tensor.Matrix) *scorer {
	s := &scorer{graph: g, items: items, weights: weights, place: make([]int32, g.Items),
		prior: make([]tensor.Float, g.Items)}
	for i := range s.place {
		s.place[i], s.prior[i] = -1, tensor.Float(prior[i])
	}
	for r, i := range items {
		s.place[i] = int32(r)
	}
	return s
}

// Close frees the memory of the weights.
func (s *scorer) Close() {
	tensor.Free(s.weights)
	tensor.Free(s.inner)
}

// Items implements eval.Scorer.
func (s *scorer) Items() int { return s.graph.Items }

// Score implements eval.Scorer.
func (s *scorer) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	x := &tensor.CSR{Rows: len(samples), Cols: len(s.items), Ptr: make([]int64, 1, len(samples)+1)}
	for b, u := range samples {
		if u < 0 || int(u) >= s.graph.Users {
			return fmt.Errorf("gram: user %d is outside 0..%d", u, s.graph.Users-1)
		}
		copy(tensor.Row(scores, b), s.prior)
		for _, i := range s.graph.ItemsOf(int(u)) {
			if r := s.place[i]; r >= 0 {
				x.Idx, x.Val = append(x.Idx, r), append(x.Val, 1)
			}
		}
		x.Ptr = append(x.Ptr, int64(len(x.Idx)))
	}
	if len(s.items) == 0 {
		return nil
	}
	if s.inner.Rows < len(samples) {
		tensor.Free(s.inner)
		s.inner = tensor.NewTable(len(samples), len(s.items))
	}
	y := tensor.RowsView(s.inner, 0, len(samples))
	x.MulDense(y, s.weights)
	tensor.Parallel(len(samples), 4, func(_, lo, hi int) {
		for b := lo; b < hi; b++ {
			row := tensor.Row(scores, b)
			for r, v := range tensor.Row(y, b) {
				row[s.items[r]] += v
			}
		}
	})
	return nil
}
