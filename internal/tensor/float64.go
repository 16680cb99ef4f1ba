//go:build f64

package tensor

import "gonum.org/v1/gonum/blas/blas64"

// Float is the element type of training: float32, or float64 under the f64 tag.
type Float = float64

// Matrix is a dense row-major matrix, gonum's own type.
type Matrix = blas64.General
