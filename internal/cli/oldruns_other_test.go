//go:build !amd64 || amd64.v3 || f64

package cli

import "testing"

// TestOldRuns says why this build is not asked about the old runs.
func TestOldRuns(t *testing.T) {
	t.Skip("the old runs are of float32, and their answers of amd64 without fused multiplications: this build refuses them or rounds otherwise")
}
