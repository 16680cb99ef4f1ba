package autograd

import (
	"privrec/internal/tensor"
)

// Gather returns y[i] = x[idx[i]] (len(idx), d). The gradients of repeated indices are added up in order.
func (x *Node) Gather(idx []int32) *Node {
	checkIndex("gather", x, idx, x.Rows())
	w := x.Cols()
	y := x.t.node("gather", len(idx), w, x)
	x.t.each(len(idx), w, job{kernel: gatherKernel, dst: y.V.Data, a: x.V.Data, idx: idx, w: w, n: x.V.Stride,
		k: x.V.Rows})
	if y.need {
		y.back = func() {
			g := x.accZero()
			x.t.columns(len(idx), w, job{kernel: scatterKernel, dst: g.Data, a: y.dy(), idx: idx, w: w})
		}
	}
	return y.checked()
}

// gatherKernel sets row i of dst to row idx[i] of a. a has k rows that are n floats apart.
func gatherKernel(j *job, lo, hi int) {
	if j.w == 0 { // a has no elements, whatever its rows
		return
	}
	m := tensor.Matrix{Rows: j.k, Cols: j.w, Stride: j.n, Data: j.a}
	tensor.CopyRows(j.dst[lo*j.w:hi*j.w], m, j.idx[lo:hi])
}

// scatterKernel adds columns [lo, hi) of row i of a to row idx[i] of dst, for all i in order.
func scatterKernel(j *job, lo, hi int) {
	for i, k := range j.idx {
		o := int(k) * j.w
		tensor.Add(j.dst[o+lo:o+hi], j.a[i*j.w+lo:i*j.w+hi])
	}
}

// scatterFresh is scatterKernel for columns of dst with undefined content.
func scatterFresh(j *job, lo, hi int) {
	for o := 0; o < len(j.dst); o += j.w {
		clear(j.dst[o+lo : o+hi])
	}
	scatterKernel(j, lo, hi)
}

// columns runs a kernel over columns [0, w) of some rows: at once if there is little work, else split into a few equal
// stripes, which keeps the order of sums within a column.
func (t *Tape) columns(rows, w int, j job) {
	stripes := 1
	if rows*w > 1<<16 {
		stripes = max(1, min(4, w/32&^1))
	}
	t.run(w, max(1, (w+stripes-1)/stripes), j)
}

// ConcatCols returns x and others side by side; all have the same number of rows.
func (x *Node) ConcatCols(others ...*Node) *Node {
	t := x.t
	y := t.link("concatCols", x)
	t.join(y, others...)
	cols := x.Cols()
	for _, z := range others {
		if z.Rows() != x.Rows() {
			fail("concatCols", "row counts differ", x, z)
		}
		cols += z.Cols()
	}
	y.V = t.Buffer(x.Rows(), cols)
	lo := 0
	for k := range y.nin {
		z := y.operand(k)
		t.copyTo(tensor.ColsView(y.V, lo, lo+z.Cols()), z.V)
		lo += z.Cols()
	}
	if y.need {
		y.back = func() {
			lo := 0
			for k := range y.nin {
				z := y.operand(k)
				if z.need {
					d := t.Buffer(z.Rows(), z.Cols())
					t.copyTo(d, tensor.ColsView(y.G, lo, lo+z.Cols()))
					z.give(d)
				}
				lo += z.Cols()
			}
		}
	}
	return y.checked()
}

// operand returns the k-th operand of x.
func (x *Node) operand(k int) *Node {
	if k < len(x.in) {
		return x.in[k]
	}
	return x.more[k-len(x.in)]
}

// copyTo copies src to dst, of the same shape; either may be a view.
func (t *Tape) copyTo(dst, src tensor.Matrix) {
	if dst.Cols > 0 {
		t.each(dst.Rows, dst.Cols, job{kernel: copyKernel, dst: dst.Data, a: src.Data, w: dst.Cols, n: dst.Stride,
			k: src.Stride})
	}
}

// copyKernel copies rows of w floats that are n apart in dst and k apart in a.
func copyKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		copy(j.dst[i*j.n:i*j.n+j.w], j.a[i*j.k:i*j.k+j.w])
	}
}

// SliceCols returns columns [lo, hi) of x.
func (x *Node) SliceCols(lo, hi int) *Node {
	if lo < 0 || hi < lo || hi > x.Cols() {
		failf("sliceCols", []*Node{x}, "columns [%d, %d)", lo, hi)
	}
	y := x.t.node("sliceCols", x.Rows(), hi-lo, x)
	x.t.copyTo(y.V, tensor.ColsView(x.V, lo, hi))
	if y.need {
		y.back = func() {
			g := tensor.ColsView(x.accZero(), lo, hi)
			for i := range g.Rows {
				tensor.Add(tensor.Row(g, i), tensor.Row(y.G, i))
			}
		}
	}
	return y.checked()
}

