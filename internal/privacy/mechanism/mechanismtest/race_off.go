//go:build !race

package mechanismtest

// Raced says that the race detector is on: it allocates where the code does not.
const Raced = false
