// Package tensor is the numeric floor: dense row-major matrices that are gonum's
// own structs, compressed sparse rows, a worker pool, and the fast loops over
// them.
//
// # Conventions
//
// Float is float32, or float64 under the f64 build tag. A Matrix has Rows, Cols,
// Stride >= Cols and Data; row i is Data[i*Stride : i*Stride+Cols]. Views share
// Data. Matrices with zero rows or columns are legal everywhere.
//
// Misuse (shapes that do not fit, slices too short) panics with both shapes.
// Outputs must not overlap inputs unless a function says so.
//
// # Workers and bits
//
// Work is cut by shape, never by the number of workers, and partial sums are
// added in the order of the cut. So every function returns the same bytes for
// any number of workers, called from inside a parallel body or not. That holds
// on one SIMD level; between levels results agree to about 1e-5 relative.
//
// # SIMD level
//
// The best of AVX-512, AVX2 and plain Go that the processor offers is chosen at
// start. The environment variable PRIVREC_SIMD=off|avx2|avx512 forces one; where
// it asks for the impossible the best available one runs and SIMDError says so.
// go test does not see it by itself: run packages without a TestForcedLevel with
// -count=1, lest results of another level come from its cache.
package tensor
