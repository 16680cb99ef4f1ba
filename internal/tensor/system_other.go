//go:build !linux

package tensor

import "time"

// runDelay returns thread 0: on this system the waiting time of a thread is not known.
func runDelay() (thread int, waited time.Duration) { return 0, 0 }

// sleep lets the calling goroutine sleep.
func sleep(d time.Duration) { time.Sleep(d) }

// processor returns the number of the calling thread's processor; -1: not known.
func processor() int { return -1 }

// leave would move the calling thread off a processor.
func leave(int) {}

// NearCache returns the approximate size of the data that one core holds near it, in bytes. It decides how work is cut
// and ordered, never the results.
func NearCache() int { return usualCache }
