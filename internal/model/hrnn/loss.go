package hrnn

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Loss returns eq. 6 for the rows of session (n, d), whose next items are targets (1, 1).
func (m *Model) Loss(t *autograd.Tape, session *autograd.Node, targets []int32) *autograd.Node {
	return TOP1(t, m.Scores(t, session, targets).Tanh())
}

// TOP1 returns eq. 6 of a square matrix y (n, n) as a scalar (1, 1), where y_ij is the score that row i gives to the
// target of row j. The terms with j = i are a constant, sigmoid(0)/n, so the loss is over the other items. Its
// gradient, with σ' = σ (1 - σ):
//
//	dL/dy_ij = (σ'(y_ij - y_ii) + 2 y_ij σ'(y_ij²))/n²  for j ≠ i
//	dL/dy_ii = -sum over j ≠ i of σ'(y_ij - y_ii)/n²
func TOP1(t *autograd.Tape, y *autograd.Node) *autograd.Node {
	n := y.Rows()
	loss := t.Fused("top1", 1, 1, y)
	sum := 0.0
	for i := range n {
		row := tensor.Row(y.V, i)
		own := float64(row[i])
		for j, v := range row {
			if j == i {
				sum += 0.5
				continue
			}
			x := float64(v)
			sum += sigmoid(x-own) + sigmoid(x*x)
		}
	}
	by := 1 / float64(n*n)
	loss.V.Data[0] = tensor.Float(sum * by)
	return t.Custom("top1", loss, func() {
		g, up := y.AddGrad(), float64(loss.G.Data[0])*by
		for i := range n {
			row, to := tensor.Row(y.V, i), tensor.Row(g, i)
			own, back := float64(row[i]), 0.0
			for j, v := range row {
				if j == i {
					continue
				}
				x := float64(v)
				a, b := sigmoid(x-own), sigmoid(x*x)
				a, b = a*(1-a), 2*x*b*(1-b)
				to[j] += tensor.Float(up * (a + b))
				back += a
			}
			to[i] -= tensor.Float(up * back)
		}
	})
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
