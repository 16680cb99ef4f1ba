//go:build f64

package tensor

// UseBLAS makes gonum's blas32 functions run on this package's kernels. Under
// the f64 tag the kernels are float64 in plain Go, and it does nothing.
func UseBLAS() {}
