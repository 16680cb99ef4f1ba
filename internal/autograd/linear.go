package autograd

import "privrec/internal/tensor"

// MatMul returns x·w (n, m) for x (n, k) and w (k, m). Its gradients are dx = dy·wᵀ and dw = xᵀ·dy.
func (x *Node) MatMul(w *Node) *Node {
	if x.Cols() != w.Rows() {
		fail("matmul", "inner dimensions differ", x, w)
	}
	y := x.t.node("matmul", x.Rows(), w.Cols(), x, w)
	tensor.Gemm(false, false, 1, x.V, w.V, 0, y.V)
	if y.need {
		y.back = func() {
			x.t.productBack(x, w, product{tB: true, a: y.G, b: w.V}, product{tA: true, a: x.V, b: y.G})
		}
	}
	return y.checked()
}

// MatMulT returns x·wᵀ (n, m) for x (n, k) and w (m, k). Its gradients are dx = dy·w and dw = dyᵀ·x.
func (x *Node) MatMulT(w *Node) *Node {
	if x.Cols() != w.Cols() {
		fail("matmulT", "inner dimensions differ", x, w)
	}
	if w.Rows() == 1 {
		return x.RowDot(w) // a product with one row is not worth packing
	}
	y := x.t.node("matmulT", x.Rows(), w.Rows(), x, w)
	tensor.Gemm(false, true, 1, x.V, w.V, 0, y.V)
	if y.need {
		y.back = func() { affineBack(y.G, x, w, nil) }
	}
	return y.checked()
}

// Linear returns x·wᵀ + b for x (n, in), w (out, in) and b (1, out), which may be nil.
func (x *Node) Linear(w, b *Node) *Node {
	checkAffine("linear", x, w, b)
	y := x.t.node("linear", x.Rows(), w.Rows(), x, w, b)
	affine(y.V, x, w, b)
	if y.need {
		y.back = func() { affineBack(y.G, x, w, b) }
	}
	return y.checked()
}

// Affine is one block of ConcatLinear: X·Wᵀ + B. B may be nil.
type Affine struct{ X, W, B *Node }

// ConcatLinear returns the blocks X₁W₁ᵀ+B₁, X₂W₂ᵀ+B₂, ... side by side. It writes each block to its
// place instead of copying it there.
func (t *Tape) ConcatLinear(parts ...Affine) *Node {
	if len(parts) == 0 {
		fail("concatLinear", "no parts")
	}
	cols := 0
	for _, p := range parts {
		checkAffine("concatLinear", p.X, p.W, p.B)
		if p.X.Rows() != parts[0].X.Rows() {
			fail("concatLinear", "row counts differ", parts[0].X, p.X)
		}
		cols += p.W.Rows()
	}
	y := t.link("concatLinear")
	for _, p := range parts {
		t.join(y, p.X, p.W, p.B)
	}
	y.V = t.Buffer(parts[0].X.Rows(), cols)
	eachPart(y.V, parts, func(v tensor.Matrix, p Affine) { affine(v, p.X, p.W, p.B) })
	if y.need {
		y.back = func() {
			eachPart(y.G, parts, func(g tensor.Matrix, p Affine) { affineBack(g, p.X, p.W, p.B) })
		}
	}
	return y.checked()
}

// StackLinear returns the blocks X₁W₁ᵀ+B₁, X₂W₂ᵀ+B₂, ... one above the other. All have the same
// number of outputs.
func (t *Tape) StackLinear(parts ...Affine) *Node {
	if len(parts) == 0 {
		fail("stackLinear", "no parts")
	}
	rows := 0
	for _, p := range parts {
		checkAffine("stackLinear", p.X, p.W, p.B)
		if p.W.Rows() != parts[0].W.Rows() {
			fail("stackLinear", "numbers of outputs differ", parts[0].W, p.W)
		}
		rows += p.X.Rows()
	}
	y := t.link("stackLinear")
	for _, p := range parts {
		t.join(y, p.X, p.W, p.B)
	}
	y.V = t.Buffer(rows, parts[0].W.Rows())
	each := func(m tensor.Matrix, f func(tensor.Matrix, Affine)) {
		lo := 0
		for _, p := range parts {
			hi := lo + p.X.Rows()
			f(tensor.RowsView(m, lo, hi), p)
			lo = hi
		}
	}
	each(y.V, func(v tensor.Matrix, p Affine) { affine(v, p.X, p.W, p.B) })
	if y.need {
		y.back = func() {
			each(y.G, func(g tensor.Matrix, p Affine) { affineBack(g, p.X, p.W, p.B) })
		}
	}
	return y.checked()
}

