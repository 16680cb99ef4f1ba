package autograd

import (
	"fmt"

	"privrec/internal/tensor"
)

// Node is a value on a tape. It is valid until the tape's next Reset.
type Node struct {
	V tensor.Matrix // value
	G tensor.Matrix // gradient of the loss; see the package comment for when it is defined

	t      *Tape
	op     string
	id     int
	param  *Param   // leaves only
	leaf   bool     // a whole parameter, from Use
	in     [4]*Node // operands
	more   []*Node  // operands beyond the fourth
	nin    int      // number of operands
	need   bool     // a parameter feeds into it, so a gradient is wanted
	hasG   bool     // G has been written
	taken  bool     // V was overwritten by AddNoise
	shared bool     // V is read again by some backward closure or by another node
	back   func()   // adds to the operands' gradients; nil on leaves
}

// Rows returns the number of rows of the value.
func (x *Node) Rows() int { return x.V.Rows }

// Cols returns the number of columns of the value.
func (x *Node) Cols() int { return x.V.Cols }

// Scalar returns the value of a (1, 1) node.
func (x *Node) Scalar() float64 {
	if x.V.Rows != 1 || x.V.Cols != 1 {
		fail(x.name(), "not a scalar", x)
	}
	if x.taken {
		fail(x.name(), "was overwritten by AddNoise", x)
	}
	return float64(x.V.Data[0])
}

// Tape returns the tape on which the node was recorded.
func (x *Node) Tape() *Tape { return x.t }

func (x *Node) name() string { return fmt.Sprintf("%s#%d", x.op, x.id) }

// flat returns the value as one slice. A strided leaf is copied once into the arena.
func (x *Node) flat() []tensor.Float {
	if x.V.Stride != x.V.Cols && x.V.Rows > 1 {
		m := x.t.Buffer(x.V.Rows, x.V.Cols)
		x.t.copyTo(m, x.V)
		x.V = m
	}
	return x.V.Data[:x.V.Rows*x.V.Cols]
}

// dy returns the gradient of x as one slice.
func (x *Node) dy() []tensor.Float { return x.G.Data[:x.G.Rows*x.G.Cols] }

// acc returns the gradient to add to and the factor for its old content: 0 on the first call, when it is undefined, 1
// afterwards. It is for operations that can accumulate in place.
func (x *Node) acc() (g tensor.Matrix, beta tensor.Float) {
	if !x.hasG {
		x.G, x.hasG = x.t.Buffer(x.V.Rows, x.V.Cols), true
		return x.G, 0
	}
	return x.G, 1
}

// accZero returns the gradient to add to, cleared on the first call.
func (x *Node) accZero() tensor.Matrix {
	g, beta := x.acc()
	if beta == 0 {
		clear(g.Data)
	}
	return g
}

// give adds m, a buffer of the tape that has no other use, to the gradient of x. The first buffer
// given becomes the gradient itself.
func (x *Node) give(m tensor.Matrix) {
	if x.hand(m); len(m.Data) > 0 && &x.G.Data[0] != &m.Data[0] {
		x.t.giveBack(m.Data)
	}
}

// hand adds m like give, for a buffer that may have another use once x has a gradient.
func (x *Node) hand(m tensor.Matrix) {
	if !x.hasG {
		x.G, x.hasG = m, true
		return
	}
	x.t.each(len(x.G.Data), 1, job{kernel: addKernel, dst: x.G.Data, a: m.Data})
}

// pass adds the gradient of y, unchanged, to that of x. It must be the last use of y.G.
func (x *Node) pass(y *Node) { x.hand(y.G) }

// passCopy adds the gradient of y to that of x like pass, if y.G is still needed.
func (x *Node) passCopy(y *Node) {
	if x.hasG {
		x.hand(y.G)
		return
	}
	g, _ := x.acc()
	copy(g.Data, y.G.Data)
}

func addKernel(j *job, lo, hi int) { tensor.Add(j.dst[lo:hi], j.a[lo:hi]) }

// Param is a named, trainable matrix. It holds no gradient: gradients belong to the tape that
// computed them, so parameters can be read by any number of tapes at once.
type Param struct {
	Name  string        // unique within a model; keys initial values, optimiser state and checkpoints
	Value tensor.Matrix // read-only between Tape.Reset and the optimiser's step
}

// NewParam returns a zero parameter of the given shape.
func NewParam(name string, rows, cols int) *Param {
	return &Param{Name: name, Value: tensor.New(rows, cols)}
}

// NamedTensor is a matrix with a name. Checkpoints store parameters and optimiser state in this form.
type NamedTensor struct {
	Name  string
	Value tensor.Matrix
}
