package tensor

import "syscall"

// switches returns how often the system has taken a processor from this process while it
// had work for it, 0 where it does not say.
func switches() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Nivcsw
}
