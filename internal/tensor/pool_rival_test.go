package tensor

import (
	"testing"
	"time"
)

// A rival is there where a thread waits for a good part of the time, and known by the
// delay of one thread only.
func TestRival(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name   string
		thread [2]int
		waited time.Duration
		passed time.Duration
		before bool
		here   bool
	}{
		{"the processor is free", [2]int{7, 7}, 0, 50 * ms, true, false},
		{"some interruptions", [2]int{7, 7}, 4 * ms, 50 * ms, true, false},
		{"half of it is taken", [2]int{7, 7}, 25 * ms, 50 * ms, false, true},
		{"too early to say", [2]int{7, 7}, 10 * ms, 15 * ms, false, false},
		{"another thread", [2]int{7, 8}, 25 * ms, 50 * ms, false, false},
		{"another thread beside a rival", [2]int{7, 8}, 0, 50 * ms, true, true},
		{"a system that does not say", [2]int{0, 0}, 25 * ms, 50 * ms, true, false},
	} {
		start := time.Hour
		r := rival{here: c.before, thread: c.thread[0], waited: time.Second, looked: start}
		r.look(start+c.passed, func() (int, time.Duration) { return c.thread[1], time.Second + c.waited })
		if r.here != c.here {
			t.Errorf("%s: a rival: %v", c.name, r.here)
		}
	}
}

// A worker with a rival naps once it has run for a while, not before, and never without.
func TestYield(t *testing.T) {
	for _, c := range []struct {
		name string
		here bool
		ran  time.Duration
		naps bool
	}{
		{"a rival, just woken", true, 0, false},
		{"a rival, after a burst", true, time.Minute, true},
		{"no rival", false, time.Minute, false},
	} {
		now := clock()
		since := now - c.ran
		w := worker{since: since, rival: rival{here: c.here, looked: now + time.Hour}}
		w.yield(&pool{})
		if (w.since != since) != c.naps {
			t.Errorf("%s: napped %v", c.name, w.since != since)
		}
	}
}

// A section ends with each unit done once while all workers and the caller make room.
func TestPoolBesideRivals(t *testing.T) {
	here := rival{here: true, looked: clock() + time.Hour}
	p := pool{size: 4, benefit: benefit{rival: here}}
	p.strained.Store(true)
	for id := 1; id < p.size; id++ {
		w := &worker{id: id, wake: make(chan struct{}, 1), ended: make(chan struct{}), rival: here}
		p.workers = append(p.workers, w)
		go w.loop(&p)
	}
	for range 200 {
		done := make([]int, 64)
		p.run(len(done), job{fn: func(k, _ int) {
			for end := time.Now().Add(burst / 8); time.Now().Before(end); {
			}
			done[k]++
		}})
		for k, n := range done {
			if n != 1 {
				t.Fatalf("unit %d done %d times", k, n)
			}
		}
	}
	for _, w := range p.workers {
		w.quit.Store(true)
		w.unpark()
		<-w.ended
	}
}
