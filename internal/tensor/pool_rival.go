package tensor

import "time"

// rival knows whether another program wants the processor of a thread. The system then
// stops the thread for milliseconds at a time, mostly inside a unit of a section, for
// which all others wait. It stops a thread less, and outside of units, that sleeps now and
// then by itself: the other program gets its turn then, and the thread is given the
// processor as soon as it wakes, while it has used less than its share.
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

// look reads the delay of the calling thread where the last time is a while ago.
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

// yield makes room where the processor is wanted by others. A worker that shares it with
// its own caller moves to another one. Where that, too, has a program of its own, the
// system moves neither by itself, because two threads beside one are as even as it gets.
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
