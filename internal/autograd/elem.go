package autograd

import "privrec/internal/tensor"

func (x *Node) same(op string, z *Node) {
	if x.Rows() != z.Rows() || x.Cols() != z.Cols() {
		fail(op, "shapes differ", x, z)
	}
}

// Add returns x + z, element by element.
func (x *Node) Add(z *Node) *Node {
	x.same("add", z)
	y := x.t.node("add", x.Rows(), x.Cols(), x, z)
	x.t.each(len(y.V.Data), 1, job{kernel: sumKernel, dst: y.V.Data, a: x.flat(), b: z.flat()})
	if y.need {
		y.back = func() {
			if z.need && x.need {
				z.passCopy(y)
			} else if z.need {
				z.pass(y)
			}
			if x.need {
				x.pass(y)
			}
		}
	}
	return y.checked()
}

// Sub returns x - z, element by element.
func (x *Node) Sub(z *Node) *Node {
	x.same("sub", z)
	y := x.t.node("sub", x.Rows(), x.Cols(), x, z)
	x.t.each(len(y.V.Data), 1, job{kernel: subKernel, dst: y.V.Data, a: x.flat(), b: z.flat()})
	if y.need {
		y.back = func() {
			if z.need {
				z.giveScaled(y, -1)
			}
			if x.need {
				x.pass(y)
			}
		}
	}
	return y.checked()
}

// Mul returns the Hadamard product x ∘ z.
func (x *Node) Mul(z *Node) *Node {
	x.same("mul", z)
	y := x.t.node("mul", x.Rows(), x.Cols(), x, z)
	x.t.each(len(y.V.Data), 1, job{kernel: mulKernel, dst: y.V.Data, a: x.flat(), b: z.flat()})
	if y.need {
		y.back = func() {
			if x.need {
				x.giveElem(y, job{kernel: mulKernel, a: y.dy(), b: z.flat()})
			}
			if z.need {
				z.giveElem(y, job{kernel: mulKernel, a: y.dy(), b: x.flat()})
			}
		}
	}
	return y.checked()
}

// Scale returns s·x.
func (x *Node) Scale(s float64) *Node {
	y := x.t.node("scale", x.Rows(), x.Cols(), x)
	x.t.each(len(y.V.Data), 1, job{kernel: scaleKernel, dst: y.V.Data, a: x.flat(), s: tensor.Float(s)})
	if y.need {
		y.back = func() { x.giveScaled(y, tensor.Float(s)) }
	}
	return y.checked()
}

// MulCol multiplies row i of x (n, d) by c[i], c (n, 1).
func (x *Node) MulCol(c *Node) *Node {
	if c.Cols() != 1 || c.Rows() != x.Rows() {
		fail("mulCol", "the second operand is not one column of the same height", x, c)
	}
	y := x.t.node("mulCol", x.Rows(), x.Cols(), x, c)
	w := x.Cols()
	x.t.each(x.Rows(), w, job{kernel: mulColKernel, dst: y.V.Data, a: x.flat(), b: c.flat(), w: w})
	if y.need {
		y.back = func() {
			if c.need {
				d := x.t.Buffer(c.Rows(), 1)
				x.t.each(x.Rows(), w, job{kernel: rowDotKernel, dst: d.Data, a: y.dy(), b: x.flat(), w: w, n: w})
				c.give(d)
			}
			if x.need {
				d := x.t.Buffer(x.Rows(), w)
				x.t.each(x.Rows(), w, job{kernel: mulColKernel, dst: d.Data, a: y.dy(), b: c.flat(), w: w})
				x.give(d)
			}
		}
	}
	return y.checked()
}

// RowDot returns the inner product of each row of x (n, d) with the same row of z (n, d), or with the
// only row of z (1, d). The result is (n, 1).
func (x *Node) RowDot(z *Node) *Node {
	if z.Cols() != x.Cols() || z.Rows() != x.Rows() && z.Rows() != 1 {
		fail("rowDot", "the second operand has neither the same shape nor one row of the same width", x, z)
	}
	w, step := x.Cols(), x.Cols()
	if z.Rows() == 1 {
		step = 0
	}
	y := x.t.node("rowDot", x.Rows(), 1, x, z)
	x.t.each(x.Rows(), w, job{kernel: rowDotKernel, dst: y.V.Data, a: x.flat(), b: z.flat(), w: w, n: step})
	if y.need {
		y.back = func() {
			if x.need {
				d := x.t.Buffer(x.Rows(), w)
				x.t.each(x.Rows(), w, job{kernel: outerKernel, dst: d.Data, a: z.flat(), b: y.dy(), w: w, n: step})
				x.give(d)
			}
			if !z.need {
				return
			}
			d := x.t.Buffer(x.Rows(), w)
			x.t.each(x.Rows(), w, job{kernel: mulColKernel, dst: d.Data, a: x.flat(), b: y.dy(), w: w})
			if step == 0 {
				x.t.colSums(d, z)
			} else {
				z.give(d)
			}
		}
	}
	return y.checked()
}

// giveElem adds an element-wise function, the job j without its dst, to the gradient of x.
func (x *Node) giveElem(y *Node, j job) {
	d := x.t.Buffer(x.Rows(), x.Cols())
	j.dst = d.Data
	x.t.each(len(d.Data), 1, j)
	x.give(d)
}

// giveScaled adds s times the gradient of y to that of x.
func (x *Node) giveScaled(y *Node, s tensor.Float) {
	x.giveElem(y, job{kernel: scaleKernel, a: y.dy(), s: s})
}

func sumKernel(j *job, lo, hi int) {
	tensor.SumTo(j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi])
}

func subKernel(j *job, lo, hi int) {
	copy(j.dst[lo:hi], j.a[lo:hi])
	tensor.Axpy(-1, j.b[lo:hi], j.dst[lo:hi])
}

func mulKernel(j *job, lo, hi int) { tensor.Mul(j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi]) }

func scaleKernel(j *job, lo, hi int) {
	tensor.ScaleTo(j.s, j.dst[lo:hi], j.a[lo:hi])
}

// mulColKernel sets row i of dst to b[i] · row i of a.
func mulColKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		tensor.ScaleTo(j.b[i], j.dst[i*j.w:(i+1)*j.w], j.a[i*j.w:(i+1)*j.w])
	}
}

// outerKernel sets row i of dst to b[i] · the row of a that starts at i·n.
func outerKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		tensor.ScaleTo(j.b[i], j.dst[i*j.w:(i+1)*j.w], j.a[i*j.n:i*j.n+j.w])
	}
}

// rowDotKernel sets dst[i] to row i of a · the row of b that starts at i·n.
func rowDotKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		j.dst[i] = tensor.Dot(j.a[i*j.w:(i+1)*j.w], j.b[i*j.n:i*j.n+j.w])
	}
}
