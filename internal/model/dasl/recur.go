package dasl

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// read returns the states of a unit over windows (w*b, d), step by step: rows t*b to
// t*b+b-1 are the states after step t. items (w*b, d/2) and ids are laid out in the same
// way, user is (b, d/2). Where mask is set and an id is 0, the state stays.
func (u *unit) read(t *autograd.Tape, items, user *autograd.Node, ids []int32, mask bool) *autograd.Node {
	x := items.Linear(t.Use(u.item), nil)            // (w*b, 3d)
	v := user.Linear(t.Use(u.user), t.Use(u.bias))   // (b, 3d)
	return recur(t, x, v, t.Use(u.state), ids, mask) // (w*b, d)
}

// recur runs the recurrence
//
//	r, z = sigmoid(x + v + U s), c = tanh(x + v + U (r s)), s' = z s + (1-z) c
//
// over pre-activations x (w*b, 3d) of the steps and v (b, 3d) of all steps, from state 0.
// u is (3d, d).
func recur(t *autograd.Tape, x, v, u *autograd.Node, ids []int32, mask bool) *autograd.Node {
	b, d := v.Rows(), u.Cols()
	steps := x.Rows() / b
	y := t.Fused("daslRecur", x.Rows(), d, x, v, u)
	s := t.Buffer(x.Rows(), 3*d)    // r, z, c
	rs := t.BufferZero(x.Rows(), d) // r times the state before
	zero := t.BufferZero(b, d)
	gates, cand := tensor.RowsView(u.V, 0, 2*d), tensor.RowsView(u.V, 2*d, 3*d)
	before := func(k int) tensor.Matrix {
		if k == 0 {
			return zero
		}
		return tensor.RowsView(y.V, (k-1)*b, k*b)
	}
	stays := func(k, i int) bool { return mask && ids[k*b+i] == 0 }
	grain := max(1, 2048/max(1, d))
	for k := range steps {
		h, now := before(k), tensor.RowsView(s, k*b, (k+1)*b)
		tensor.Parallel(b, grain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				row := tensor.Row(now, i)
				copy(row, tensor.Row(x.V, k*b+i))
				tensor.Add(row, tensor.Row(v.V, i))
			}
		})
		if k > 0 {
			tensor.Gemm(false, true, 1, h, gates, 1, tensor.ColsView(now, 0, 2*d))
		}
		tensor.Parallel(b, grain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				row := tensor.Row(now, i)[:2*d]
				tensor.Sigmoid(row, row)
				tensor.Mul(tensor.Row(rs, k*b+i), row[:d], tensor.Row(h, i))
			}
		})
		if k > 0 {
			tensor.Gemm(false, true, 1, tensor.RowsView(rs, k*b, (k+1)*b), cand, 1, tensor.ColsView(now, 2*d, 3*d))
		}
		tensor.Parallel(b, grain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				row, out, old := tensor.Row(now, i), tensor.Row(y.V, k*b+i), tensor.Row(h, i)
				z, c := row[d:2*d], row[2*d:]
				tensor.Tanh(c, c)
				if stays(k, i) {
					copy(out, old)
					continue
				}
				copy(out, old)
				tensor.Axpy(-1, c, out)
				tensor.Mul(out, out, z)
				tensor.Add(out, c)
			}
		})
	}
	return t.Custom("daslRecur", y, func() {
		ds := t.Buffer(x.Rows(), 3*d)
		ones := t.Buffer(1, d).Data
		for j := range ones {
			ones[j] = 1
		}
		dh, next, drs := t.BufferZero(b, d), t.Buffer(b, d), t.Buffer(b, d)
		for k := steps - 1; k >= 0; k-- {
			h, now, dnow := before(k), tensor.RowsView(s, k*b, (k+1)*b), tensor.RowsView(ds, k*b, (k+1)*b)
			tensor.Parallel(b, grain, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					g, old, row, out, back := tensor.Row(dh, i), tensor.Row(h, i), tensor.Row(now, i), tensor.Row(dnow, i), tensor.Row(next, i)
					tensor.Add(g, tensor.Row(y.G, k*b+i))
					if stays(k, i) {
						clear(out)
						copy(back, g)
						continue
					}
					z, c, shut, dz, dc := row[d:2*d], row[2*d:], out[:d], out[d:2*d], out[2*d:]
					tensor.ScaleTo(-1, shut, z)
					tensor.Add(shut, ones) // 1-z
					tensor.ScaleTo(-1, dz, c)
					tensor.Add(dz, old)
					tensor.Mul(dz, dz, g)
					tensor.Mul(dz, dz, z)
					tensor.Mul(dz, dz, shut) // g (old-c) z (1-z)
					tensor.Mul(back, c, c)
					tensor.ScaleTo(-1, dc, back)
					tensor.Add(dc, ones)
					tensor.Mul(shut, shut, g)
					tensor.Mul(dc, dc, shut) // g (1-z) (1-c c)
					tensor.Mul(back, g, z)
				}
			})
			if k == 0 {
				for i := range b { // the state before is 0: nothing comes of r
					clear(tensor.Row(dnow, i)[:d])
				}
				break
			}
			tensor.Gemm(false, false, 1, tensor.ColsView(dnow, 2*d, 3*d), cand, 0, drs)
			tensor.Parallel(b, grain, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					if stays(k, i) {
						continue
					}
					old, r, g, dr, back := tensor.Row(h, i), tensor.Row(now, i)[:d], tensor.Row(drs, i), tensor.Row(dnow, i)[:d], tensor.Row(next, i)
					tensor.Mul(dr, g, old)
					tensor.Mul(dr, dr, r)
					tensor.Mul(g, g, r)
					tensor.Add(back, g)
					tensor.ScaleTo(-1, g, r)
					tensor.Add(g, ones)
					tensor.Mul(dr, dr, g) // g old r (1-r)
				}
			})
			tensor.Gemm(false, false, 1, tensor.ColsView(dnow, 0, 2*d), gates, 1, next)
			dh, next = next, dh
		}
		if n := x.Rows(); u.Needs() && steps > 1 {
			g := u.AddGrad()
			late := tensor.RowsView(ds, b, n)
			tensor.Gemm(true, false, 1, tensor.ColsView(late, 0, 2*d), tensor.RowsView(y.V, 0, n-b), 1, tensor.RowsView(g, 0, 2*d))
			tensor.Gemm(true, false, 1, tensor.ColsView(late, 2*d, 3*d), tensor.RowsView(rs, b, n), 1, tensor.RowsView(g, 2*d, 3*d))
		}
		if v.Needs() {
			g := v.AddGrad()
			tensor.Parallel(b, grain, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					for k := range steps {
						tensor.Add(tensor.Row(g, i), tensor.Row(ds, k*b+i))
					}
				}
			})
		}
		if x.Needs() {
			x.GiveGrad(ds)
		}
	})
}
