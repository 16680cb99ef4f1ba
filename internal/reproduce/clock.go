package reproduce

import (
	"sync"
	"time"

	"privrec/internal/run"
)

// clock tells how long the runs that a process still has to make will take: their recorded
// costs, scaled by what the runs so far took. It is safe for several goroutines.
type clock struct {
	now func() time.Time

	mu             sync.Mutex
	left           map[string]float64 // expected seconds of the unfinished runs, by directory
	at             string             // the run that goes on; "": none
	began          time.Time          // it did
	took, expected float64            // seconds of the runs that this process made
}

// newClock returns a clock of the runs of a plan that are not finished.
func newClock(p *Plan) *clock {
	c := &clock{now: time.Now, left: map[string]float64{}}
	if p.o.NoRun {
		return c
	}
	for _, r := range p.runs {
		m, err := run.ReadManifest(r.Dir)
		done := err == nil && (m.Status == run.StatusDone || m.Final)
		if !done && p.o.Shard.has(r) {
			c.left[r.Dir] = r.cost().Seconds
		}
	}
	return c
}

// begin notes that a run goes on from now.
func (c *clock) begin(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.began = r.Dir, c.now()
}

// end notes that the run is over, whatever came of it.
func (c *clock) end(r *Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.took += c.now().Sub(c.began).Seconds()
	c.expected += c.left[r.Dir]
	c.at = ""
	delete(c.left, r.Dir)
}

// prior is the seconds of work for which recorded costs are believed: after that, what the
// runs take here counts more.
const prior = 30

// Ahead returns how many runs this process still has to make, the one that goes on among
// them, and about how long they take.
func (p *Plan) Ahead() (runs int, left time.Duration) {
	c := p.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	scale := (c.took + prior) / (c.expected + prior)
	seconds := 0.0
	for dir, s := range c.left {
		if s *= scale; dir == c.at {
			s = max(0, s-c.now().Sub(c.began).Seconds())
		}
		seconds += s
	}
	return len(c.left), time.Duration(seconds * float64(time.Second))
}
