package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// SoftTargets holds the target distributions of the rows of a softmax: row i has the weight On at its own classes and
// Rest at all others. The weights need not sum to one.
type SoftTargets struct {
	// Class holds classes. If Off is nil, row i has the one class Class[i]; otherwise it has Class[Off[i]:Off[i+1]],
	// all different.
	Class, Off []int32
	On, Rest   float64
}

// OneHot returns the targets of the usual cross-entropy: one class a row, negative for a row that does
// not count.
func OneHot(class []int32) SoftTargets { return SoftTargets{Class: class, On: 1} }

// of returns the classes of a row; none if it does not count.
func (q *SoftTargets) of(i int) []int32 {
	if q.Off != nil {
		return q.Class[q.Off[i]:q.Off[i+1]]
	}
	if q.Class[i] < 0 {
		return nil
	}
	return q.Class[i : i+1]
}

// at returns the index in Class of the row's first class.
func (q *SoftTargets) at(i int) int {
	if q.Off != nil {
		return int(q.Off[i])
	}
	return i
}

// check panics unless the targets are those of b rows and v classes.
func (q *SoftTargets) check(b, v int, in ...*Node) {
	const op = "tiedSoftmax"
	switch {
	case q.Off == nil && len(q.Class) != b:
		failf(op, in, "%d targets", len(q.Class))
	case q.Off != nil && len(q.Off) != b+1:
		failf(op, in, "targets of %d rows", len(q.Off)-1)
	case q.Off != nil:
		checkOffsets(op, in[1], q.Off, len(q.Class))
	}
	for i := range b {
		y := q.of(i)
		for k, c := range y {
			if c < 0 || int(c) >= v {
				failf(op, in, "target %d of row %d outside [0, %d)", c, i, v)
			}
			for _, d := range y[:k] {
				if c == d {
					failf(op, in, "target %d twice in row %d", c, i)
				}
			}
		}
	}
}

// tiedSoft holds the work of TiedSoftmax. It lives in a tied and is reused after Reset.
//
// Rows are taken in chunks, so that the exponentials of a chunk fit softBuffer. The gradients of a chunk are formed
// right after its losses, while the exponentials are there, for an upstream gradient of 1. That takes three products,
// and memory that does not grow with the rows. Backward then multiplies by the upstream gradient if it is not 1.
type tiedSoft struct {
	tiles
	bias     []tensor.Float
	q        SoftTargets
	zsum     []float64      // (nt, rows) sums of logits, where Rest is not 0
	top, sum []tensor.Float // (rows)
	logit    []tensor.Float // (len(Class))
	scale    float64        // 1 / number of rows that count
	db       []tensor.Float

	runForward, runBackward func(g, lo, hi int)
}

// TiedSoftmax returns the mean, over the rows that have a class, of
//
//	-Σ_v q_v log softmax(h·pᵀ + bias)_v
//
// for h (B, d), a table p (V, d), bias (1, V) or nil, and the weights q of the row. With OneHot(targets)
// it is the cross-entropy, with a small Rest the smoothed multi-label loss. The gradients of p and bias
// are dense. The mean over no rows is 0.
//
// No dense target is made. With Y the row's classes, z its logits and Q = Σ q = |Y|·On + (V-|Y|)·Rest,
// the loss of a row is
//
//	Q·log Σ exp z - (On-Rest)·Σ_{v in Y} z_v - Rest·Σ_v z_v
//
// and its gradient Q·softmax(z) - Rest, less On-Rest at Y. At most 64 MiB of logits exist at a time.
func (t *Tape) TiedSoftmax(h *Node, p, bias *Param, q SoftTargets) *Node {
	leaf := t.Use(p)
	var b *Node
	if bias != nil {
		b = t.Use(bias)
	}
	n, d, v := h.Rows(), h.Cols(), leaf.Rows()
	if d != leaf.Cols() || b != nil && (b.Rows() != 1 || b.Cols() != v) {
		fail("tiedSoftmax", "widths differ", h, leaf, b)
	}
	q.check(n, v, h, leaf)
	y := t.node("tiedSoftmax", 1, 1, h, leaf, b)
	c := t.tied().softmax()
	c.h, c.e, c.q, c.bias = h.V, leaf.V, q, nil
	if b != nil {
		c.bias = b.flat()
	}
	c.plan(t, n, y.need)
	counted := 0
	for i := range n {
		if len(q.of(i)) > 0 {
			counted++
		}
	}
	c.scale = 1 / max(1, float64(counted))
	c.dh, c.de, c.db, c.beta = tensor.Matrix{}, tensor.Matrix{}, nil, 0
	if y.need {
		if h.need {
			c.dh, c.part = t.Buffer(n, d), t.arena.take(tiedGroups*c.rows*d)
		}
		if leaf.need {
			c.de = t.Buffer(v, d)
			if n == 0 {
				clear(c.de.Data)
			}
		}
		if b != nil && b.need {
			c.db = t.BufferZero(1, v).Data
		}
	}
	var loss float64
	for r := 0; r < n; r += c.rows {
		c.r0, c.r1 = r, min(n, r+c.rows)
		loss += c.forward()
		if y.need {
			c.backChunk(t, c.runBackward)
		}
	}
	y.V.Data[0] = tensor.Float(loss * c.scale)
	if y.need {
		y.back = func() {
			up := y.G.Data[0]
			if h.need {
				t.giveTimes(h, c.dh, up)
			}
			if leaf.need {
				t.giveTimes(leaf, c.de, up)
			}
			if b != nil && b.need {
				t.giveTimes(b, tensor.From(1, v, c.db), up)
			}
		}
	}
	return y.checked()
}