// eachPart calls f with the columns of m that belong to each part.
func eachPart(m tensor.Matrix, parts []Affine, f func(tensor.Matrix, Affine)) {
	lo := 0
	for _, p := range parts {
		hi := lo + p.W.Rows()
		f(tensor.ColsView(m, lo, hi), p)
		lo = hi
	}
}

func checkAffine(op string, x, w, b *Node) {
	if x.Cols() != w.Cols() {
		fail(op, "input width differs from the weight's", x, w, b)
	}
	if b != nil && (b.Rows() != 1 || b.Cols() != w.Rows()) {
		fail(op, "bias is not (1, outputs)", x, w, b)
	}
}

// affine writes x·wᵀ + b to y.
func affine(y tensor.Matrix, x, w, b *Node) {
	if b == nil {
		tensor.Gemm(false, true, 1, x.V, w.V, 0, y)
		return
	}
	x.t.each(y.Rows, y.Cols, job{kernel: repeatKernel, dst: y.Data, a: b.flat(), n: y.Stride})
	tensor.Gemm(false, true, 1, x.V, w.V, 1, y)
}

// repeatKernel copies a to each row of dst. The rows are n floats apart.
func repeatKernel(j *job, lo, hi int) {
	if len(j.a) == 0 {
		return
	}
	for i := lo; i < hi; i++ {
		copy(j.dst[i*j.n:i*j.n+len(j.a)], j.a)
	}
}

// affineBack adds the gradients dx = dy·w, dw = dyᵀ·x and db = column sums of dy.
func affineBack(dy tensor.Matrix, x, w, b *Node) {
	x.t.productBack(x, w, product{a: dy, b: w.V}, product{tA: true, a: dy, b: x.V})
	if b != nil && b.need {
		x.t.colSums(dy, b)
	}
}

// colSumBlock is the number of rows summed before their sum joins the others, which keeps the
// rounding error of long columns down and lets cores share the work.
const colSumBlock = 128

// colSums adds the column sums of m to the gradient of b (1, cols).
func (t *Tape) colSums(m tensor.Matrix, b *Node) {
	if b.apart() {
		t.keep(b, tensor.Matrix{}, m, 0)
		return
	}
	t.addSums(b.accZero().Data, m)
}

// addSums adds the column sums of m to g.
func (t *Tape) addSums(g []tensor.Float, m tensor.Matrix) {
	if m.Rows == 0 || m.Cols == 0 {
		return
	}
	n := (m.Rows + colSumBlock - 1) / colSumBlock
	sums := t.arena.take(n * m.Cols)
	t.run(n, 1, job{kernel: colSumKernel, dst: sums, a: m.Data, w: m.Cols, n: m.Stride, k: m.Rows})
	for i := range n {
		tensor.Add(g, sums[i*m.Cols:(i+1)*m.Cols])
	}
}

// colSumKernel writes to row i of dst the sum of the i-th block of the k rows of a, n floats apart.
func colSumKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		sum := j.dst[i*j.w : (i+1)*j.w]
		first := i * colSumBlock
		copy(sum, j.a[first*j.n:][:j.w])
		for r := first + 1; r < min(j.k, first+colSumBlock); r++ {
			tensor.Add(sum, j.a[r*j.n:][:j.w])
		}
	}
}

// AddRow adds the row b (1, d) to every row of x (n, d).
func (x *Node) AddRow(b *Node) *Node {
	if b.Rows() != 1 || b.Cols() != x.Cols() {
		fail("addRow", "the second operand is not one row of the same width", x, b)
	}
	y := x.t.node("addRow", x.Rows(), x.Cols(), x, b)
	x.t.each(x.Rows(), x.Cols(), job{kernel: addRowKernel, dst: y.V.Data, a: x.flat(), b: b.flat(), w: x.Cols()})
	if y.need {
		y.back = func() {
			if b.need {
				x.t.colSums(y.G, b)
			}
			switch {
			case x.need && b.apart(): // which keeps y.G
				x.passCopy(y)
			case x.need:
				x.pass(y)
			}
		}
	}
	return y.checked()
}

func addRowKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		row := j.dst[i*j.w : (i+1)*j.w]
		copy(row, j.a[i*j.w:(i+1)*j.w])
		tensor.Add(row, j.b)
	}
}
