package autograd

import "privrec/internal/tensor"

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

// NamedTensor is a matrix under a name, the unit in which checkpoints store parameters and
// optimiser state.
type NamedTensor struct {
	Name  string
	Value tensor.Matrix
}