// giveTimes multiplies g by s and adds it to the gradient of x.
func (t *Tape) giveTimes(x *Node, g tensor.Matrix, s tensor.Float) {
	if s != 1 {
		t.each(len(g.Data), 1, job{kernel: scaleKernel, dst: g.Data, a: g.Data, s: s})
	}
	x.give(g)
}

// softmax returns the part of the state that TiedSoftmax uses, made once.
func (c *tied) softmax() *tiedSoft {
	if c.soft == nil {
		s := &tiedSoft{}
		s.runForward, s.runBackward = s.forwardGroup, s.backwardGroup
		c.soft = s
	}
	return c.soft
}

// plan cuts the work by shape alone and takes the buffers.
func (c *tiedSoft) plan(t *Tape, b int, keep bool) {
	c.cut()
	c.kept = keep
	c.rows = c.chunk(b)
	c.take(t)
	c.top, c.sum = t.arena.take(c.rows), t.arena.take(c.rows)
	c.logit = t.arena.take(len(c.q.Class))
	if n := c.rows * c.nt; c.q.Rest != 0 && len(c.zsum) < n {
		c.zsum = make([]float64, n)
	}
}

// total returns Q, the sum of the weights of row i; 0 if it does not count.
func (c *tiedSoft) total(i int) float64 {
	n := float64(len(c.q.of(i)))
	if n == 0 {
		return 0
	}
	return n*c.q.On + (float64(c.e.Rows)-n)*c.q.Rest
}

// forward returns the sum of the chunk's losses. It leaves the factors between each tile and the whole in tmax, and the
// sums of exponentials in sum.
func (c *tiedSoft) forward() (loss float64) {
	n := c.r1 - c.r0
	tensor.Parallel(c.nt, c.group, c.runForward)
	top, sum := c.top[:n], c.sum[:n]
	c.merge(top, sum)
	for i := range n {
		r := c.r0 + i
		y := c.q.of(r)
		if len(y) == 0 {
			continue
		}
		row := c.total(r) * (math.Log(float64(sum[i])) + float64(top[i]))
		at := c.q.at(r)
		for _, z := range c.logit[at : at+len(y)] {
			row -= (c.q.On - c.q.Rest) * float64(z)
		}
		if c.q.Rest != 0 {
			all := 0.0
			for k := range c.nt {
				all += c.zsum[k*c.rows+i]
			}
			row -= c.q.Rest * all
		}
		loss += row
	}
	return loss
}

func (c *tiedSoft) forwardGroup(_, lo, hi int) {
	h := tensor.RowsView(c.h, c.r0, c.r1)
	for k := lo; k < hi; k++ {
		m, e, v0 := c.tileOf(k)
		beta := tensor.Float(0)
		if c.bias != nil {
			beta = 1
			for i := range m.Rows {
				copy(tensor.Row(m, i), c.bias[v0:])
			}
		}
		tensor.Gemm(false, true, 1, h, e, beta, m)
		for i := range m.Rows {
			row := tensor.Row(m, i)
			at := c.q.at(c.r0 + i)
			for j, y := range c.q.of(c.r0 + i) {
				if y := int(y) - v0; y >= 0 && y < len(row) {
					c.logit[at+j] = row[y]
				}
			}
			if c.q.Rest != 0 {
				c.zsum[k*c.rows+i] = tensor.Sum(row)
			}
			c.exp(k, i, row)
		}
	}
}

func (c *tiedSoft) backwardGroup(g, lo, hi int) {
	h := tensor.RowsView(c.h, c.r0, c.r1)
	rest, at := tensor.Float(c.scale*c.q.Rest), tensor.Float(c.scale*(c.q.On-c.q.Rest))
	for k := lo; k < hi; k++ {
		m, e, v0 := c.tileOf(k)
		for i := range m.Rows {
			row, y := tensor.Row(m, i), c.q.of(c.r0+i)
			if len(y) == 0 {
				clear(row)
				continue
			}
			tensor.Scale(tensor.Float(c.scale*c.total(c.r0+i))*c.tmax[k*c.rows+i]/c.sum[i], row)
			if rest != 0 {
				for j := range row {
					row[j] -= rest
				}
			}
			for _, y := range y {
				if y := int(y) - v0; y >= 0 && y < len(row) {
					row[y] -= at
				}
			}
		}
		c.give(g, k, lo, m, h, e)
		if c.db != nil {
			for i := range m.Rows {
				tensor.Add(c.db[v0:v0+m.Cols], tensor.Row(m, i))
			}
		}
	}
}
