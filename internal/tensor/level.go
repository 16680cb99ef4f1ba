package tensor

import "privrec/internal/tensor/kernel"

// SIMD returns the name of the instruction set in use: "avx512", "avx2" or "off" (plain Go).
func SIMD() string { return kernel.Current().String() }

// SIMDError returns why PRIVREC_SIMD could not be followed, in which case the best
// available level runs. It returns nil if the variable was followed or is not set.
func SIMDError() error { return kernel.ChoiceError() }
