//go:build !linux

package tensor

// switches returns how often the system has taken a processor from this process; here it
// is not asked.
func switches() int64 { return 0 }
