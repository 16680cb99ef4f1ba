package autograd

import "privrec/internal/tensor"

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
