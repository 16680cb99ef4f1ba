package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// unary returns an element-wise function of x. back is the kernel of its gradient, given a = dy and b = x, or b = y
// with byValue.
func (x *Node) unary(op string, forward, back func(j *job, lo, hi int), byValue bool) *Node {
	y := x.t.node(op, x.Rows(), x.Cols(), x)
	x.t.each(len(y.V.Data), 4, job{kernel: forward, dst: y.V.Data, a: x.flat()})
	y.shared = byValue
	if y.need {
		y.back = func() {
			b := y.V.Data
			if !byValue {
				b = x.flat()
			}
			x.giveElem(y, job{kernel: back, a: y.dy(), b: b})
		}
	}
	return y.checked()
}

// Sigmoid returns 1/(1+exp(-x)), element by element.
func (x *Node) Sigmoid() *Node {
	return x.unary("sigmoid",
		func(j *job, lo, hi int) { tensor.Sigmoid(j.dst[lo:hi], j.a[lo:hi]) },
		func(j *job, lo, hi int) { sigmoidBack(j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi]) }, true)
}

// sigmoidBack sets dst to the gradient of the sigmoid's argument, given that of its value y; dst may be dy.
func sigmoidBack(dst, dy, y []tensor.Float) {
	for i, v := range y {
		dst[i] = dy[i] * v * (1 - v)
	}
}

// Tanh returns the hyperbolic tangent, element by element.
func (x *Node) Tanh() *Node {
	return x.unary("tanh",
		func(j *job, lo, hi int) { tensor.Tanh(j.dst[lo:hi], j.a[lo:hi]) },
		func(j *job, lo, hi int) { tanhBack(j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi]) }, true)
}

// tanhBack sets dst to the gradient of the tangent's argument, given that of its value y; dst may be dy.
func tanhBack(dst, dy, y []tensor.Float) {
	for i, v := range y {
		dst[i] = dy[i] * (1 - v*v)
	}
}

// Exp returns the exponential, element by element.
func (x *Node) Exp() *Node {
	return x.unary("exp",
		func(j *job, lo, hi int) { tensor.Exp(j.dst[lo:hi], j.a[lo:hi]) }, mulKernel, true)
}

// ReLU returns max(x, 0), element by element. It takes 0 as its derivative at 0.
func (x *Node) ReLU() *Node {
	return x.unary("relu",
		func(j *job, lo, hi int) { tensor.Positive(j.dst[lo:hi], j.a[lo:hi]) },
		func(j *job, lo, hi int) { tensor.Gate(j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi]) }, true)
}

// Log returns the natural logarithm, element by element. It is -Inf at 0 and NaN below, which
// GuardNaN reports.
func (x *Node) Log() *Node {
	return x.unary("log",
		func(j *job, lo, hi int) {
			for i := lo; i < hi; i++ {
				j.dst[i] = tensor.Float(math.Log(float64(j.a[i])))
			}
		},
		func(j *job, lo, hi int) {
			for i := lo; i < hi; i++ {
				j.dst[i] = j.a[i] / j.b[i]
			}
		}, false)
}

// LogSigmoid returns log(1/(1+exp(-x))), element by element and without overflow. It is the
// log-likelihood of a BPR pair or of a positive example.
func (x *Node) LogSigmoid() *Node {
	return x.unary("logSigmoid",
		func(j *job, lo, hi int) {
			for i := lo; i < hi; i++ {
				v := float64(j.a[i])
				j.dst[i] = tensor.Float(min(v, 0) - math.Log1p(math.Exp(-math.Abs(v))))
			}
		},
		func(j *job, lo, hi int) { // dy · (1 - exp(y)) = dy · sigmoid(-x)
			dst, dy, y := j.dst[lo:hi], j.a[lo:hi], j.b[lo:hi]
			for i, v := range y {
				dst[i] = dy[i] * tensor.Float(-math.Expm1(float64(v)))
			}
		}, true)
}
