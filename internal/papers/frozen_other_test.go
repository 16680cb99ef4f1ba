//go:build !amd64 || amd64.v3 || f64

package papers

import "testing"

// TestFrozen says why this build has no frozen bytes.
func TestFrozen(t *testing.T) {
	t.Skip("the frozen bytes are those of float32 on amd64: float64 and processors on which Go fuses multiplications round otherwise")
}
