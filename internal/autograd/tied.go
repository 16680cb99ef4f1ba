package autograd

import (
	"math"

	"privrec/internal/tensor"
)

const (
	tiedTile   = 512 // most classes in a tile: a tile of 100 x 512 floats stays in L2
	tiedGroups = 16  // most partial sums of dh, which also bounds the cores that can share the work
	tiedChunk  = 256 // rows at a time where exponentials are not kept
)

// tiedBuffer is the most floats of exponentials kept: 128 MiB in float32. A variable for its test.
var tiedBuffer = 1 << 25

// tied is a softmax cross-entropy against the rows of a table, tile by tile. It lives on the tape
// and is used again after Reset, so that it costs no allocation.
//
// Forward: a tile holds the logits h·Eᵀ of a chunk of rows against at most tiedTile classes; it is
// replaced by exp(logit - its row maximum), and the maxima and sums of all tiles give log Σ exp.
// Backward: the tile becomes probabilities times the upstream gradient, the targets are subtracted,
// and its products with E and h are formed while it is in cache. If the exponentials of all rows
// fit tiedBuffer they are kept in between, and rescaled; otherwise the rows are cut into chunks of
// tiedChunk, a group of tiles shares one buffer, and each tile is computed again on the way back:
// four products instead of three.
type tied struct {
	h, e       tensor.Matrix // (B, d), (V, d)
	targets    []int32       // rows of the table
	lo         int
	tile, nt   int // classes in a tile, number of tiles
	group      int // tiles in a group
	rows       int // rows in a chunk
	kept       bool
	p          []tensor.Float // buffers of tiles, rows x tile each
	tmax, tsum []tensor.Float // (nt, rows) of the chunk
	top        []tensor.Float // (B) maximum over tiles
	inv        []tensor.Float // (B) 1/Σ exp(logit - top)
	logit      []tensor.Float // (B) of the target
	sum        []tensor.Float // (rows)

	r0, r1 int            // the chunk being worked on
	scale  tensor.Float   // upstream gradient over B
	dh     tensor.Matrix  // (B, d) or empty
	de     tensor.Matrix  // (V, d) or empty
	beta   tensor.Float   // what de's content counts for
	part   []tensor.Float // dh by group

	runForward, runBackward func(g, lo, hi int)

	soft *tiedSoft // what TiedSoftmax needs in its place
}

// TiedCrossEntropy is the mean over rows of the softmax cross-entropy of h·p[lo:]ᵀ, for h (B, d)
// and a table p whose rows from lo on are the classes. targets are row numbers of the table, so
// lo <= target < rows: with lo = 1 they are the item numbers of a table whose row 0 is padding.
// The logits are never materialised beyond 128 MiB of exponentials (see tied), and in an evaluation
// not beyond one tile a group. The gradient of p is dense and written once. The mean over no rows
// is 0.
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
			failf("tiedCrossEntropy", []*Node{h, leaf}, "target %d at position %d outside [%d, %d)", k, i, lo, leaf.Rows())
		}
	}
	y := t.node("tiedCrossEntropy", 1, 1, h, leaf)
	c := t.tied()
	c.h, c.e = h.V, tensor.RowsView(leaf.V, lo, leaf.Rows())
	c.targets, c.lo = targets, lo
	c.plan(t, b, y.need)
	mean := 1 / max(1, float64(b))
	var loss float64
	for r := 0; r < b; r += c.rows {
		loss += c.forward(r)
	}
	y.V.Data[0] = tensor.Float(loss * mean)
	if y.need {
		y.back = func() { c.backward(t, h, leaf, tensor.Float(mean*float64(y.G.Data[0]))) }
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

// plan fixes the tiling, by shape alone, and takes the buffers.
func (c *tied) plan(t *Tape, b int, keep bool) {
	v := c.e.Rows
	c.tile = min(tiedTile, max(64, (v/tiedGroups+15)&^15))
	c.nt = (v + c.tile - 1) / c.tile
	c.group = (c.nt + tiedGroups - 1) / tiedGroups
	c.kept = keep && b*c.nt*c.tile <= tiedBuffer
	c.rows = max(1, b)
	buffers := c.nt
	if !c.kept {
		c.rows = max(1, min(b, tiedChunk))
		buffers = c.groups()
	}
	c.p = t.arena.take(c.rows * buffers * c.tile)
	c.tmax, c.tsum = t.arena.take(c.rows*c.nt), t.arena.take(c.rows*c.nt)
	c.top, c.inv, c.logit = t.arena.take(b), t.arena.take(b), t.arena.take(b)
	c.sum = t.arena.take(c.rows)
}

func (c *tied) groups() int { return (c.nt + c.group - 1) / c.group }

// tileOf is the buffer of tile k, the classes in it and their rows of the table.
func (c *tied) tileOf(k int) (m, e tensor.Matrix, v0 int) {
	v0 = k * c.tile
	v1 := min(c.e.Rows, v0+c.tile)
	at := k
	if !c.kept {
		at = k / c.group
	}
	n := c.r1 - c.r0
	p := c.p[at*c.rows*c.tile:]
	m = tensor.Matrix{Rows: n, Cols: v1 - v0, Stride: c.tile, Data: p[:(n-1)*c.tile+v1-v0]}
	return m, tensor.RowsView(c.e, v0, v1), v0
}

// forward computes top, inv and logit of the chunk of rows from r on and returns the sum of its
// losses.
func (c *tied) forward(r int) (loss float64) {
	c.r0, c.r1 = r, min(c.h.Rows, r+c.rows)
	n := c.r1 - c.r0
	tensor.Parallel(c.nt, c.group, c.runForward)
	top := c.top[c.r0:c.r1]
	copy(top, c.tmax[:n])
	for k := 1; k < c.nt; k++ {
		for i, m := range c.tmax[k*c.rows : k*c.rows+n] {
			top[i] = max(top[i], m)
		}
	}
	sum := c.sum[:n]
	clear(sum)
	for k := range c.nt { // tmax becomes exp(tmax - top), the factor between a tile and the whole
		f := c.tmax[k*c.rows : k*c.rows+n]
		tensor.Axpy(-1, top, f)
		tensor.Exp(f, f)
		for i, s := range c.tsum[k*c.rows : k*c.rows+n] {
			sum[i] += f[i] * s
		}
	}
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
			top := tensor.Max(row)
			c.tmax[k*c.rows+i] = top
			c.tsum[k*c.rows+i] = tensor.Float(tensor.ExpSum(row, row, top))
		}
	}
}

