package autograd

import "privrec/internal/tensor"

// GRUStatesBefore returns the states of a GRU cell like GRUStates, where the reset gate acts on the state and an open z
// takes the new one:
//
//	r, z = sigmoid(gi_rz + h·w_rzᵀ + b_rz), c = tanh(gi_c + (r ∘ h)·w_cᵀ + b_c), h' = h + z ∘ (c - h)
func (t *Tape) GRUStatesBefore(gi, w, b *Node, start []int) *Node {
	c := &gruBefore{gruStates: t.gruStates("gruStatesBefore", gi, w, b, start, 2*w.Cols())}
	c.reset, c.moved = t.Buffer(gi.Rows(), c.d), t.Buffer(gi.Rows(), c.d)
	c.pack(true)
	c.run(c.forward, c.backward)
	return c.y.checked()
}

// gruBefore computes GRUStatesBefore.
type gruBefore struct {
	gruStates
	reset, moved tensor.Matrix // r ∘ h, from the second step on, and c - h (N, d)
	rz, cand     operand       // w_rz and w_c in the direction of the pass

	dgates, dh, dreset, spare tensor.Matrix // gradients: of the gates (N, 3d), and of a step's h and r ∘ h
}

// pack lays out w, transposed for the states and not for their gradients.
func (c *gruBefore) pack(transposed bool) {
	c.rz = c.operand(tensor.RowsView(c.w.V, 0, 2*c.d), transposed)
	c.cand = c.operand(tensor.RowsView(c.w.V, 2*c.d, 3*c.d), transposed)
}

// forward computes the states of sequences lo to end.
func (c *gruBefore) forward(lo, end int) {
	d := c.d
	for p := range c.steps() {
		hi := min(end, c.width(p))
		if hi <= lo {
			return
		}
		h, gi, gates := c.before(p, lo, hi), c.at(c.gi.V, p, lo, hi), c.at(c.gates, p, lo, hi)
		reset, moved, y := c.at(c.reset, p, lo, hi), c.at(c.moved, p, lo, hi), c.at(c.y.V, p, lo, hi)
		for i := range gates.Rows {
			copy(tensor.Row(gates, i), c.b.V.Data)
		}
		if p > 0 {
			c.rz.mul(h, true, tensor.ColsView(gates, 0, 2*d))
		}
		for i := range gates.Rows {
			rz := tensor.Row(gates, i)[:2*d]
			tensor.SumTo(rz, tensor.Row(gi, i)[:2*d], rz)
			tensor.Sigmoid(rz, rz)
			if p > 0 {
				tensor.Mul(tensor.Row(reset, i), rz[:d], tensor.Row(h, i))
			}
		}
		if p > 0 {
			c.cand.mul(reset, true, tensor.ColsView(gates, 2*d, 3*d))
		}
		for i := range gates.Rows {
			row, m, out := tensor.Row(gates, i), tensor.Row(moved, i), tensor.Row(y, i)
			z, cand := row[d:2*d], row[2*d:]
			tensor.SumTo(cand, tensor.Row(gi, i)[2*d:], cand)
			tensor.Tanh(cand, cand)
			copy(m, cand)
			tensor.Axpy(-1, tensor.Row(h, i), m)
			tensor.Mul(out, z, m)
			tensor.SumTo(out, tensor.Row(h, i), out)
		}
	}
}

func (c *gruBefore) backward() {
	d, n := c.d, c.width(0)
	c.dgates = c.t.Buffer(c.y.Rows(), 3*d)
	c.dh, c.dreset, c.spare = c.t.Buffer(n, d), c.t.Buffer(n, d), c.t.Buffer(n, d)
	c.pack(false)
	c.each(c.back)
	if c.w.need {
		to, step := c.w.accZero(), c.t.Buffer(3*d, d)
		for p := c.steps() - 1; p > 0; p-- {
			m := c.width(p)
			g := c.at(c.dgates, p, 0, m)
			tensor.Gemm(true, false, 1, tensor.ColsView(g, 0, 2*d), c.before(p, 0, m), 0, tensor.RowsView(step, 0, 2*d))
			tensor.Gemm(true, false, 1, tensor.ColsView(g, 2*d, 3*d), c.at(c.reset, p, 0, m), 0,
				tensor.RowsView(step, 2*d, 3*d))
			tensor.Add(to.Data, step.Data)
		}
	}
	if c.b.need {
		to, step := c.b.accZero(), c.t.Buffer(1, 3*d)
		for p := c.steps() - 1; p >= 0; p-- {
			clear(step.Data)
			c.t.addSums(step.Data, c.at(c.dgates, p, 0, c.width(p)))
			tensor.Add(to.Data, step.Data)
		}
	}
	if c.gi.need {
		c.gi.give(c.dgates)
	}
}

// back writes the rows of dgates of sequences lo to end. It adds to the gradients of earlier states.
func (c *gruBefore) back(lo, end int) {
	d := c.d
	for p := c.steps() - 1; p >= 0; p-- {
		hi := min(end, c.width(p))
		if hi <= lo {
			continue
		}
		h, gates, g := c.before(p, lo, hi), c.at(c.gates, p, lo, hi), c.at(c.dgates, p, lo, hi)
		moved, dy := c.at(c.moved, p, lo, hi), c.at(c.y.G, p, lo, hi)
		dh, dreset, spare := tensor.RowsView(c.dh, lo, hi), tensor.RowsView(c.dreset, lo, hi),
			tensor.RowsView(c.spare, lo, hi)
		for i := range g.Rows {
			s, to, up := tensor.Row(gates, i), tensor.Row(g, i), tensor.Row(dy, i)
			tensor.Mul(to[d:2*d], up, tensor.Row(moved, i))
			tensor.Mul(to[2*d:], up, s[d:2*d])
			copy(tensor.Row(dh, i), up)
			tensor.Axpy(-1, to[2*d:], tensor.Row(dh, i))
			tanhBack(to[2*d:], to[2*d:], s[2*d:])
			clear(to[:d])
		}
		if p > 0 {
			c.cand.mul(tensor.ColsView(g, 2*d, 3*d), false, dreset)
			for i := range g.Rows {
				back, of := tensor.Row(dreset, i), tensor.Row(spare, i)
				tensor.Mul(tensor.Row(g, i)[:d], back, tensor.Row(h, i))
				tensor.Mul(of, back, tensor.Row(gates, i)[:d])
				tensor.Add(tensor.Row(dh, i), of)
			}
		}
		for i := range g.Rows {
			to := tensor.Row(g, i)[:2*d]
			sigmoidBack(to, to, tensor.Row(gates, i)[:2*d])
		}
		if p == 0 {
			return
		}
		c.rz.mul(tensor.ColsView(g, 0, 2*d), true, dh)
		for i := range g.Rows {
			tensor.Add(tensor.Row(c.at(c.y.G, p-1, lo, hi), i), tensor.Row(dh, i))
		}
	}
}
