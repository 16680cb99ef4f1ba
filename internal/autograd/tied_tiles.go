package autograd

import "privrec/internal/tensor"

const (
	tiedTile   = 512 // most classes in a tile: a tile of 100 x 512 floats stays in L2
	tiedGroups = 16  // most partial sums of dh, which also bounds the cores that can share the work
)

// tiles holds the logits h·Eᵀ of a chunk of rows against all classes, which are the rows of a table, in tiles of at
// most tiedTile classes. A tile is replaced by exp(logit - its row maximum), and the maxima and sums of all tiles give
// log Σ exp. In the backward pass it becomes the gradient of the logits, and its products with E and h are formed while
// it is in cache. Tiles are processed in groups, which cores share.
type tiles struct {
	h, e       tensor.Matrix  // (B, d), (V, d)
	tile, nt   int            // classes in a tile, number of tiles
	group      int            // tiles in a group
	rows       int            // rows in a chunk
	kept       bool           // each tile has a buffer of its own; otherwise those of a group share one
	p          []tensor.Float // buffers of rows x tile
	tmax, tsum []tensor.Float // (nt, rows) of the chunk

	r0, r1 int            // the chunk being worked on
	dh     tensor.Matrix  // (B, d) or empty
	de     tensor.Matrix  // (V, d) or empty
	beta   tensor.Float   // factor of de's old content
	part   []tensor.Float // dh by group
}

// cut sets the tiling by shape alone.
func (c *tiles) cut() {
	v := c.e.Rows
	c.tile = min(tiedTile, max(64, (v/tiedGroups+15)&^15))
	c.nt = (v + c.tile - 1) / c.tile
	c.group = (c.nt + tiedGroups - 1) / tiedGroups
}

func (c *tiles) groups() int { return (c.nt + c.group - 1) / c.group }

// softBuffer is about the number of exponentials held if rows are taken in chunks, 64 MiB in float32. softRows is the
// most rows of a chunk: more do not make the products faster. Variables for their test.
var softBuffer, softRows = 1 << 24, 256

// chunk returns how many of b rows to process at a time.
func (c *tiles) chunk(b int) int {
	return max(1, min(b, softRows, max(16, softBuffer/(c.nt*c.tile))))
}

// take allocates the buffers, once the rows of a chunk and what is kept are known.
func (c *tiles) take(t *Tape) {
	buffers := c.nt
	if !c.kept {
		buffers = c.groups()
	}
	c.p = t.arena.take(c.rows * buffers * c.tile)
	c.tmax, c.tsum = t.arena.take(c.rows*c.nt), t.arena.take(c.rows*c.nt)
}

// tileOf returns the buffer of tile k for the chunk, its rows of the table and its first class.
func (c *tiles) tileOf(k int) (m, e tensor.Matrix, v0 int) {
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

// exp replaces the logits of row i of the chunk in tile k by exp(logit - their maximum).
func (c *tiles) exp(k, i int, row []tensor.Float) {
	top := tensor.Max(row)
	c.tmax[k*c.rows+i] = top
	c.tsum[k*c.rows+i] = tensor.Float(tensor.ExpSum(row, row, top))
}

// merge computes, for each row of the chunk, the maximum over all tiles and Σ exp(logit - maximum). tmax becomes
// exp(tmax - top), the factor between a tile and the whole.
func (c *tiles) merge(top, sum []tensor.Float) {
	n := c.r1 - c.r0
	copy(top, c.tmax[:n])
	for k := 1; k < c.nt; k++ {
		for i, m := range c.tmax[k*c.rows : k*c.rows+n] {
			top[i] = max(top[i], m)
		}
	}
	clear(sum)
	for k := range c.nt {
		f := c.tmax[k*c.rows : k*c.rows+n]
		tensor.Axpy(-1, top, f)
		tensor.Exp(f, f)
		for i, s := range c.tsum[k*c.rows : k*c.rows+n] {
			sum[i] += f[i] * s
		}
	}
}

// give adds to dh and de the contributions of m, the gradient of the logits of tile k. Tiles of a group g come in
// order, from first on.
func (c *tiles) give(g, k, first int, m, h, e tensor.Matrix) {
	if c.dh.Data != nil {
		n, d := h.Rows, h.Cols
		beta := tensor.Float(1)
		if k == first {
			beta = 0
		}
		dh := tensor.Matrix{Rows: n, Cols: d, Stride: d, Data: c.part[g*c.rows*d : g*c.rows*d+n*d]}
		tensor.Gemm(false, false, 1, m, e, beta, dh)
	}
	if c.de.Data != nil {
		v0 := k * c.tile
		tensor.Gemm(true, false, 1, m, h, c.beta, tensor.RowsView(c.de, v0, v0+e.Rows))
	}
}

// backChunk runs the groups of the chunk, which add their contributions, and sums up dh.
func (c *tiles) backChunk(t *Tape, run func(g, lo, hi int)) {
	tensor.Parallel(c.nt, c.group, run)
	c.beta = 1
	if c.dh.Data != nil {
		d := c.h.Cols
		n := (c.r1 - c.r0) * d
		t.each(n, c.groups(), job{kernel: tiedSum, dst: c.dh.Data[c.r0*d : c.r0*d+n], a: c.part, w: c.rows * d,
			n: c.groups()})
	}
}

// tiedSum adds the n partial sums of dh, w floats apart, in order.
func tiedSum(j *job, lo, hi int) {
	copy(j.dst[lo:hi], j.a[lo:hi])
	for g := 1; g < j.n; g++ {
		tensor.Add(j.dst[lo:hi], j.a[g*j.w+lo:g*j.w+hi])
	}
}
