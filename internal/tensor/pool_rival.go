package tensor

import "time"

// rival detects whether another program wants the processor of a thread. The system then stops the thread for
// milliseconds at a time, mostly inside a unit of a section, and all others wait for it. A thread that sleeps briefly
// now and then is stopped less, and outside of units: the other program runs during the sleep, and the thread gets the
// processor as soon as it wakes, as long as it has used less than its share.
type rival struct {
	here   bool
	thread int           // whose delay was read
	waited time.Duration // its delay then
	looked time.Duration // when, by clock
}

const (
	rivalAfter = 20 * time.Millisecond  // how often the delay is read
	rivalTakes = 0.1                    // the part of the time from which on there is a rival
	burst      = 400 * time.Microsecond // how long a worker runs beside a rival before it naps
)

// look reads the delay of the calling thread if the last time is a while ago.
func (r *rival) look(now time.Duration, delay func() (int, time.Duration)) {
	passed := now - r.looked
	if passed < rivalAfter {
		return
	}
	thread, waited := delay()
	if thread == r.thread { // goroutines change threads, which says nothing
		r.here = thread != 0 && float64(waited-r.waited) > rivalTakes*float64(passed)
	}
	r.thread, r.waited, r.looked = thread, waited, now
}

// yield makes room if others want the processor. A worker that shares it with its own caller moves to another one. If
// that one also has a program of its own, the system moves neither by itself, because two threads beside one are as
// even as it gets.
func (w *worker) yield(p *pool) {
	now := clock()
	w.rival.look(now, runDelay)
	if !w.rival.here || now-w.since < burst {
		return
	}
	if at := processor(); at >= 0 && int64(at) == p.at.Load()-1 {
		leave(at)
	}
	w.nap()
}

// nap lets others have the worker's processor.
func (w *worker) nap() {
	sleep(nap)
	w.since = clock()
}
