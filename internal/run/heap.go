package run

import (
	"os"
	"runtime/debug"
)

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
