//go:build !amd64

package kernel

// Pause waits for a moment; amd64 uses the PAUSE instruction for it.
func Pause(n int) {
	for range n {
	}
}
