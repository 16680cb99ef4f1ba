// Package vectors reads and writes matrices of vectors of users and items, in the forms in which other programs keep
// them.
//
// # Forms
//
// What a file is, its first bytes say, not its name.
//
//   - .npy of NumPy, versions 1 to 3: float16, float32 or float64, of either byte order, by rows or by columns.
//   - .npz of NumPy: a zip of arrays under names, stored or deflated.
//   - .safetensors: arrays F16, BF16, F32 or F64 under names.
//   - Parquet: a row a vector, in one column of lists or in one column of numbers for each component, beside a column
//     of ids where there is one.
//
// Object arrays and pickles are refused: reading them would run what they hold. So are numbers that are not finite, and
// numbers that are too large for the program's floating point; the message has row and column as NumPy counts them.
//
// # Bounded memory
//
// A header of a few bytes can claim any size. Nothing is allocated for a claim: in a file that is not compressed, the
// bytes must be there, and in a compressed one memory grows as they come. What a compressed array may come to is
// bounded by the bytes that hold it (see spread).
//
// # Why no library
//
// github.com/sbinet/npyio would add 74 kB to the program, which is no reason against it. Version 0.6.0 allocates what a
// header claims, fills an array with zeros where its file was cut, ends the program on a header without a line end, and
// reads neither float16 nor version 3. A reader of one matrix is short. For Parquet see package parquet.
package vectors
