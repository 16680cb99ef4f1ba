//go:build f64

package kernel

import (
	"math"
)

// Float is the element type of every kernel: float32 in normal builds, float64
// under the f64 build tag.
type Float = float64

// bits and fromBits convert a Float to an integer and back. A processor can select integers without a branch.
func bits(x Float) uint64     { return math.Float64bits(x) }
func fromBits(b uint64) Float { return math.Float64frombits(b) }

func expOne(x float64) float64 { return math.Exp(x) }

func sigmoidOne(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func tanhOne(x float64) float64 { return math.Tanh(x) }
