//go:build !race

package mechanism

// raced says that the race detector is on: it allocates where the code does not.
const raced = false
