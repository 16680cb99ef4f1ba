package run

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"privrec/internal/tensor"
)

func simdPath() string { return tensor.SIMD() }
func workers() int     { return tensor.Workers() }

// setWorkers sets the number of threads; 0 takes all cores, also after an earlier task of this
// process asked for another number.
func setWorkers(n int) {
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	tensor.SetWorkers(n)
}

var floatName = func() string {
	var x any = tensor.Float(0)
	return fmt.Sprintf("%T", x)
}()

// garbagePercent is how much garbage a run may have, relative to its live memory. Tables live
// as long as the run, and steps reuse their buffers. The runtime's 100 % would take twice the
// memory and save hardly any collections.
const garbagePercent = 30

// leanHeap sets garbagePercent for the process, unless the environment variable GOGC is set.
func leanHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
