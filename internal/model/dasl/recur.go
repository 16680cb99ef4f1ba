package dasl

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// read returns the states of a unit over windows (w*b, d), step by step: rows t*b to t*b+b-1 are the states after step
// t. items (w*b, d/2) and ids are laid out in the same way, user is (b, d/2). If mask is set, an id of 0 leaves the
// state unchanged.
func (u *unit) read(t *autograd.Tape, items, user *autograd.Node, ids []int32, mask bool) *autograd.Node {
	v := user.Linear(t.Use(u.user), t.Use(u.bias))                      // (b, 3d)
	return recur(t, items, t.Use(u.item), v, t.Use(u.state), ids, mask) // (w*b, d)
}

// recurrence holds one call of recur.
type recurrence struct {
	x, w, v, u, y *autograd.Node
	ids           []int32
	mask          bool
	b, d          int
	s             tensor.Matrix // r, z, c of all steps (w*b, 3d)
	rs            tensor.Matrix // r times the state before, from the second step on (w*b, d)
	zero          tensor.Matrix // the state before the first step (b, d)
}

// weights holds the weights of a recurrence as right operands: of the items, of r and z, of c.
type weights struct{ item, gates, cand tensor.Packed }

// scratch holds rows of gradients during one backward step: of the state after it and before it, and of r times the
// state before it.
type scratch struct{ after, before, reset tensor.Matrix }

// rows returns rows lo to hi of all.
func (s scratch) rows(lo, hi int) scratch {
	return scratch{tensor.RowsView(s.after, lo, hi), tensor.RowsView(s.before, lo, hi),
		tensor.RowsView(s.reset, lo, hi)}
}

// recur returns the states of the recurrence
//
//	r, z = sigmoid(W x + v + U s), c = tanh(W x + v + U (r s)), s' = z s + (1-z) c
//
// over items x (w*b, d/2) of the steps and v (b, 3d) of all steps, from state 0. w is (3d, d/2), u is (3d, d). A core
// takes some samples through all steps, so it waits for no other, and the results of a step are in its cache when the
// next one reads them.
func recur(t *autograd.Tape, x, w, v, u *autograd.Node, ids []int32, mask bool) *autograd.Node {
	b, d := v.Rows(), u.Cols()
	c := &recurrence{x: x, w: w, v: v, u: u, ids: ids, mask: mask, b: b, d: d,
		y: t.Fused("daslRecur", x.Rows(), d, x, w, v, u),
		s: t.Buffer(x.Rows(), 3*d), rs: t.Buffer(x.Rows(), d), zero: t.BufferZero(b, d)}
	right := c.weights(t, true)
	tensor.Parallel(b, recurGrain, func(_, lo, hi int) { c.forward(lo, hi, right) })
	return t.Custom("daslRecur", c.y, func() { c.backward(t) })
}

// recurGrain is the number of samples that a core processes at a time.
const recurGrain = 32

// weights returns W and U packed, transposed or not.
func (c *recurrence) weights(t *autograd.Tape, transposed bool) weights {
	pack := func(m tensor.Matrix) tensor.Packed {
		k, n := m.Rows, m.Cols
		if transposed {
			k, n = n, k
		}
		return tensor.Pack(t.Buffer(1, tensor.PackedSize(k, n)).Data, transposed, m)
	}
	u, d := c.u.V, c.d
	return weights{pack(c.w.V), pack(tensor.RowsView(u, 0, 2*d)), pack(tensor.RowsView(u, 2*d, 3*d))}
}

// at returns the rows of samples lo to hi after step k.
func (c *recurrence) at(m tensor.Matrix, k, lo, hi int) tensor.Matrix {
	return tensor.RowsView(m, k*c.b+lo, k*c.b+hi)
}

// before returns the states of samples lo to hi before step k.
func (c *recurrence) before(k, lo, hi int) tensor.Matrix {
	if k == 0 {
		return tensor.RowsView(c.zero, lo, hi)
	}
	return c.at(c.y.V, k-1, lo, hi)
}

func (c *recurrence) stays(k, i int) bool { return c.mask && c.ids[k*c.b+i] == 0 }

