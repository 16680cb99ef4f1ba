package release

import (
	"cmp"
	"math"
	"slices"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// Draw chooses a user's contributed items, at most Items of them. The random number of an item depends on the user's id
// and the item's number. The choice depends on these numbers, the user's row and Weights alone.
type Draw struct {
	Items int
	// Weights of all items must be public or released. An item of weight 0 is never contributed, and items with more
	// weight are more likely. Nil: all weights are equal.
	Weights []float64
	Stream  rng.Stream // of the draws; one for each release, so that releases draw apart
}

// Of returns the items of their row that the user with this id contributes, ascending. A row with at most Items items
// of positive weight is contributed whole.
//
// Items are drawn without replacement, with probabilities in proportion to the remaining weights: every item gets an
// exponential number divided by its weight, and the smallest ones are taken (Efraimidis and Spirakis, "Weighted random
// sampling with a reservoir", Information Processing Letters 2006).
func (d Draw) Of(id string, row []int32) []int32 {
	some := d.possible(row)
	if len(some) <= d.Items {
		return some
	}
	some = d.order(id, some)[:d.Items]
	slices.Sort(some)
	return some
}

// InOrder returns the items of a row that Of draws from, all of them, in the order in which it takes them.
func (d Draw) InOrder(id string, row []int32) []int32 { return d.order(id, d.possible(row)) }

// possible returns the items of positive weight, in a slice of its own.
func (d Draw) possible(row []int32) []int32 {
	if d.Weights == nil {
		return slices.Clone(row)
	}
	some := make([]int32, 0, len(row))
	for _, i := range row {
		if d.Weights[i] > 0 {
			some = append(some, i)
		}
	}
	return some
}

// order puts items of positive weight into the order in which they are drawn.
func (d Draw) order(id string, some []int32) []int32 {
	of := d.Stream.Of(id)
	type timed struct {
		at   float64
		item int32
	}
	all := make([]timed, len(some))
	for k, i := range some {
		w := 1.0
		if d.Weights != nil {
			w = d.Weights[i]
		}
		s := of.Sub(uint64(i))
		all[k] = timed{-math.Log1p(-s.Float64()) / w, i}
	}
	slices.SortFunc(all, func(a, b timed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.item, b.item)) })
	for k := range some {
		some[k] = all[k].item
	}
	return some
}

// All returns every user's contributed items. ids and rows are parallel.
func (d Draw) All(ids []string, rows [][]int32) [][]int32 {
	out := make([][]int32, len(rows))
	tensor.Parallel(len(rows), 256, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			out[u] = d.Of(ids[u], rows[u])
		}
	})
	return out
}

// Top returns the m items with the largest released counts, the largest first. Of equal counts the lower item comes
// first. It returns all items if there are no more than m.
func Top(counts []float64, m int) []int32 {
	all := make([]int32, len(counts))
	for i := range all {
		all[i] = int32(i)
	}
	slices.SortStableFunc(all, func(a, b int32) int {
		switch x, y := counts[a], counts[b]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	return all[:min(m, len(all))]
}

// Weights returns the weights of a draw among the items of keep: the released count of an item, but at least floor, to
// the power -prefer. All other items get 0. floor is positive, such as the deviation of the counts' noise.
func Weights(counts []float64, keep []int32, floor, prefer float64) []float64 {
	w := make([]float64, len(counts))
	for _, i := range keep {
		w[i] = math.Pow(math.Max(counts[i], floor), -prefer)
	}
	return w
}

// MatrixWeights returns the weights of the items of keep in a matrix of pairs: those of Weights, scaled to a mean of 1.
func MatrixWeights(counts []float64, keep []int32, floor, prefer float64) []float64 {
	all := Weights(counts, keep, floor, prefer)
	weights, sum := make([]float64, len(keep)), 0.0
	for r, i := range keep {
		weights[r] = all[i]
		sum += all[i]
	}
	for r := range weights {
		weights[r] *= float64(len(keep)) / sum
	}
	return weights
}