// backward adds to the gradients of h and of the table.
func (c *tied) backward(t *Tape, h, leaf *Node, scale tensor.Float) {
	c.scale, c.dh, c.de = scale, tensor.Matrix{}, tensor.Matrix{}
	d := c.h.Cols
	if h.need {
		c.dh = t.Buffer(c.h.Rows, d)
		c.part = t.arena.take(tiedGroups * c.rows * d)
	}
	if leaf.need {
		var g tensor.Matrix
		g, c.beta = leaf.acc()
		if c.beta == 0 {
			clear(g.Data[:c.lo*d])
			if c.h.Rows == 0 {
				clear(g.Data)
			}
		}
		c.de = tensor.RowsView(g, c.lo, g.Rows)
	}
	for r := 0; r < c.h.Rows; r += c.rows {
		c.r0, c.r1 = r, min(c.h.Rows, r+c.rows)
		tensor.Parallel(c.nt, c.group, c.runBackward)
		c.beta = 1
		if h.need {
			n := (c.r1 - c.r0) * d
			t.each(n, c.groups(), job{kernel: tiedSum, dst: c.dh.Data[c.r0*d : c.r0*d+n], a: c.part, w: c.rows * d, n: c.groups()})
		}
	}
	if h.need {
		h.give(c.dh)
	}
}

// tiedSum adds the n partial sums of dh, w floats apart, in order.
func tiedSum(j *job, lo, hi int) {
	copy(j.dst[lo:hi], j.a[lo:hi])
	for g := 1; g < j.n; g++ {
		tensor.Add(j.dst[lo:hi], j.a[g*j.w+lo:g*j.w+hi])
	}
}

func (c *tied) backwardGroup(g, lo, hi int) {
	h := tensor.RowsView(c.h, c.r0, c.r1)
	n, d := h.Rows, h.Cols
	var dh tensor.Matrix
	if c.dh.Data != nil {
		dh = tensor.Matrix{Rows: n, Cols: d, Stride: d, Data: c.part[g*c.rows*d : g*c.rows*d+n*d]}
	}
	for k := lo; k < hi; k++ {
		m, e, v0 := c.tileOf(k)
		if !c.kept {
			tensor.Gemm(false, true, 1, h, e, 0, m)
		}
		for i := range n {
			row, f := tensor.Row(m, i), c.scale*c.inv[c.r0+i]
			if c.kept {
				f *= c.tmax[k*c.rows+i]
			} else {
				tensor.ExpSum(row, row, c.top[c.r0+i])
			}
			tensor.Scale(f, row)
			if j := int(c.targets[c.r0+i]) - c.lo - v0; j >= 0 && j < len(row) {
				row[j] -= c.scale
			}
		}
		if c.dh.Data != nil {
			beta := tensor.Float(1)
			if k == lo {
				beta = 0
			}
			tensor.Gemm(false, false, 1, m, e, beta, dh)
		}
		if c.de.Data != nil {
			tensor.Gemm(true, false, 1, m, h, c.beta, tensor.RowsView(c.de, v0, v0+e.Rows))
		}
	}
}
