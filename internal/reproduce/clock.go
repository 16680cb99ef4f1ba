package reproduce

import (
	"sync"
	"time"

	"privrec/internal/reproduce/roster"
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
	known          bool               // a cost of a run like one of them is recorded
}

// begin notes that a run goes on from now.
func (c *clock) begin(r *roster.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.began = r.Dir, c.now()
}

// end notes that the run is over, whatever came of it.
func (c *clock) end(r *roster.Run) {
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
