package tensor

import (
	"sync/atomic"
	"testing"
	"time"
)

// sectionOf accounts for a section of equal units, of which the caller did some before it
// waited, and returns when it ended. With own below 0 it was itself stopped for as long.
func (b *benefit) sectionOf(now time.Duration, units, own int, unit, waited, delay time.Duration) time.Duration {
	b.begin(units, now)
	stopped := own < 0 // the caller too, in one unit
	for k := range max(own, -own) {
		if now += unit; stopped && k == 0 {
			now += waited
		}
		b.unit(now)
	}
	now += waited
	b.end(now, func() (int, time.Duration) { return 1, delay })
	return now
}

// Workers stay while they save time, go when waiting for them costs more, and come back.
func TestBenefitDecides(t *testing.T) {
	const ms = time.Millisecond
	start := 1000 * time.Second // all of it is counted: no clock is read
	end := start + time.Second
	for _, c := range []struct {
		name   string
		own    int
		unit   time.Duration
		waited time.Duration
		alone  time.Duration // after one second of such sections; 0: never
	}{
		{"shares alike", 4, ms, 0, 0},
		{"a wait no longer than a unit", 4, ms, ms, 0},
		{"units that differ", 1, ms, 2 * ms, 0},
		{"a stall that costs less than it brings", 4, ms, 3500 * time.Microsecond, 0},
		{"a stall that costs more", 4, ms, 8 * ms, 20 * ms},
		{"a long stall", 7, ms, 40 * ms, 20 * ms},
		{"stalls of the caller as long", -4, ms, 40 * ms, 0},
	} {
		b, now, alone := benefit{}, start, false
		for now < end && !alone {
			now = b.sectionOf(now, 8, c.own, c.unit, c.waited, 0)
			alone = !b.helped(now)
		}
		if alone != (c.alone > 0) {
			t.Errorf("%s: the caller works alone: %v", c.name, alone)
			continue
		}
		if alone && (b.helped(now+c.alone) || !b.helped(now+pauseHigh+ms) || !b.strained()) {
			t.Errorf("%s: alone until %v after now", c.name, b.alone-now)
		}
		if !alone {
			continue
		}
		first := b.pause // the next time is longer
		now += pauseHigh + ms
		for b.helped(now) {
			now = b.sectionOf(now, 8, c.own, c.unit, c.waited, 0)
		}
		if b.pause < 2*first && b.pause < pauseHigh {
			t.Errorf("%s: pauses of %v and %v", c.name, first, b.pause)
		}
		for now = b.alone + ms; b.strained(); {
			now = b.sectionOf(now, 8, 4, ms, 0, 0) // all is well again
		}
	}
}

// A caller that waits for its processor strains the pool; one that gets it does not.
func TestBenefitSeesRivals(t *testing.T) {
	var b benefit
	now, waited := 1000*time.Second, time.Duration(0)
	for _, c := range []struct {
		part     float64 // of the time in which the caller waits
		strained bool
	}{{0.01, false}, {0.4, true}, {0.05, false}} {
		for range 100 {
			waited += time.Duration(c.part * float64(time.Millisecond))
			now = b.sectionOf(now, 4, 4, 250*time.Microsecond, 0, waited)
		}
		if b.strained() != c.strained {
			t.Errorf("a caller that waits %v of its time: strained %v", c.part, b.strained())
		}
	}
}

// While the caller works alone it does short sections by itself, in order, and gets help
// in long ones.
func TestPoolAlone(t *testing.T) {
	withWorkers(3, func() {
		Parallel(8, 1, func(_, _, _ int) {}) // brings up the workers
		alone := func() { shared.benefit.alone = clock() + time.Hour }
		alone()
		for range 100 {
			var order []int
			Parallel(8, 1, func(k, _, _ int) { order = append(order, k) })
			for i, k := range order {
				if k != i || len(order) != 8 {
					t.Fatalf("units in order %v", order)
				}
			}
		}
		// Unit 1 ends only once another goroutine has done unit 2.
		alone()
		met := make(chan struct{})
		var count atomic.Int32
		Parallel(3, 1, func(k, _, _ int) {
			switch k {
			case 0:
				time.Sleep(2 * aloneLong)
			case 1:
				<-met
			case 2:
				close(met)
			}
			count.Add(1)
		})
		if count.Load() != 3 {
			t.Errorf("%d units", count.Load())
		}
	})
}

func TestCalibration(t *testing.T) {
	pauses.Store(0)
	calibrate()
	if n := pauses.Load(); n < 1 || n > 1<<10 {
		t.Errorf("%d PAUSE instructions", n)
	}
}
