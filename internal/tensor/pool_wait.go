package tensor

import (
	"sync/atomic"
	"time"

	"privrec/internal/tensor/kernel"
)

const (
	spinFor      = time.Millisecond      // how long an idle worker polls; must exceed the usual serial gap
	spinStrained = 20 * time.Microsecond // the same before it naps where other programs need the processors
	spinWait     = 10 * time.Microsecond // how long the caller polls before it lets other goroutines run
	nap          = 20 * time.Microsecond // how long a thread sleeps at a time
	look         = 150 * time.Nanosecond // how long a polling thread pauses between two looks
)

// pauses is the number of PAUSE instructions that last about as long as look. One takes 40 cycles on some processors
// and 140 on others.
var pauses atomic.Int32

// pause waits for about the length of look.
func pause() { kernel.Pause(int(pauses.Load())) }

// calibrate measures the duration of PAUSE. It takes the shortest of several tries of a microsecond or a few, since the
// others were interrupted.
func calibrate() {
	if pauses.Load() > 0 {
		return
	}
	const many = 32
	least := time.Hour
	for range 10 {
		start := time.Now()
		kernel.Pause(many)
		least = min(least, time.Since(start))
	}
	pauses.Store(int32(min(max(many*look/max(least, 1), 1), 1<<10)))
}
