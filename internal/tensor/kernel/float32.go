//go:build !f64

package kernel

import "math"

// Float is the element type of every kernel: float32 in normal builds, float64
// under the f64 build tag.
type Float = float32

// bits and fromBits are a Float as an integer, which a processor can choose without a branch.
func bits(x Float) uint32     { return math.Float32bits(x) }
func fromBits(b uint32) Float { return math.Float32frombits(b) }
