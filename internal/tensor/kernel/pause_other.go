//go:build !amd64

package kernel

// Pause does nothing for a moment; amd64 uses the PAUSE instruction.
func Pause(n int) {
	for range n {
	}
}
