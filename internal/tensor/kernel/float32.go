//go:build !f64

package kernel

// Float is the element type of every kernel: float32 in normal builds, float64
// under the f64 build tag.
type Float = float32
