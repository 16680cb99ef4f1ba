package dasl

import (
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// reading holds the states of one history and the attention energy of each.
type reading struct {
	states, energy *autograd.Node // (w*b, d), (w*b, 1), step by step
	ids            []int32        // 0 where there was padding
	summed         bool           // the states are part of the sum
}

// energies returns e = v·tanh(W s + b) of every state s (w*b, 1).
func (s *side) energies(t *autograd.Tape, states *autograd.Node) *autograd.Node {
	return s.attend.Forward(t, states).Tanh().MatMulT(t.Use(s.query)) // (w*b, 1)
}

// pool returns p (b, d): factor times the sum of the summed readings' states, weighted by the
// softmax of all energies of a sample. With mask, padding has weight 0, and p of a sample
// with nothing else is 0.
func pool(t *autograd.Tape, b int, factor float64, mask bool, readings ...reading) *autograd.Node {
	d := readings[0].states.Cols()
	var operands []*autograd.Node
	rows := 0
	for _, r := range readings {
		operands = append(operands, r.states, r.energy)
		rows += r.states.Rows()
	}
	y := t.Fused("daslPool", b, d, operands...)
	alpha := t.Buffer(b, rows/b) // by sample, reading after reading
	each := func(i int, f func(j, row int, r *reading)) {
		j := 0
		for n := range readings {
			r := &readings[n]
			for row := i; row < r.states.Rows(); row += b {
				f(j, row, r)
				j++
			}
		}
	}
	grain := max(1, 1024/max(1, d))
	tensor.Parallel(b, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			a, out := tensor.Row(alpha, i), tensor.Row(y.V, i)
			clear(out)
			top := math.Inf(-1)
			each(i, func(_, row int, r *reading) {
				if !mask || r.ids[row] != 0 {
					top = max(top, float64(r.energy.V.Data[row]))
				}
			})
			sum := 0.0
			each(i, func(j, row int, r *reading) {
				e := 0.0
				if !mask || r.ids[row] != 0 {
					e = math.Exp(float64(r.energy.V.Data[row]) - top)
				}
				a[j] = tensor.Float(e)
				sum += e
			})
			if sum == 0 {
				continue
			}
			tensor.Scale(tensor.Float(1/sum), a)
			each(i, func(j, row int, r *reading) {
				if r.summed {
					tensor.Axpy(a[j]*tensor.Float(factor), tensor.Row(r.states.V, row), out)
				}
			})
		}
	})
	return t.Custom("daslPool", y, func() {
		grads := make(map[*autograd.Node]tensor.Matrix, len(operands))
		for _, o := range operands {
			if o.Needs() {
				grads[o] = o.AddGrad()
			}
		}
		tensor.Parallel(b, grain, func(_, lo, hi int) {
			da := make([]tensor.Float, alpha.Cols)
			for i := lo; i < hi; i++ {
				a, g := tensor.Row(alpha, i), tensor.Row(y.G, i)
				mean := tensor.Float(0)
				each(i, func(j, row int, r *reading) {
					da[j] = 0
					if r.summed {
						da[j] = tensor.Float(factor) * tensor.Dot(g, tensor.Row(r.states.V, row))
					}
					mean += a[j] * da[j]
				})
				each(i, func(j, row int, r *reading) {
					if ds, ok := grads[r.states]; ok && r.summed {
						tensor.Axpy(a[j]*tensor.Float(factor), g, tensor.Row(ds, row))
					}
					if de, ok := grads[r.energy]; ok {
						de.Data[row] += a[j] * (da[j] - mean)
					}
				})
			}
		})
	})
}
