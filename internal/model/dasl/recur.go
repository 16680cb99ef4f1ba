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

// recurrence is one call of recur.
type recurrence struct {
	x, v, u, y *autograd.Node
	ids        []int32
	mask       bool
	b, d       int
	s          tensor.Matrix // r, z, c of all steps (w*b, 3d)
	rs         tensor.Matrix // r times the state before, from the second step on (w*b, d)
	zero       tensor.Matrix // the state before the first step (b, d)
}

// recur runs the recurrence
//
//	r, z = sigmoid(x + v + U s), c = tanh(x + v + U (r s)), s' = z s + (1-z) c
//
// over pre-activations x (w*b, 3d) of the steps and v (b, 3d) of all steps, from state 0.
// u is (3d, d). A core takes some samples through all steps, so that it waits for no other.
func recur(t *autograd.Tape, x, v, u *autograd.Node, ids []int32, mask bool) *autograd.Node {
	b, d := v.Rows(), u.Cols()
	c := &recurrence{x: x, v: v, u: u, ids: ids, mask: mask, b: b, d: d, y: t.Fused("daslRecur", x.Rows(), d, x, v, u),
		s: t.Buffer(x.Rows(), 3*d), rs: t.Buffer(x.Rows(), d), zero: t.BufferZero(b, d)}
	gates, cand := c.weights(t, true)
	tensor.Parallel(b, recurGrain, func(_, lo, hi int) { c.forward(lo, hi, gates, cand) })
	return t.Custom("daslRecur", c.y, func() { c.backward(t) })
}

// recurGrain is how many samples a core takes at a time.
const recurGrain = 32

// weights returns U of the gates r and z and that of the candidate, transposed or not.
func (c *recurrence) weights(t *autograd.Tape, transposed bool) (gates, cand tensor.Packed) {
	pack := func(lo, hi int) tensor.Packed {
		k, n := hi-lo, c.d
		if transposed {
			k, n = n, k
		}
		return tensor.Pack(t.Buffer(1, tensor.PackedSize(k, n)).Data, transposed, tensor.RowsView(c.u.V, lo, hi))
	}
	return pack(0, 2*c.d), pack(2*c.d, 3*c.d)
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

// forward runs samples lo to hi.
func (c *recurrence) forward(lo, hi int, gates, cand tensor.Packed) {
	b, d := c.b, c.d
	for k := range c.x.Rows() / b {
		h, now, rs := c.before(k, lo, hi), c.at(c.s, k, lo, hi), c.at(c.rs, k, lo, hi)
		for i := lo; i < hi; i++ {
			tensor.SumTo(tensor.Row(now, i-lo), tensor.Row(c.x.V, k*b+i), tensor.Row(c.v.V, i))
		}
		if k > 0 {
			gates.Mul(h, true, tensor.ColsView(now, 0, 2*d))
		}
		for i := range now.Rows {
			row := tensor.Row(now, i)[:2*d]
			tensor.Sigmoid(row, row)
			if k > 0 {
				tensor.Mul(tensor.Row(rs, i), row[:d], tensor.Row(h, i))
			}
		}
		if k > 0 {
			cand.Mul(rs, true, tensor.ColsView(now, 2*d, 3*d))
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
	x, v, u, b, d, n := c.x, c.v, c.u, c.b, c.d, c.x.Rows()
	ds := t.Buffer(n, 3*d)
	var dv tensor.Matrix
	if v.Needs() {
		dv = v.AddGrad()
	}
	gates, cand := c.weights(t, false)
	dh, next, drs := t.BufferZero(b, d), t.Buffer(b, d), t.Buffer(b, d)
	tensor.Parallel(b, recurGrain, func(_, lo, hi int) {
		c.back(lo, hi, gates, cand, ds, tensor.RowsView(dh, lo, hi), tensor.RowsView(next, lo, hi), tensor.RowsView(drs, lo, hi))
		for i := lo; i < hi && dv.Data != nil; i++ {
			for k := range n / b {
				tensor.Add(tensor.Row(dv, i), tensor.Row(ds, k*b+i))
			}
		}
	})
	if u.Needs() && n > b {
		g := u.AddGrad()
		late := tensor.RowsView(ds, b, n)
		tensor.Gemm(true, false, 1, tensor.ColsView(late, 0, 2*d), tensor.RowsView(c.y.V, 0, n-b), 1, tensor.RowsView(g, 0, 2*d))
		tensor.Gemm(true, false, 1, tensor.ColsView(late, 2*d, 3*d), tensor.RowsView(c.rs, b, n), 1, tensor.RowsView(g, 2*d, 3*d))
	}
	if x.Needs() {
		x.GiveGrad(ds)
	}
}

// back fills the rows of ds of samples lo to hi. dh is 0; next and drs are scratch of as many rows.
func (c *recurrence) back(lo, hi int, gates, cand tensor.Packed, ds, dh, next, drs tensor.Matrix) {
	d := c.d
	for k := c.x.Rows()/c.b - 1; k >= 0; k-- {
		h, now, dnow, dy := c.before(k, lo, hi), c.at(c.s, k, lo, hi), c.at(ds, k, lo, hi), c.at(c.y.G, k, lo, hi)
		for i := range hi - lo {
			row, out, back := tensor.Row(now, i), tensor.Row(dnow, i), tensor.Row(next, i)
			if c.stays(k, lo+i) {
				clear(out)
				tensor.SumTo(back, tensor.Row(dh, i), tensor.Row(dy, i))
			} else {
				tensor.KeepBack(tensor.Row(dy, i), tensor.Row(dh, i), tensor.Row(h, i), row[d:2*d], row[2*d:], out[d:2*d], out[2*d:], back)
			}
		}
		if k == 0 {
			for i := range hi - lo { // the state before is 0: nothing comes of r
				clear(tensor.Row(dnow, i)[:d])
			}
			return
		}
		cand.Mul(tensor.ColsView(dnow, 2*d, 3*d), false, drs)
		for i := range hi - lo {
			if !c.stays(k, lo+i) {
				tensor.ResetBack(tensor.Row(drs, i), tensor.Row(h, i), tensor.Row(now, i)[:d], tensor.Row(dnow, i)[:d], tensor.Row(next, i))
			}
		}
		gates.Mul(tensor.ColsView(dnow, 0, 2*d), true, next)
		dh, next = next, dh
	}
}
