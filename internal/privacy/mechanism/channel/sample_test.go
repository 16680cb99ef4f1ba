package channel

import (
	"fmt"
	"math"
	"testing"
)

// A scale that no float32 reaches from below has none to be rounded up to.
func TestScaleWithoutSuccessor(t *testing.T) {
	for _, scale := range []float64{math.Nextafter(math.MaxFloat32, math.Inf(1)), 1e39, 1e-60} {
		if representable[float32](scale) || !representable[float64](scale) {
			t.Errorf("%v: representable as a float32: %v, as a float64: %v", scale, representable[float32](scale), representable[float64](scale))
		}
	}
	for _, scale := range []float64{math.MaxFloat32, 1e-45, 1} {
		if !representable[float32](scale) {
			t.Error(fmt.Sprint(scale, " is not representable"))
		}
	}
}
