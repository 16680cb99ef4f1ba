package bpr

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// lossGrain is the pairs that a core takes at a time.
const lossGrain = 128

// Loss is 1/count sum_k softplus(-scale (u_k.p_k - u_k.n_k)), (1, 1), for users (B, d)
// and items (2B, d), positives before negatives.
func Loss(users, items *autograd.Node, scale, count float64) *autograd.Node {
	b, t := users.Rows(), users.Tape()
	if items.Rows() != 2*b || items.Cols() != users.Cols() {
		panic(&autograd.Error{Op: "bpr", Message: "items are not twice the users, of the same width",
			Shapes: [][2]int{{b, users.Cols()}, {items.Rows(), items.Cols()}}})
	}
	y := t.Fused("bpr", 1, 1, users, items)
	each, slope := t.Buffer(b, 1), t.Buffer(b, 1)
	tensor.Parallel(b, lossGrain, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			u := tensor.Row(users.V, k)
			x := scale * float64(tensor.Dot(u, tensor.Row(items.V, k))-tensor.Dot(u, tensor.Row(items.V, b+k)))
			e := math.Exp(-math.Abs(x))
			each.Data[k] = tensor.Float(max(-x, 0) + math.Log1p(e))
			if x > 0 {
				slope.Data[k] = tensor.Float(-scale * e / (1 + e) / count)
			} else {
				slope.Data[k] = tensor.Float(-scale / (1 + e) / count)
			}
		}
	})
	y.V.Data[0] = tensor.Float(tensor.Sum(each.Data) / count)
	return t.Custom("bpr", y, func() {
		g := y.G.Data[0]
		var du, di tensor.Matrix
		if users.Needs() {
			du = users.AddGrad()
		}
		if items.Needs() {
			di = items.AddGrad()
		}
		tensor.Parallel(b, lossGrain, func(_, lo, hi int) {
			for k := lo; k < hi; k++ {
				c := g * slope.Data[k]
				if users.Needs() {
					tensor.Axpy(c, tensor.Row(items.V, k), tensor.Row(du, k))
					tensor.Axpy(-c, tensor.Row(items.V, b+k), tensor.Row(du, k))
				}
				if items.Needs() {
					tensor.Axpy(c, tensor.Row(users.V, k), tensor.Row(di, k))
					tensor.Axpy(-c, tensor.Row(users.V, k), tensor.Row(di, b+k))
				}
			}
		})
	})
}

// Penalty is lambda/2 1/count times the squares of all rows given, (1, 1); nil for
// lambda 0.
func Penalty(lambda, count float64, rows ...*autograd.Node) *autograd.Node {
	if lambda == 0 || len(rows) == 0 {
		return nil
	}
	sum := rows[0].SumSq()
	for _, x := range rows[1:] {
		sum = sum.Add(x.SumSq())
	}
	return sum.Scale(lambda / 2 / count)
}
