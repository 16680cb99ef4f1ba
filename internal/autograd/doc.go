// Package autograd differentiates a scalar loss with respect to named parameters.
//
// A Tape records one step. Leaves enter through the tape (Use, Rows, Const). Every other operation is
// a method on *Node that computes its value at once and leaves a closure for the backward pass, so the
// forward and backward formulas of an operation stand side by side. Creation order is topological:
// Backward is one loop over the nodes in reverse, without recursion, sorting or maps.
//
//	t.Reset()
//	loss := t.Rows(item, ids).Linear(t.Use(w), t.Use(b)).ReLU().CrossEntropy(targets)
//	t.Backward(loss)
//	optimizer.Step(params, t.Grads(), lr)
//
// # Conventions
//
// Every value is a row-major matrix; a scalar is (1, 1), a vector over rows is (n, 1), a row is
// (1, d). Shapes are written as end-of-line comments: // (n, d).
//
// Parameters are read-only during a step and hold no gradient. Gradients belong to the tape, so
// each worker differentiates on a tape of its own, and per-example gradients take one tape (or one
// Reset) an example. A look-up by Rows has a row-sparse gradient. The gradients of a value that is
// used twice are added up.
//
// Memory belongs to the tape too. Reset rewinds it: every Node, Buffer and Grads of the step before
// is then invalid. Buffers are not cleared unless BufferZero asked for it. Index slices given to an
// operation are kept, not copied, and must not change before Backward has returned (for Rows:
// before the gradients have been used). A node's G is defined only while its own backward runs,
// which may hand it on to an input instead of copying it.
//
// A node that no parameter feeds into has no gradient, and none is computed for it.
//
// A batch of many small operations is best cut into parts, each on one worker ([Tape.Parts]).
//
// # Errors
//
// A wrong shape or index is a mistake in a model, so operations panic with an *Error, which names the
// operation, the shapes and the parameters involved. The training loop is the border that turns the
// panic into an error. With GuardNaN set, the first operation with a value or gradient that is not
// finite panics in the same way ("matmul#14 produced NaN").
//
// # Determinism
//
// Work is split by shape, never by the number of workers, and sums are taken in a fixed order:
// results are the same bytes for any tensor.Workers().
package autograd
