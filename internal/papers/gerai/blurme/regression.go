package blurme

import (
	"context"

	"privrec/internal/attack/attribute"
	"privrec/internal/tensor"
)

// logistic is a Regression by the logistic regression of package attribute, with its penalty.
func logistic(ctx context.Context, rows [][]int32, ratings [][]float32, items int, positive []bool) ([]float64, error) {
	x, class := tensor.New(len(rows), items), make([]int32, len(rows))
	for u, list := range rows {
		for k, i := range list {
			tensor.Row(x, u)[i] = tensor.Float(ratings[u][k])
		}
		if positive[u] {
			class[u] = 1
		}
	}
	return attribute.LogisticWeights(ctx, x, class)
}
