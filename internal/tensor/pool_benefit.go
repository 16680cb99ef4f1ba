package tensor

import "time"

// benefit keeps account of how much time workers save their caller. If another program has a worker's processor, the
// system stops the worker for milliseconds, inside a unit that all others then wait for, which can cost more than the
// worker saves. The account compares such waits with the time that the caller would have needed for the units of
// others. While sections lose time, the caller works alone, and tries again after ever longer pauses. It makes no
// difference to results who executes a unit.
//
// It also measures how long the caller waits for a processor. If others need that processor, a worker that polls on
// another one keeps the caller from moving there.
type benefit struct {
	section time.Duration // when it began, by clock
	last    time.Duration // when the caller's last unit ended
	longest time.Duration // unit of the caller in this section
	units   int           // of this section
	own     int           // how many of them the caller did

	// Recent sections: how long they took, how long the caller's units took and would have
	// taken without a stop, how long those of others would have, and the stalls.
	spent, took, work, others, stalls time.Duration

	alone time.Duration // until when the caller works alone
	pause time.Duration // how long it last worked alone; 0: workers help

	rival rival // on the caller's processor
}

const (
	stall      = time.Millisecond       // the shortest wait that cannot be a unit longer than others
	evidence   = 20 * time.Millisecond  // the shortest time in sections that says something
	recent     = 200 * time.Millisecond // about how far back the account goes
	pauseLow   = 20 * time.Millisecond  // the shortest time that the caller works alone
	pauseHigh  = 2 * time.Second        // the longest
	pauseTimes = 20                     // in losses: trying again may cost a twentieth of the time
	aloneLong  = 5 * time.Millisecond   // a section that lasts longer gets help at any time
	patient    = 100 * time.Microsecond // the shortest wait for an owner before naps
)

// epoch is the zero of clock.
var epoch = time.Now()

// clock returns the time since epoch, for half the price of time.Now.
func clock() time.Duration { return time.Since(epoch) }

// begin starts a section at time now.
func (b *benefit) begin(units int, now time.Duration) {
	b.units, b.own, b.longest = units, 0, 0
	b.section, b.last = now, now
}

// unit counts a unit of the caller that ended now.
func (b *benefit) unit(now time.Duration) {
	b.longest = max(b.longest, now-b.last)
	b.own++
	b.last = now
}

// typical returns the typical time of the caller's units. The longest does not count, because the caller may have been
// stopped in it.
func (b *benefit) typical() time.Duration {
	took := b.last - b.section
	if b.own < 2 {
		return took
	}
	return (took - b.longest) / time.Duration(b.own-1)
}

// patience returns the time after which the owner of a unit must have lost its processor.
func (b *benefit) patience() time.Duration { return max(2*b.longest, patient) }

// end closes a section and decides whether later ones get help. delay returns how long the caller's thread has waited
// for a processor so far.
func (b *benefit) end(now time.Duration, delay func() (thread int, waited time.Duration)) {
	b.rival.look(now, delay)
	if b.own == b.units {
		return // nothing to learn
	}
	each := b.typical()
	b.spent += now - b.section
	b.took += b.last - b.section
	b.work += time.Duration(b.own) * each
	b.others += time.Duration(b.units-b.own) * each
	if waited := now - b.last; waited > stall+2*b.longest {
		b.stalls += waited
	}
	switch saved := b.saved(); {
	case b.spent < evidence:
	case saved < 0:
		b.pause = min(max(-saved*pauseTimes, 2*b.pause, pauseLow), pauseHigh)
		b.alone = now + b.pause
		b.spent, b.took, b.work, b.others, b.stalls = 0, 0, 0, 0, 0
	case b.spent > recent:
		b.pause = 0
		for _, x := range []*time.Duration{&b.spent, &b.took, &b.work, &b.others, &b.stalls} {
			*x /= 2
		}
	}
}

// saved returns how much longer the caller would have taken alone, assuming that it would have been stopped in the
// units of others as often as in its own.
func (b *benefit) saved() time.Duration {
	if b.work == 0 {
		return 0
	}
	return time.Duration(float64(b.others)*float64(b.took)/float64(b.work)) - b.stalls
}

// strained reports whether other programs need the processors.
func (b *benefit) strained() bool { return b.rival.here || b.pause > 0 }

// helped reports whether workers take part in sections now.
func (b *benefit) helped(now time.Duration) bool { return now >= b.alone }
