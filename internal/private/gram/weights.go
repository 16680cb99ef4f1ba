package gram

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/model/ease"
	"privrec/internal/tensor"
)

// unweigh removes the items' weights from a matrix: it divides entry (i, j) by s_i s_j.
func unweigh(g square, weights []float64) {
	for i, a := range weights {
		row := g.row(i)
		for j, b := range weights {
			row[j] /= a * b
		}
	}
}

// ridges bounds the number of times that lambda is doubled: released values are below 2^50, and their rounding error is
// smaller.
const ridges = 100

// ease returns EASE's weights B (m, m) of a matrix: P = (G + lambda I)^-1, B = I - P diag(1/P_jj), with 0 on the
// diagonal. lambda is Lambda times unit. If G + lambda I is not positive definite in the arithmetic of tensor.Float,
// lambda is doubled until it is, since noise must not decide whether there is a model. raised counts the doublings.
func (c MatrixConfig) ease(ctx context.Context, g square, unit float64) (b tensor.Matrix, raised int, err error) {
	p := tensor.NewTable(g.n, g.n)
	for lambda := c.Lambda * unit; ; lambda, raised = 2*lambda, raised+1 {
		for i := range g.n {
			row := tensor.Row(p, i)
			for j, v := range g.row(i)[:i+1] {
				row[j] = tensor.Float(v)
			}
			row[i] += tensor.Float(lambda)
		}
		err = ease.Invert(ctx, p)
		if err == nil {
			break
		}
		if ctx.Err() != nil || raised == ridges || !(lambda > 0) {
			tensor.Free(p)
			return tensor.Matrix{}, raised, fmt.Errorf("the released matrix with model.lambda %g: %w", c.Lambda, err)
		}
	}
	diagonal := make([]tensor.Float, g.n)
	for j := range diagonal {
		diagonal[j] = tensor.Row(p, j)[j]
	}
	for i := range g.n {
		row := tensor.Row(p, i)
		for j := range row {
			row[j] = -row[j] / diagonal[j]
		}
		row[i] = 0
	}
	return p, raised, nil
}

// cosine returns the weights (m, m) of ItemKNN: column j has the similarities of item j to its Neighbours most similar
// items, G_ij/(sqrt(d_i d_j) + Lambda unit), and 0 elsewhere. d is the released diagonal, positive. Only similarities
// above 0 make a neighbour.
func (c MatrixConfig) cosine(g square, diagonal []float64, unit float64) tensor.Matrix {
	shrink := c.Lambda * unit
	root := make([]float64, g.n)
	for i := range root {
		root[i] = math.Sqrt(diagonal[i])
	}
	out := tensor.NewTable(g.n, g.n)
	type near struct {
		item int
		of   float64
	}
	for j := range g.n {
		var all []near
		for i, v := range g.row(j) {
			if s := v / (root[i]*root[j] + shrink); i != j && s > 0 {
				all = append(all, near{i, s})
			}
		}
		slices.SortFunc(all, func(a, b near) int {
			return cmp.Or(cmp.Compare(b.of, a.of),
				cmp.Compare(a.item, b.item))
		})
		for _, x := range all[:min(c.Neighbours, len(all))] {
			tensor.Row(out, x.item)[j] = tensor.Float(x.of)
		}
	}
	return out
}
