package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// scalar returns a (1, 1) node with value v. Its backward adds coefficient times the upstream gradient to each element.
func (x *Node) scalar(op string, v, coefficient float64) *Node {
	y := x.t.node(op, 1, 1, x)
	y.V.Data[0] = tensor.Float(v)
	if y.need {
		y.back = func() {
			d := x.t.Buffer(x.Rows(), x.Cols())
			s := tensor.Float(coefficient * float64(y.G.Data[0]))
			for i := range d.Data {
				d.Data[i] = s
			}
			x.give(d)
		}
	}
	return y.checked()
}

// SumAll returns the sum of all elements, accumulated in float64.
func (x *Node) SumAll() *Node { return x.scalar("sumAll", tensor.Sum(x.flat()), 1) }

// MeanAll returns the mean of all elements, 0 for no elements.
func (x *Node) MeanAll() *Node {
	n := max(1, float64(x.Rows()*x.Cols()))
	return x.scalar("meanAll", tensor.Sum(x.flat())/n, 1/n)
}

// SumSq returns the sum of the squares of all elements, for L2 penalties.
func (x *Node) SumSq() *Node {
	y := x.t.node("sumSq", 1, 1, x)
	y.V.Data[0] = tensor.Float(tensor.SumSq(x.flat()))
	if y.need {
		y.back = func() {
			x.giveElem(y, job{kernel: scaleKernel, a: x.flat(), s: 2 * y.G.Data[0]})
		}
	}
	return y.checked()
}

// CrossEntropy returns the mean over rows of -log softmax(x[i])[targets[i]] for logits x (n, C), 0 for
// no rows. For a softmax over a big table see Tape.TiedCrossEntropy.
func (x *Node) CrossEntropy(targets []int32) *Node {
	n, w := x.Rows(), x.Cols()
	if len(targets) != n {
		failf("crossEntropy", []*Node{x}, "%d targets", len(targets))
	}
	checkIndex("crossEntropy", x, targets, w)
	t := x.t
	y := t.node("crossEntropy", 1, 1, x)
	p, losses := t.Buffer(n, w), t.Buffer(n, 1)
	t.each(n, 4*w, job{kernel: crossEntropyKernel, dst: p.Data, a: x.flat(), b: losses.Data, idx: targets, w: w})
	mean := 1 / max(1, float64(n))
	y.V.Data[0] = tensor.Float(tensor.Sum(losses.Data) * mean)
	if y.need {
		y.back = func() {
			t.each(n, w, job{kernel: crossEntropyBack, dst: p.Data, idx: targets, w: w,
				s: tensor.Float(mean * float64(y.G.Data[0]))})
			x.give(p)
		}
	}
	return y.checked()
}

func crossEntropyKernel(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		x, p := j.a[i*j.w:(i+1)*j.w], j.dst[i*j.w:(i+1)*j.w]
		m := tensor.Max(x)
		s := tensor.ExpSum(p, x, m)
		tensor.Scale(tensor.Float(1/s), p)
		j.b[i] = tensor.Float(math.Log(s) + float64(m) - float64(x[j.idx[i]]))
	}
}

func crossEntropyBack(j *job, lo, hi int) {
	for i := lo; i < hi; i++ {
		p := j.dst[i*j.w : (i+1)*j.w]
		p[j.idx[i]] -= 1
		tensor.Scale(j.s, p)
	}
}
