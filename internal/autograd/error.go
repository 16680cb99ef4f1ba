package autograd

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/tensor"
)

// Error is the panic value of operations: a misuse of shapes or indices, or, with GuardNaN, a value that is not finite.
type Error struct {
	Op      string   // operation and its number on the tape, as "matmul#14"
	Shapes  [][2]int // rows and columns of the operands, in order
	Params  []string // parameters among the operands, or behind them where an operand is a plain look-up
	Message string   // what is wrong, lower case
}

// Error returns the failure as one line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "autograd: %s: %s", e.Op, e.Message)
	if len(e.Shapes) > 0 {
		b.WriteString(" [")
		for i, s := range e.Shapes {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "(%d,%d)", s[0], s[1])
		}
		b.WriteString("]")
	}
	if len(e.Params) > 0 {
		fmt.Fprintf(&b, " params %s", strings.Join(e.Params, ", "))
	}
	return b.String()
}

// fail panics with an *Error about an operation over the given operands.
func fail(op, message string, in ...*Node) {
	e := &Error{Op: op, Message: message}
	for _, x := range in {
		if x == nil {
			continue
		}
		e.Shapes = append(e.Shapes, [2]int{x.V.Rows, x.V.Cols})
		if x.param != nil {
			e.Params = append(e.Params, x.param.Name)
		}
	}
	panic(e)
}

// failf panics like fail, with a formatted message.
func failf(op string, in []*Node, format string, args ...any) {
	fail(op, fmt.Sprintf(format, args...), in...)
}

// checkIndex panics unless every index lies in [0, n).
func checkIndex(op string, x *Node, idx []int32, n int) {
	for i, k := range idx {
		if uint(k) >= uint(n) {
			failf(op, []*Node{x}, "index %d at position %d outside [0, %d)", k, i, n)
		}
	}
}

// checkOffsets panics unless offsets rise from 0 to n, and returns the number of segments.
func checkOffsets(op string, x *Node, offsets []int32, n int) int {
	if len(offsets) == 0 || offsets[0] != 0 || int(offsets[len(offsets)-1]) != n {
		failf(op, []*Node{x}, "offsets must rise from 0 to %d", n)
	}
	for i := 1; i < len(offsets); i++ {
		if offsets[i] < offsets[i-1] {
			failf(op, []*Node{x}, "offsets fall at position %d", i)
		}
	}
	return len(offsets) - 1
}

// checked returns x; it is the last call of every operation. With GuardNaN it panics unless the value is finite. It
// checks leaves too, because a product can hide a NaN behind a zero.
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

// finite returns the position of the first element that is NaN or infinite; ok is true if there is none.
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
