package attribute

import (
	"context"
	"math"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// neighbours returns the fit of the k nearest neighbours by Euclidean distance: the probability of a class is its share
// of them, so [Argmax] breaks a tie of votes in favour of the lower class.
//
// Of users equally far at the border it takes those that scikit-learn takes when it searches all rows in one thread.
// Users enter a heap of k in order. One as far as the farthest stays out; a nearer one replaces the farthest, of
// several the one on top of the heap. For k = 2 the lower number wins. (With more threads and more than 256 users,
// scikit-learn's choice depends on the threads.)
func neighbours(k int) func(context.Context, *training, rng.Stream) (fill, error) {
	return func(_ context.Context, t *training, _ rng.Stream) (fill, error) {
		if k > len(t.class) {
			return nil, t.unsuitable("needs %d users, not %d", k, len(t.class))
		}
		rows := sparseOf(t.x)
		return func(x tensor.Matrix, p [][]float64) error {
			rows.nearness(x, func(i int, d []float64) {
				clear(p[i])
				for _, u := range nearest(d, k) {
					p[i][t.class[u]]++
				}
				for c := range p[i] {
					p[i][c] /= float64(k)
				}
			})
			return nil
		}, nil
	}
}

// nearest returns the indices of the k smallest values, in the order of a heap.
func nearest(d []float64, k int) []int {
	far, at := make([]float64, k), make([]int, k)
	for i := range far {
		far[i] = math.Inf(1)
	}
	for u, v := range d {
		if v < far[0] {
			sink(far, at, v, u)
		}
	}
	return at
}

// sink replaces the largest value, on top of the heap, and its index by v and u.
func sink(far []float64, at []int, v float64, u int) {
	i := 0
	for {
		child := 2*i + 1
		if child+1 < len(far) && far[child+1] > far[child] {
			child++
		}
		if child >= len(far) || far[child] <= v {
			break
		}
		far[i], at[i] = far[child], at[child]
		i = child
	}
	far[i], at[i] = v, u
}
