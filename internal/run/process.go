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

// setWorkers sets the number of threads; 0 takes all cores, whatever an earlier
// task of this process asked for.
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

// garbagePercent is how much garbage may lie beside the live memory of a run. Tables live
// as long as the run and steps reuse their buffers: the runtime's 100 % would hold twice
// the memory and hardly save a collection.
const garbagePercent = 30

// leanHeap sets that for the process, unless GOGC in the environment says how much.
func leanHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
