package channel

import (
	"errors"
	"fmt"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Channel adds the noise of one mechanism in one run. It records in the ledger, draws from the stream, checks all noise
// that it added and remembers the keys that it used. Different goroutines may handle rows of a release, and several
// releases.
//
// It adds noise in releases: Begin, BeginMany or Start, then every row, then Finish. State and Restore save it to a
// checkpoint and bring it back.
type Channel[T mechanism.Float] struct {
	purpose  string
	share    mechanism.Share
	law      Law
	secret   bool // noise from cryptographic bits: never the same twice
	ledger   *privacy.Ledger
	stream   rng.Stream                           // of releases keyed as a whole
	keyed    rng.Stream                           // of releases keyed by part
	add      func(s rng.Stream, dst []T, scale T) // the sampler
	absolute bool                                 // sizes are absolute values, not squares
	vectors  bool                                 // the size of a row is its length
	grid     *Grid                                // nil: noise in floating point
	together int64                                // releases that one event covers; below 2: one

	mu      sync.Mutex
	total   Tally
	checked int64 // values at the last check
	spent   mechanism.Spending
	used    usedKeys
	paid    int64 // releases to come that the last recorded event covers
	open    int   // releases begun and not ended
	failed  error
	idle    []*Release[T]
}

// Noise describes the noise that a channel adds. A mechanism with a sampler of its own opens a channel with it, as Open
// and OpenLaplace do.
type Noise[T mechanism.Float] struct {
	Purpose  string                               // names the releases in the ledger
	Share    mechanism.Share                      // of the run's false-alarm probability
	Law      Law                                  // what is recorded, and what the checks expect
	Add      func(s rng.Stream, dst []T, scale T) // the sampler: adds noise of the law's scale to dst
	Absolute bool                                 // the checks use absolute values, not squares
	Vectors  bool                                 // and those of whole rows: their lengths
	Grid     *Grid                                // the grid of the outputs; nil: noise in floating point
	Secret   bool                                 // noise from cryptographic bits, which has no state to restore
	// Together is the number of releases in a row that the law's event covers, such as the steps of an epoch. The event
	// is recorded before the first of them. They are begun one at a time, with Begin. 0: each is an event of its own.
	Together int64
}

// New opens a channel that draws from stream s and records in ledger l. It fails on an event or
// a share that is not valid, and on a ledger that is not marked for such noise.
func New[T mechanism.Float](n Noise[T], l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if n.Purpose == "" {
		return nil, errors.New("channel: no purpose")
	}
	err := errors.Join(n.Law.Event.Validate(), n.Share.Validate())
	if err == nil {
		err = mechanism.Marked(l, n.Secret)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.Purpose, err)
	}
	return &Channel[T]{purpose: n.Purpose, share: n.Share, law: n.Law, secret: n.Secret, ledger: l,
			stream: s.Sub(), keyed: s.Sub(keyedByPart), add: n.Add, absolute: n.Absolute, vectors: n.Vectors,
			grid: n.Grid, together: n.Together},
		nil
}

// see returns the tally of a changed row. It is not a function value, so that before stays on the stack.
func (c *Channel[T]) see(before, after []T) Tally {
	perScale := 1 / float64(atLeast[T](c.law.Scale))
	switch {
	case c.grid != nil:
		return steps(c.grid, before, after, c.absolute)
	case c.vectors:
		return lengths(before, after, perScale)
	case c.absolute:
		return sizes(before, after, perScale)
	}
	return difference(before, after, perScale)
}

// Event returns the event that the channel records of one release.
func (c *Channel[T]) Event() privacy.Event { return c.law.Event }

// Perturb adds noise to the whole of data, in rows of cols, as one matrix. releases is the
// number of releases to record: how many parts of the data (sessions, samples) its rows belong
// to, at least 1. The key is that of Begin.
func (c *Channel[T]) Perturb(data []T, cols int, releases int64, key ...uint64) error {
	if cols <= 0 || len(data)%cols != 0 {
		return fmt.Errorf("%s: %d values in rows of %d", c.purpose, len(data), cols)
	}
	r, err := c.begin(len(data)/cols, cols, releases, key)
	if err != nil {
		return err
	}
	for i := range r.rows {
		r.Row(i, data[i*cols:(i+1)*cols])
	}
	return r.Finish()
}

// Check returns an error if all noise added so far, including that before a resume, does not fit the law. A run calls
// it at its end; before that, it runs whenever the number of values has doubled. It also fails while a release is open,
// since its noise is not checked yet.
func (c *Channel[T]) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	if c.open != 0 {
		return fmt.Errorf("%s: %d releases were begun and not ended", c.purpose, c.open)
	}
	return c.check()
}

func (c *Channel[T]) check() error {
	c.checked = c.total.N
	err := c.law.Check(&c.total, c.purpose, c.spent.Next(c.law.Tails, c.share))
	if err != nil {
		c.failed = err
	}
	return err
}
