//go:build !linux

package tensor

import "time"

// runDelay returns the calling thread, and how long it waited for a processor; here the
// system is not asked, which is thread 0.
func runDelay() (thread int, waited time.Duration) { return 0, 0 }

// sleep lets the calling goroutine sleep.
func sleep(d time.Duration) { time.Sleep(d) }

// processor returns the number of the calling thread's processor; -1: not known.
func processor() int { return -1 }

// leave would move the calling thread off a processor.
func leave(int) {}

// NearCache returns how many bytes of data one core holds near it, about. It decides
// how work is cut and ordered, never what comes out.
func NearCache() int { return usualCache }
