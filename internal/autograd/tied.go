package autograd

import (
	"math"

	"privrec/internal/tensor"
)

const tiedChunk = 256 // rows at a time in an evaluation

// tiedBuffer is the largest number of exponentials kept: 128 MiB in float32. A variable for its test.
var tiedBuffer = 1 << 25

// tiedNear is the number of exponentials from which the backward pass only reads them: overwriting would send them to
// memory once more. A variable for its test.
var tiedNear = 1 << 21

// tied computes a softmax cross-entropy against the rows of a table, tile by tile. It lives on the tape and is reused
// after Reset without an allocation.
//
// Backward turns a tile into probabilities times the upstream gradient, and subtracts the targets. If the exponentials
// of all rows fit tiedBuffer they are kept in between, and rescaled. Otherwise the rows are cut into chunks, and the
// gradients of a chunk are formed right after its losses, as TiedSoftmax does. Either takes three products.
type tied struct {
	tiles
	now     bool    // gradients are formed on the way forward, for an upstream gradient of 1
	targets []int32 // rows of the table
	lo      int
	top     []tensor.Float // (B) maximum over tiles
	inv     []tensor.Float // (B) 1/Σ exp(logit - top)
	logit   []tensor.Float // (B) of the target
	sum     []tensor.Float // (rows)
	scale   tensor.Float   // upstream gradient over B
	table   tensor.Matrix  // the gradient of the whole table; empty where none is formed
	near    []tensor.Float // (groups, rows, tile) where probabilities are formed; nil: over the exponentials

	runForward, runBackward func(g, lo, hi int)

	soft *tiedSoft // what TiedSoftmax needs in its place
}

// TiedCrossEntropy returns the mean over rows of the softmax cross-entropy of h·p[lo:]ᵀ, for h (B, d)
// and a table p that has the classes in its rows from lo on. targets are row numbers of the table,
// lo <= target < rows: with lo = 1 they are the item numbers of a table that has padding in row 0. At
// most 128 MiB of exponentials exist at a time, and in an evaluation one tile a group. The gradient of
// p is dense and written once. The mean over no rows is 0.
func (t *Tape) TiedCrossEntropy(h *Node, p *Param, lo int, targets []int32) *Node {
	leaf := t.Use(p)
	b, d := h.Rows(), h.Cols()
	if d != leaf.Cols() || lo < 0 || lo >= leaf.Rows() {
		failf("tiedCrossEntropy", []*Node{h, leaf}, "widths differ, or no class from row %d on", lo)
	}
	if len(targets) != b {
		failf("tiedCrossEntropy", []*Node{h, leaf}, "%d targets", len(targets))
	}
	for i, k := range targets {
		if int(k) < lo || int(k) >= leaf.Rows() {
			failf("tiedCrossEntropy", []*Node{h, leaf}, "target %d at position %d outside [%d, %d)", k, i, lo,
				leaf.Rows())
		}
	}
	y := t.node("tiedCrossEntropy", 1, 1, h, leaf)
	c := t.tied()
	c.h, c.e = h.V, tensor.RowsView(leaf.V, lo, leaf.Rows())
	c.targets, c.lo = targets, lo
	c.plan(t, b, y.need)
	mean := 1 / max(1, float64(b))
	if c.now {
		c.keepable(leaf)
		c.gradients(t, h, leaf, tensor.Float(mean))
	}
	var loss float64
	for r := 0; r < b; r += c.rows {
		loss += c.forward(r)
		if c.now {
			c.backChunk(t, c.runBackward)
		}
	}
	y.V.Data[0] = tensor.Float(loss * mean)
	if y.need {
		y.back = func() { c.backward(t, h, leaf, mean, y.G.Data[0]) }
	}
	return y.checked()
}

// tied returns an unused state.
func (t *Tape) tied() *tied {
	if t.nTied == len(t.tieds) {
		c := &tied{}
		c.runForward, c.runBackward = c.forwardGroup, c.backwardGroup
		t.tieds = append(t.tieds, c)
	}
	t.nTied++
	return t.tieds[t.nTied-1]
}

