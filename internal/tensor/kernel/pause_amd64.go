package kernel

// Pause executes n PAUSE instructions, none for n < 1: it waits without starving the
// other hardware thread of the core.
//
//go:noescape
func Pause(n int)
