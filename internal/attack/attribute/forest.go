package attribute

import (
	"context"
	"math"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// trees is the size of a random forest, scikit-learn's default.
const trees = 100

// fitForest grows trees on bootstrap samples of the users, each node looking at floor(sqrt(columns)) columns at random
// (Breiman 2001). Of equally good splits a node takes the column it drew first. The forest predicts the mean of the
// shares in the trees' leaves, as scikit-learn does; Breiman counts votes. A tree draws from its own stream.
func fitForest(ctx context.Context, t *training, s rng.Stream) (fill, error) {
	shared, looks := newTable(t), max(1, int(math.Sqrt(float64(t.x.Cols))))
	grown, failed := make([]tree, trees), make([]error, trees)
	tensor.Parallel(trees, 1, func(k, _, _ int) {
		draw := s.Sub(uint64(k))
		weight := make([]int64, len(t.class))
		for range t.class {
			weight[draw.IntN(len(weight))]++
		}
		grown[k], failed[k] = shared.grow(ctx, weight, looks, &draw)
	})
	for _, err := range failed {
		if err != nil {
			return nil, err
		}
	}
	return func(x tensor.Matrix, p [][]float64) error {
		tensor.Parallel(x.Rows, 16, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				clear(p[i])
				for _, g := range grown {
					for c, v := range g.leaf(tensor.Row(x, i)) {
						p[i][c] += v
					}
				}
				for c := range p[i] {
					p[i][c] /= trees
				}
			}
		})
		return nil
	}, nil
}