// plan cuts the work by shape alone and takes the buffers.
func (c *tied) plan(t *Tape, b int, keep bool) {
	c.cut()
	c.kept = keep // of a chunk
	c.now = keep && b*c.nt*c.tile > tiedBuffer
	switch c.rows = max(1, b); {
	case c.now:
		c.rows = c.chunk(b)
	case !keep:
		c.rows = max(1, min(b, tiedChunk))
	}
	c.take(t)
	c.top, c.inv, c.logit = t.arena.take(b), t.arena.take(b), t.arena.take(b)
	c.sum = t.arena.take(c.rows)
}

// forward computes top, inv and logit of the chunk of rows from r on and returns the sum of its
// losses.
func (c *tied) forward(r int) (loss float64) {
	c.r0, c.r1 = r, min(c.h.Rows, r+c.rows)
	tensor.Parallel(c.nt, c.group, c.runForward)
	top, sum := c.top[c.r0:c.r1], c.sum[:c.r1-c.r0]
	c.merge(top, sum)
	for i, s := range sum {
		c.inv[c.r0+i] = 1 / s
		loss += math.Log(float64(s)) + float64(top[i]) - float64(c.logit[c.r0+i])
	}
	return loss
}

func (c *tied) forwardGroup(_, lo, hi int) {
	h := tensor.RowsView(c.h, c.r0, c.r1)
	for k := lo; k < hi; k++ {
		m, e, v0 := c.tileOf(k)
		tensor.Gemm(false, true, 1, h, e, 0, m)
		for i := range m.Rows {
			row := tensor.Row(m, i)
			if j := int(c.targets[c.r0+i]) - c.lo - v0; j >= 0 && j < len(row) {
				c.logit[c.r0+i] = row[j]
			}
			c.exp(k, i, row)
		}
	}
}

// gradients prepares the memory for the gradients of h and of the table, for a scale.
func (c *tied) gradients(t *Tape, h, leaf *Node, scale tensor.Float) {
	c.scale, c.dh, c.de, c.table, c.beta = scale, tensor.Matrix{}, tensor.Matrix{}, tensor.Matrix{}, 0
	n, d := c.h.Rows, c.h.Cols
	if c.near = nil; !leaf.apart() && c.nt*c.tile*c.rows > tiedNear {
		c.near = t.arena.take(c.groups() * c.rows * c.tile)
	}
	if h.need {
		c.dh = t.Buffer(n, d)
		c.part = t.arena.take(tiedGroups * c.rows * d)
	}
	if !leaf.need || leaf.apart() {
		return
	}
	if c.now {
		c.table = t.Buffer(c.lo+c.e.Rows, d)
	} else {
		c.table, c.beta = leaf.acc()
	}
	if c.beta == 0 {
		clear(c.table.Data[:c.lo*d])
		if n == 0 {
			clear(c.table.Data)
		}
	}
	c.de = tensor.RowsView(c.table, c.lo, c.table.Rows)
}

// backward adds to the gradients of h and of the table, for the upstream gradient up.
func (c *tied) backward(t *Tape, h, leaf *Node, mean float64, up tensor.Float) {
	if c.now {
		if h.need {
			t.giveTimes(h, c.dh, up)
		}
		if leaf.need {
			t.giveTimes(leaf, c.table, up)
		}
		return
	}
	c.gradients(t, h, leaf, tensor.Float(mean*float64(up)))
	c.r0, c.r1 = 0, c.h.Rows
	if c.r1 > 0 {
		c.backChunk(t, c.runBackward)
	}
	if leaf.apart() {
		c.keepTiles(leaf)
	}
	if h.need {
		h.give(c.dh)
	}
}

func (c *tied) backwardGroup(g, lo, hi int) {
	h := tensor.RowsView(c.h, c.r0, c.r1)
	for k := lo; k < hi; k++ {
		kept, e, v0 := c.tileOf(k)
		m := kept
		if c.near != nil {
			m.Data = c.near[g*c.rows*c.tile:][:len(kept.Data)]
		}
		for i := range m.Rows {
			row := tensor.Row(m, i)
			tensor.ScaleTo(c.scale*c.inv[c.r0+i]*c.tmax[k*c.rows+i], row, tensor.Row(kept, i))
			if j := int(c.targets[c.r0+i]) - c.lo - v0; j >= 0 && j < len(row) {
				row[j] -= c.scale
			}
		}
		c.give(g, k, lo, m, h, e)
	}
}
