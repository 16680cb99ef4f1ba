// Package tensor holds the numeric base of the program: dense row-major matrices, which are gonum's own structs,
// compressed sparse rows, a worker pool, and the fast loops over them.
//
// # Conventions
//
// Float is float32, or float64 under the f64 build tag. A Matrix has Rows, Cols,
// Stride >= Cols and Data; row i is Data[i*Stride : i*Stride+Cols]. Views share
// Data. Matrices with zero rows or columns are legal everywhere.
//
// A misuse (shapes that do not fit, slices too short) panics with both shapes.
// Outputs must not overlap inputs unless a function allows it.
//
// # Workers and bits
//
// Work is cut by shape, never by the number of workers, and partial sums are
// added in the order of the cut. So every function returns the same bytes for
// any number of workers, from inside a parallel body or not. That holds on one
// SIMD level; between levels results agree to about 1e-5 relative.
//
// # SIMD level
//
// The best of AVX-512, AVX2 and plain Go that the processor offers is chosen at
// start. The environment variable PRIVREC_SIMD=off|avx2|avx512 forces one. Where
// the processor does not have it, the best available level runs and SIMDError
// says so. The cache of go test does not see this variable: run packages without
// a TestForcedLevel with -count=1, or results of another level may come from the
// cache.
package tensor
