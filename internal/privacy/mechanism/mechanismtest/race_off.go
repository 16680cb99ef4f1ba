//go:build !race

package mechanismtest

// Raced says whether the race detector is on, which allocates where the code does not.
const Raced = false
