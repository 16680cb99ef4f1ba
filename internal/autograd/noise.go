package autograd

import (
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// AddNoise returns x with noise: add receives the value, row-major (rows, cols), and adds its noise in place. The
// gradient passes unchanged. If no other operation reads the value of x, AddNoise overwrites it. Then a later use of x,
// Scalar and Backward included, panics, because the clear value is gone.
func (x *Node) AddNoise(name string, add func(data []tensor.Float, rows, cols int)) *Node {
	inPlace := !x.shared
	y := x.t.link(name, x)
	if inPlace {
		y.V, x.taken = x.V, true
	} else {
		y.V = x.t.Buffer(x.Rows(), x.Cols())
		copy(y.V.Data, x.flat())
	}
	add(y.V.Data[:x.Rows()*x.Cols()], x.Rows(), x.Cols())
	if y.need {
		y.back = func() { x.pass(y) }
	}
	return y.checked()
}

// Dropout returns x with each element set to zero with probability p and the others multiplied by 1/(1-p), in training
// mode; in evaluation it returns x. Element i depends only on the i-th uniform number of the stream.
func (x *Node) Dropout(p float64, stream rng.Stream) *Node {
	if p < 0 || p >= 1 {
		failf("dropout", []*Node{x}, "probability %v outside [0, 1)", p)
	}
	if !x.t.training || p == 0 {
		return x
	}
	mask := x.t.Buffer(x.Rows(), x.Cols())
	y := x.t.node("dropout", x.Rows(), x.Cols(), x)
	x.t.each(len(y.V.Data), 1, job{kernel: dropKernel, dst: y.V.Data, a: x.flat(), b: mask.Data, draw: stream, x: p})
	if y.need {
		y.back = func() {
			x.giveElem(y, job{kernel: mulKernel, a: y.dy(), b: mask.Data})
			x.t.giveBack(mask.Data)
		}
	}
	return y.checked()
}

// dropKernel draws the mask b and sets dst = a ∘ b. The draw of a chunk starts with a whole group.
func dropKernel(j *job, lo, hi int) {
	keep(j.b[lo:hi], j.draw, lo, j.x)
	tensor.Mul(j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi])
}

// A chunk of each holds whole groups of random numbers.
const _ = -uint(eachGrain % rng.Group)

// keep fills dst with the mask of Dropout from the i-th number of the stream on. If Float is float32 it draws in bulk,
// and i must be a multiple of rng.Group.
func keep(dst []tensor.Float, s rng.Stream, i int, p float64) {
	value := tensor.Float(1 / (1 - p))
	if f, ok := any(dst).([]float32); ok {
		s.Skip(i)
		s.Keep(f, p, float32(value))
		return
	}
	s.Seek(s.Pos() + uint64(i))
	for k := range dst {
		dst[k] = 0
		if s.Float64() >= p {
			dst[k] = value
		}
	}
}

// Custom records an operation of the caller with the result y, a node from Fused. backward must add to the gradients of
// the operands through AddGrad. It is not called if no gradient is wanted.
func (t *Tape) Custom(name string, y *Node, backward func()) *Node {
	y.op = name
	y.shared = true
	if y.need {
		y.back = backward
	}
	return y.checked()
}

// Fused returns a node over the given operands with a value buffer of undefined content, for
// Custom.
func (t *Tape) Fused(name string, rows, cols int, operands ...*Node) *Node {
	return t.node(name, rows, cols, operands...)
}

// Needs reports whether a gradient of x is wanted.
func (x *Node) Needs() bool { return x.need }

// AddGrad returns the gradient of x inside a Custom backward: a matrix to add to, zero on the first
// call.
func (x *Node) AddGrad() tensor.Matrix { return x.accZero() }

// GiveGrad adds m to the gradient of x inside a Custom backward. m is a buffer of the tape, of the shape
// of x, that must have no other use afterwards: the first one given becomes the gradient without a copy.
func (x *Node) GiveGrad(m tensor.Matrix) {
	if m.Rows != x.V.Rows || m.Cols != x.V.Cols || m.Stride != max(1, m.Cols) {
		failf(x.name(), []*Node{x}, "given a gradient of %d x %d, stride %d", m.Rows, m.Cols, m.Stride)
	}
	x.give(m)
}
