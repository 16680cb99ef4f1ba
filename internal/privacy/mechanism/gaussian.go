package mechanism

import (
	"errors"
	"fmt"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Float is the element type of the data: tensor.Float under either build.
type Float interface{ ~float32 | ~float64 }

// Gaussian adds independent normal noise of standard deviation Sigma to every
// value. It is a description: Open puts it to work.
type Gaussian struct {
	Purpose      string               // names the release in the ledger: aggregate
	Sigma        float64              // standard deviation of the noise, positive
	Sensitivity  float64              // l2 distance between neighbours' values in one release
	Unit         privacy.Unit         // what neighbours differ in
	Neighbouring privacy.Neighbouring // and how
	Share        Share                // of the run's false-alarm probability
}

// Event returns what one release of the mechanism is to an accountant.
func (g Gaussian) Event() privacy.Gaussian {
	return privacy.Gaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Unit: g.Unit, Neighbouring: g.Neighbouring}
}

// Channel is a mechanism that adds noise, at work in one run: it knows the ledger
// and the stream, watches all noise that it added and remembers which keys it
// used. The rows of a release, and several releases, may be in different
// goroutines.
//
// It adds noise in releases: Begin, BeginMany or Start, then every row, then Finish.
// State and Restore carry it through a checkpoint.
type Channel[T Float] struct {
	purpose  string
	share    Share
	law      Law
	secret   bool // noise from cryptographic bits: never the same twice
	ledger   *privacy.Ledger
	stream   rng.Stream                           // of releases keyed as a whole
	keyed    rng.Stream                           // of releases keyed by part
	add      func(s rng.Stream, dst []T, scale T) // the sampler
	absolute bool                                 // sizes are absolute values, not squares
	grid     *Grid                                // nil: noise in floating point

	mu      sync.Mutex
	total   tally
	checked int64 // values at the last check
	spent   spending
	used    usedKeys
	open    int // releases begun and not ended
	failed  error
	idle    []*Release[T]
}

// Open puts a mechanism to work: noise from stream s, events into ledger l.
func Open[T Float](g Gaussian, l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if g.Purpose == "" {
		return nil, errors.New("gaussian mechanism: no purpose")
	}
	if err := errors.Join(g.Event().Validate(), g.Share.validate()); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Purpose, err)
	}
	if err := research(g.Purpose, l); err != nil {
		return nil, err
	}
	if !representable[T](g.Sigma) {
		return nil, fmt.Errorf("%s: sigma %g is outside the range of the data's type", g.Purpose, g.Sigma)
	}
	return New(Noise[T]{Purpose: g.Purpose, Share: g.Share, Law: normalLaw{g}, Add: addNormals[T]}, l, s), nil
}

// Noise is what a channel adds. It is how a mechanism whose sampler is its own opens
// a channel; Open and OpenLaplace are two of them.
type Noise[T Float] struct {
	Purpose  string                               // names the releases in the ledger
	Share    Share                                // of the run's false-alarm probability
	Law      Law                                  // what is recorded, and what the checks expect
	Add      func(s rng.Stream, dst []T, scale T) // the sampler: adds noise of the law's scale to dst
	Absolute bool                                 // the checks look at absolute values, not at squares
	Grid     *Grid                                // where values come out; nil: noise in floating point
	Secret   bool                                 // noise from cryptographic bits: it has no state to restore
}

// New puts noise to work: from stream s, events into ledger l. The caller has
// checked the event, the share and the ledger's mark.
func New[T Float](n Noise[T], l *privacy.Ledger, s rng.Stream) *Channel[T] {
	return &Channel[T]{purpose: n.Purpose, share: n.Share, law: n.Law, secret: n.Secret, ledger: l,
		stream: s.Sub(), keyed: s.Sub(keyedByPart), add: n.Add, absolute: n.Absolute, grid: n.Grid}
}

// see tallies what was done to a row. It is no function value, so that before
// stays on the stack.
func (c *Channel[T]) see(before, after []T) tally {
	perScale := 1 / float64(atLeast[T](c.law.scale()))
	switch {
	case c.grid != nil:
		return steps(c.grid, before, after, c.absolute)
	case c.absolute:
		return sizes(before, after, perScale)
	}
	return difference(before, after, perScale)
}

// Event returns what the channel records of one release.
func (c *Channel[T]) Event() privacy.Event { return c.law.event() }

// Perturb is a release of the whole of data in rows of cols, of which the given
// number of releases is recorded: how many parts of the data (sessions, samples)
// its rows belong to, at least 1. The key is that of Begin.
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

// Check looks at all noise added so far, before resuming too. A run calls it when
// it ends; in between it happens by itself whenever the number of values has
// doubled. It fails while a release is not ended: nobody looked at its noise.
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
	c.checked = c.total.n
	err := c.law.check(&c.total, c.purpose, c.spent.next(c.law.tails(), c.share))
	if err != nil {
		c.failed = err
	}
	return err
}
