//go:build !f64

package tensor

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Float is the element type of training: float32, or float64 under the f64 tag.
type Float = float32

// Matrix is a dense row-major matrix, gonum's own type.
type Matrix = blas32.General

// bits and fromBits are a Float as an integer, which a processor can choose without a branch.
func bits(x Float) uint32     { return math.Float32bits(x) }
func fromBits(b uint32) Float { return math.Float32frombits(b) }