// SliceRows returns rows [lo, hi) of x.
func (x *Node) SliceRows(lo, hi int) *Node {
	if lo < 0 || hi < lo || hi > x.Rows() {
		failf("sliceRows", []*Node{x}, "rows [%d, %d)", lo, hi)
	}
	y := x.t.node("sliceRows", hi-lo, x.Cols(), x)
	x.t.copyTo(y.V, tensor.RowsView(x.V, lo, hi))
	if y.need {
		y.back = func() {
			g := x.accZero()
			if g.Cols == 0 {
				return
			}
			tensor.Add(g.Data[lo*g.Stride:lo*g.Stride+len(y.G.Data)], y.G.Data)
		}
	}
	return y.checked()
}

// EdgeSum aggregates over a list of edges: y[dst[e]] += w[e]·x[src[e]], starting from zero
// (rows, d), in the order of the list. A nil w stands for weights of one. The gradient is
// dx[src[e]] += w[e]·dy[dst[e]].
func (t *Tape) EdgeSum(x *Node, src, dst []int32, w []tensor.Float, rows int) *Node {
	if len(src) != len(dst) || w != nil && len(w) != len(src) {
		failf("edgeSum", []*Node{x}, "%d sources, %d targets, %d weights", len(src), len(dst), len(w))
	}
	checkIndex("edgeSum", x, src, x.Rows())
	checkIndex("edgeSum", x, dst, rows)
	d := x.Cols()
	y := t.node("edgeSum", rows, d, x)
	clear(y.V.Data)
	t.columns(len(src), d, job{kernel: edgeKernel, dst: y.V.Data, a: x.flat(), b: w, idx: src, idx2: dst, w: d})
	if y.need {
		y.back = func() {
			g := x.accZero()
			t.columns(len(src), d, job{kernel: edgeKernel, dst: g.Data, a: y.dy(), b: w, idx: dst, idx2: src, w: d})
		}
	}
	return y.checked()
}

func edgeKernel(j *job, lo, hi int) {
	for e, from := range j.idx {
		a, b := int(from)*j.w, int(j.idx2[e])*j.w
		if j.b == nil {
			tensor.Add(j.dst[b+lo:b+hi], j.a[a+lo:a+hi])
		} else {
			tensor.Axpy(j.b[e], j.a[a+lo:a+hi], j.dst[b+lo:b+hi])
		}
	}
}

// SpMM returns a·x for a sparse a (n, m) and x (m, d). at must be the transpose of a, for the gradient
// dx = aᵀ·dy. The transpose of a symmetric matrix is the matrix itself.
func (t *Tape) SpMM(a, at *tensor.CSR, x *Node) *Node {
	if a.Cols != x.Rows() || at.Rows != a.Cols || at.Cols != a.Rows {
		failf("spmm", []*Node{x}, "matrix (%d,%d), transpose (%d,%d)", a.Rows, a.Cols, at.Rows, at.Cols)
	}
	y := t.node("spmm", a.Rows, x.Cols(), x)
	a.MulDense(y.V, x.V)
	if y.need {
		y.back = func() {
			d := t.Buffer(x.Rows(), x.Cols())
			at.MulDense(d, y.G)
			x.give(d)
		}
	}
	return y.checked()
}

// StackRows returns the rows of all parts one below the other; all have the same number of columns. A part may occur
// several times. It fails without a part.
func (t *Tape) StackRows(parts ...*Node) *Node {
	if len(parts) == 0 {
		failf("stackRows", nil, "no parts")
	}
	y := t.link("stackRows", parts[0])
	t.join(y, parts[1:]...)
	rows, cols := 0, parts[0].Cols()
	for _, z := range parts {
		if z.Cols() != cols {
			fail("stackRows", "column counts differ", parts[0], z)
		}
		rows += z.Rows()
	}
	y.V = t.Buffer(rows, cols)
	lo := 0
	for k := range y.nin {
		z := y.operand(k)
		t.copyTo(tensor.RowsView(y.V, lo, lo+z.Rows()), z.V)
		lo += z.Rows()
	}
	if y.need {
		y.back = func() {
			lo := 0
			for k := range y.nin {
				z := y.operand(k)
				if z.need {
					d := t.Buffer(z.Rows(), cols)
					t.copyTo(d, tensor.RowsView(y.G, lo, lo+z.Rows()))
					z.give(d)
				}
				lo += z.Rows()
			}
		}
	}
	return y.checked()
}
