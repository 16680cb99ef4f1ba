package autograd

import "privrec/internal/tensor"

// softmax writes exp(x)/Σexp(x) to dst, shifted by the maximum so that nothing overflows.
func softmax(dst, x []tensor.Float) {
	if len(x) == 0 {
		return
	}
	s := tensor.ExpSum(dst, x, tensor.Max(x))
	tensor.Scale(tensor.Float(1/s), dst)
}

// softmaxBack writes dx = y ∘ (dy - y·dy) to dst.
func softmaxBack(dst, y, dy []tensor.Float) {
	if len(y) == 0 {
		return
	}
	tensor.Mul(dst, y, dy)
	tensor.Axpy(-tensor.Dot(y, dy), y, dst)
}

// Softmax returns the softmax of each row.
func (x *Node) Softmax() *Node { return x.softmaxRows("softmax", false) }

// CausalSoftmax returns the softmax over the first i+1 columns of row i of a square matrix, and 0 in
// the others, for attention that must not look ahead.
func (x *Node) CausalSoftmax() *Node {
	if x.Rows() != x.Cols() {
		fail("causalSoftmax", "not square", x)
	}
	return x.softmaxRows("causalSoftmax", true)
}

func (x *Node) softmaxRows(op string, causal bool) *Node {
	w := x.Cols()
	y := x.t.node(op, x.Rows(), w, x)
	x.t.each(x.Rows(), 4*w, job{kernel: softmaxKernel, dst: y.V.Data, a: x.flat(), w: w, flag: causal})
	y.shared = true
	if y.need {
		y.back = func() {
			d := x.t.Buffer(x.Rows(), w)
			x.t.each(x.Rows(), w, job{kernel: softmaxBackKernel, dst: d.Data, a: y.V.Data, b: y.dy(), w: w,
				flag: causal})
			x.give(d)
		}
	}
	return y.checked()
}

// seen returns the number of columns of row i that take part in the softmax.
func (j *job) seen(i int) int {
	if j.flag {
		return i + 1
	}
	return j.w
}

func softmaxKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		o, k := i*j.w, j.seen(i)
		softmax(j.dst[o:o+k], j.a[o:o+k])
		clear(j.dst[o+k : o+j.w])
	}
}

func softmaxBackKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		o, k := i*j.w, j.seen(i)
		softmaxBack(j.dst[o:o+k], j.a[o:o+k], j.b[o:o+k])
		clear(j.dst[o+k : o+j.w])
	}
}
