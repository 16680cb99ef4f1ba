package als

import (
	"math"
	"slices"

	"privrec/internal/tensor"
)

// vectors returns vectors of users (users, width) and items (items, width) to rank by. The items' are computed from the
// releases, and a user's from the items' vectors and that user's own row.
//
// The last number is 1 for users. For items it is 0, except for those without a vector of their own, which come after
// all others, by their released counts.
func (t *trainer) vectors() (users, items tensor.Matrix, err error) {
	rank, err := t.ranking()
	if err != nil {
		return users, items, err
	}
	width := rank.items.cols + 1
	users, items = tensor.NewTable(len(t.rows.whole), width), tensor.NewTable(len(t.prior.place), width)
	most := 1.0 // no score of a user's vector of length 1 is larger
	for j, i := range t.prior.items {
		row := tensor.Row(items, int(i))
		for k, v := range rank.items.row(j) {
			row[k] = tensor.Float(v)
		}
		most = math.Max(most, math.Sqrt(dot(rank.items.row(j), rank.items.row(j))))
	}
	largest := math.Max(1, slices.Max(t.prior.counts))
	for i, r := range t.prior.place {
		if r < 0 {
			items.Data[i*items.Stride+width-1] = tensor.Float(most * (math.Max(-1, t.prior.counts[i]/largest) - 3))
		}
	}
	tensor.Parallel(users.Rows, 16, func(_, lo, hi int) {
		u := make([]float64, width-1)
		for k := lo; k < hi; k++ {
			rank.user(t.rows.whole[k], u)
			row := tensor.Row(users, k)
			for i, v := range u {
				row[i] = tensor.Float(v)
			}
			row[width-1] = 1
		}
	})
	return users, items, nil
}

// ranking computes users' vectors of length at most 1 from the releases and their own rows, and scores by inner
// products with items.
type ranking struct {
	items table // (m, width - 1)
	user  func(cells []cell, u []float64)
}

func (t *trainer) ranking() (ranking, error) {
	m := t.cfg.Model
	if m.Cells == CellsObserved {
		step := newUserStep(m, 1, t.items) // of length 1: a user's own scale changes no order
		return ranking{t.items, step.vector}, nil
	}
	directions, keep, err := t.basis.factors(m.Shrink, m.Lambda)
	if err != nil {
		return ranking{}, err
	}
	// A row of weights p is predicted as D diag(keep) D'p, and along the popular direction, whole. What
	// the user has of an item is that over the item's weight.
	wide := newTable(directions.rows, directions.cols+1)
	for j := range wide.rows {
		row := wide.row(j)
		copy(row, directions.row(j))
		row[directions.cols] = t.prior.popular[j]
	}
	scored := newTable(wide.rows, wide.cols)
	for j := range scored.rows {
		axpy(t.prior.weight[0]/t.prior.weight[j], wide.row(j), scored.row(j))
	}
	return ranking{scored, func(cells []cell, u []float64) {
		clear(u)
		for _, c := range cells {
			axpy(c.weight, wide.row(int(c.item)), u)
		}
		for k := range keep {
			u[k] *= keep[k]
		}
		clip(u, 1)
	}}, nil
}
