package tensor

import "privrec/internal/tensor/kernel"

// SIMD names the instruction set in use: "avx512", "avx2" or "off" (plain Go).
func SIMD() string { return kernel.Current().String() }

// SIMDError tells why PRIVREC_SIMD could not be followed; nil if it was, or is
// not set. The best available level runs then.
func SIMDError() error { return kernel.ChoiceError() }
