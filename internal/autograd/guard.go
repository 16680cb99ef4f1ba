package autograd

import (
	"math"

	"privrec/internal/tensor"
)

// checked returns x, as the last line of every operation. With GuardNaN it panics unless the value is
// finite. It checks leaves too, because a product can hide a NaN behind a zero.
func (x *Node) checked() *Node {
	if x.t.GuardNaN {
		x.guard()
	}
	return x
}

func (x *Node) guard() {
	if i, j, ok := finite(x.V); !ok {
		v := x.V.Data[i*x.V.Stride+j]
		if x.back == nil && x.in[0] == nil {
			failf(x.name(), []*Node{x}, "holds %v at (%d,%d)", v, i, j)
		}
		failf(x.name(), x.operands(), "produced %v at (%d,%d)", v, i, j)
	}
}

// guardBack checks the gradients an operation has just added to.
func (x *Node) guardBack() {
	for _, in := range x.operands() {
		if !in.hasG {
			continue
		}
		if i, j, ok := finite(in.G); !ok {
			failf(x.name(), x.operands(), "backward produced %v at (%d,%d) in the gradient of %s",
				in.G.Data[i*in.G.Stride+j], i, j, in.name())
		}
	}
}

func (x *Node) operands() []*Node {
	var all []*Node
	for _, in := range x.in {
		if in != nil {
			all = append(all, in)
		}
	}
	return append(all, x.more...)
}

// finite reports the place of the first element that is NaN or infinite.
func finite(m tensor.Matrix) (i, j int, ok bool) {
	for i := range m.Rows {
		if j, ok := tensor.Finite(tensor.Row(m, i)); !ok {
			return i, j, false
		}
	}
	return 0, 0, true
}

func poison(x []tensor.Float) {
	nan := tensor.Float(math.NaN())
	for i := range x {
		x[i] = nan
	}
}
