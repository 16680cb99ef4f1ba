package autograd

import (
	"fmt"
	"strings"
)

// Error is the value that operations panic with: a misuse of shapes or indices, or, with GuardNaN, a
// value that is not finite.
type Error struct {
	Op      string   // operation and its number on the tape, as "matmul#14"
	Shapes  [][2]int // rows and columns of the operands, in order
	Params  []string // parameters among the operands, or behind them where an operand is a plain look-up
	Message string   // what is wrong, lower case
}

// Error formats the failure on one line.
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

// failf panics as fail does, with a formatted message.
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
