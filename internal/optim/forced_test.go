package optim_test

import (
	"os"
	"testing"

	"privrec/internal/tensor"
)

// TestForcedLevel checks that PRIVREC_SIMD is followed. Reading it here, in a test, also
// keeps go test from answering for one level with the cached results of another.
func TestForcedLevel(t *testing.T) {
	if want := os.Getenv("PRIVREC_SIMD"); want != "" && tensor.SIMDError() == nil && tensor.SIMD() != want {
		t.Errorf("PRIVREC_SIMD=%s, but %s is in use", want, tensor.SIMD())
	}
}
