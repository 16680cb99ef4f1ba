package autograd

import "privrec/internal/tensor"

// scalar returns a (1, 1) node of value v whose backward adds coefficient times the upstream gradient
// to each element.
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
