//go:build !linux

package tensor

// NewTable returns a zeroed rows x cols matrix for big, long-lived tables. On
// this system it comes from the ordinary heap.
func NewTable(rows, cols int) Matrix { return New(rows, cols) }

// Free returns the memory of a matrix made by NewTable. On this system the
// garbage collector does that.
func Free(Matrix) {}

// NewLarge returns a zeroed rows x cols matrix. On this system it is the same as New.
func NewLarge(rows, cols int) Matrix { return New(rows, cols) }
