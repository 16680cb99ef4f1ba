package accountant

import (
	"math"
	"privrec/internal/privacy/reference"
	"testing"
)

// Very much noise, and the order of the two limits: batches of fixed size are
// never better than independent coins at the same rate.
func TestCLTLimits(t *testing.T) {
	for _, sigma := range []float64{0.3, 1, 1.7, 3, 40, 1e4, 1e12} {
		u, p := reference.CLTMuUniform(0.01, sigma, 1e4), CLTMuPoisson(0.01, sigma, 1e4)
		if math.IsNaN(u) || math.IsNaN(p) || u < p*(1-1e-12) {
			t.Errorf("sigma %v: %v for batches, %v for coins", sigma, u, p)
		}
		if sigma >= 1e12 && math.Abs(u*sigma-1) > 1e-11 {
			t.Errorf("sigma %v: %v, want %v", sigma, u, 1/sigma)
		}
	}
}