// forward computes the states of samples lo to hi.
func (c *recurrence) forward(lo, hi int, right weights) {
	b, d := c.b, c.d
	for k := range c.x.Rows() / b {
		h, now, rs := c.before(k, lo, hi), c.at(c.s, k, lo, hi), c.at(c.rs, k, lo, hi)
		right.item.Mul(c.at(c.x.V, k, lo, hi), false, now)
		for i := lo; i < hi; i++ {
			tensor.Add(tensor.Row(now, i-lo), tensor.Row(c.v.V, i))
		}
		if k > 0 {
			right.gates.Mul(h, true, tensor.ColsView(now, 0, 2*d))
		}
		for i := range now.Rows {
			row := tensor.Row(now, i)[:2*d]
			tensor.Sigmoid(row, row)
			if k > 0 {
				tensor.Mul(tensor.Row(rs, i), row[:d], tensor.Row(h, i))
			}
		}
		if k > 0 {
			right.cand.Mul(rs, true, tensor.ColsView(now, 2*d, 3*d))
		}
		for i := lo; i < hi; i++ {
			row, out, old := tensor.Row(now, i-lo), tensor.Row(c.y.V, k*b+i), tensor.Row(h, i-lo)
			z, candidate := row[d:2*d], row[2*d:]
			tensor.Tanh(candidate, candidate)
			if c.stays(k, i) {
				copy(out, old)
			} else {
				tensor.Blend(out, old, candidate, z)
			}
		}
	}
}

func (c *recurrence) backward(t *autograd.Tape) {
	x, w, v, u, b, d, n := c.x, c.w, c.v, c.u, c.b, c.d, c.x.Rows()
	ds := t.Buffer(n, 3*d)
	var dx, dv tensor.Matrix
	if x.Needs() {
		dx = t.Buffer(n, x.Cols())
	}
	if v.Needs() {
		dv = v.AddGrad()
	}
	right, space := c.weights(t, false), scratch{t.BufferZero(b, d), t.Buffer(b, d), t.Buffer(b, d)}
	near := dx
	if 3*d >= uncut {
		near = tensor.Matrix{}
	}
	tensor.Parallel(b, recurGrain, func(_, lo, hi int) {
		c.back(lo, hi, right, ds, near, space.rows(lo, hi))
		for i := lo; i < hi && dv.Data != nil; i++ {
			for k := range n / b {
				tensor.Add(tensor.Row(dv, i), tensor.Row(ds, k*b+i))
			}
		}
	})
	if u.Needs() && n > b {
		g := u.AddGrad()
		late := tensor.RowsView(ds, b, n)
		tensor.Gemm(true, false, 1, tensor.ColsView(late, 0, 2*d), tensor.RowsView(c.y.V, 0, n-b), 1,
			tensor.RowsView(g, 0, 2*d))
		tensor.Gemm(true, false, 1, tensor.ColsView(late, 2*d, 3*d), tensor.RowsView(c.rs, b, n), 1,
			tensor.RowsView(g, 2*d, 3*d))
	}
	if w.Needs() {
		tensor.Gemm(true, false, 1, ds, x.V, 1, w.AddGrad())
	}
	if x.Needs() {
		if near.Data == nil {
			tensor.Gemm(false, false, 1, ds, w.V, 0, dx)
		}
		x.GiveGrad(dx)
	}
}

// uncut is the least inner dimension that Gemm may cut, which would give other bits than a packed product.
const uncut = 1024

// back computes the rows of ds and, if that has any, of dx for samples lo to hi. s.after is 0.
func (c *recurrence) back(lo, hi int, right weights, ds, dx tensor.Matrix, s scratch) {
	d := c.d
	for k := c.x.Rows()/c.b - 1; k >= 0; k-- {
		h, now, dnow, dy := c.before(k, lo, hi), c.at(c.s, k, lo, hi), c.at(ds, k, lo, hi), c.at(c.y.G, k, lo, hi)
		for i := range hi - lo {
			row, out, before := tensor.Row(now, i), tensor.Row(dnow, i), tensor.Row(s.before, i)
			if c.stays(k, lo+i) {
				clear(out)
				tensor.SumTo(before, tensor.Row(s.after, i), tensor.Row(dy, i))
			} else {
				tensor.KeepBack(tensor.Row(dy, i), tensor.Row(s.after, i), tensor.Row(h, i), row[d:2*d], row[2*d:],
					out[d:2*d], out[2*d:], before)
			}
		}
		if k > 0 {
			right.cand.Mul(tensor.ColsView(dnow, 2*d, 3*d), false, s.reset)
			for i := range hi - lo {
				if !c.stays(k, lo+i) {
					tensor.ResetBack(tensor.Row(s.reset, i), tensor.Row(h, i), tensor.Row(now, i)[:d],
						tensor.Row(dnow, i)[:d], tensor.Row(s.before, i))
				}
			}
			right.gates.Mul(tensor.ColsView(dnow, 0, 2*d), true, s.before)
			s.after, s.before = s.before, s.after
		} else { // the state before is 0: nothing comes of r
			for i := range hi - lo {
				clear(tensor.Row(dnow, i)[:d])
			}
		}
		if dx.Data != nil {
			right.item.Mul(dnow, false, c.at(dx, k, lo, hi))
		}
	}
}
