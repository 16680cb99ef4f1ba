package channel

import (
	"fmt"
	"sync/atomic"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
	"privrec/internal/rng"
)

// Release adds one draw of noise to a matrix of rows. Its event is in the ledger before a row can be changed.
type Release[T mechanism.Float] struct {
	c        *Channel[T]
	stream   rng.Stream
	cols     int
	rows     []Tally // one a row: written by its goroutine, summed in order
	byPart   bool    // from Start
	parts    []int32
	at       []rowKey // key of each row, where byPart
	recorded int64    // releases that it adds to the ledger
	open     bool
	misuse   atomic.Pointer[string]
	observed observe.Release // nil: by no test
}

// rowKey is the key of a row of a release keyed by part.
type rowKey struct {
	part int
	key  uint64
}

// Begin starts the release of a (rows, cols) matrix and records one release in the ledger, or an epoch of them at the
// first of its steps (OpenAllocated). Noise depends on the key (pass, batch, step) and on the row's index.
//
// A key is for one release. Its first component never descends, and a channel refuses a key that was used in the same
// pass, unless Restore went back to before its use. A refused key ends the channel, like a failed check.
func (c *Channel[T]) Begin(rows, cols int, key ...uint64) (*Release[T], error) {
	return c.begin(rows, cols, 1, key)
}

// BeginMany starts a release like Begin, for rows that belong to several parts of the data (sessions, samples): a unit
// pays once for every part that it is in. It records the given number of releases, at least one if there are rows. The
// caller must give the right number, since the rows do not show it; Start needs none.
func (c *Channel[T]) BeginMany(releases int64, rows, cols int, key ...uint64) (*Release[T], error) {
	return c.begin(rows, cols, releases, key)
}

// Start starts a release of the given parts of the data (samples, sessions), at least one if
// there are rows, and records as many releases in the ledger. Noise depends on the key (pass,
// step), on the part and on the key of the row within its part, see RowAt, but not on which
// parts are released together.
//
// Key and part are for one release, by the rules of Begin. Parts are not negative. Start copies
// them.
func (c *Channel[T]) Start(parts []int32, rows, cols int, key ...uint64) (*Release[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.take(rows, cols, int64(len(parts)))
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		err = c.used.byPart(key, parts)
	}
	if err := c.admit(r, err); err != nil {
		return nil, err
	}
	r.stream, r.byPart, r.parts = c.keyed.Sub(key...), true, append(r.parts, parts...)
	if cap(r.at) < rows {
		r.at = make([]rowKey, rows)
	}
	r.at = r.at[:rows]
	return r, nil
}

func (c *Channel[T]) begin(rows, cols int, releases int64, key []uint64) (*Release[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := c.take(rows, cols, releases)
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		err = c.used.whole(key)
	}
	if err := c.admit(r, err); err != nil {
		return nil, err
	}
	r.stream = c.stream.Sub(key...)
	return r, nil
}

// take returns an idle release of the given shape.
func (c *Channel[T]) take(rows, cols int, releases int64) (*Release[T], error) {
	if c.failed != nil {
		return nil, c.failed
	}
	if rows < 0 || cols < 0 || rows > 0 && releases < 1 {
		return nil, fmt.Errorf("%s: %d releases of %d x %d values are not possible", c.purpose, releases, rows, cols)
	}
	var r *Release[T]
	if n := len(c.idle); n > 0 {
		r, c.idle = c.idle[n-1], c.idle[:n-1]
	} else {
		r = &Release[T]{c: c}
	}
	if cap(r.rows) < rows {
		r.rows = make([]Tally, rows)
	}
	r.rows, r.parts = r.rows[:rows], r.parts[:0]
	clear(r.rows)
	r.misuse.Store(nil)
	r.cols, r.byPart, r.recorded = cols, false, 0
	if rows > 0 {
		r.recorded = releases
	}
	return r, nil
}

// admit records a release and opens it. keys is the error of its key, if any.
func (c *Channel[T]) admit(r *Release[T], keys error) error {
	err := keys
	if err != nil {
		err = fmt.Errorf("%s: %w", c.purpose, err)
	} else if r.recorded > 0 {
		err = c.pay(r)
	}
	if err != nil {
		c.failed = err
		return err
	}
	r.open = true
	c.open++
	r.observed = observe.Begin(c.purpose, c.law.Event, r.recorded, c.step())
	return nil
}

// pay records a release, unless the last recorded event covers it.
func (c *Channel[T]) pay(r *Release[T]) error {
	switch {
	case c.together < 2:
		return c.ledger.Record(c.purpose, c.law.Event, r.recorded)
	case r.recorded != 1:
		return fmt.Errorf("%s: %d releases at once, want one after the other: an event covers %d in a row", c.purpose,
			r.recorded, c.together)
	case c.paid > 0:
		r.recorded = 0
	default:
		if err := c.ledger.Record(c.purpose, c.law.Event, 1); err != nil {
			return err
		}
		c.paid = c.together
	}
	c.paid--
	return nil
}

// Row adds noise to row i of a release from Begin. Several goroutines may perturb distinct rows
// at once. Every row of the release must be perturbed once. Row leaves a row with a wrong index
// or length, or one given twice, as it is, and Finish reports it.
func (r *Release[T]) Row(i int, dst []T) {
	if r.byPart || !r.fits(i, dst) {
		r.misused(i, dst)
		return
	}
	r.fill(i, dst, r.stream.Sub(uint64(i)))
}

// RowAt adds noise to row i of a release from Start. The row belongs to parts[part], and key is its key there, such as
// the number of a node within its sample. Over the rows 0, 1, ... of a release (part, key) must strictly ascend, so
// that no two rows get the same noise; Finish checks that. Otherwise it is like Row: as fast, and without allocation.
func (r *Release[T]) RowAt(i int, dst []T, part int, key uint64) {
	if !r.byPart || part < 0 || part >= len(r.parts) || !r.fits(i, dst) {
		r.misused(i, dst)
		return
	}
	r.at[i] = rowKey{part, key}
	r.fill(i, dst, r.stream.Sub(uint64(r.parts[part]), key))
}

func (r *Release[T]) fits(i int, dst []T) bool {
	return i >= 0 && i < len(r.rows) && len(dst) == r.cols && r.rows[i].N == 0
}

func (r *Release[T]) misused(i int, dst []T) {
	s := fmt.Sprintf("row %d of length %d given to a release of %d rows of %d and %d parts, or given twice, or with "+
		"the wrong method",
		i, len(dst), len(r.rows), r.cols, len(r.parts))
	r.misuse.Store(&s)
}

// onStack is the length up to which a row needs no heap. short is the length up to which it needs little of the stack,
// which Go clears for every row.
const (
	onStack = 256
	short   = 64
)

func (r *Release[T]) fill(i int, dst []T, s rng.Stream) {
	if r.c.grid != nil {
		if err := admits(r.c.grid, dst); err != nil {
			s := fmt.Sprintf("row %d: %v", i, err)
			r.misuse.Store(&s)
			return
		}
	}
	switch {
	case len(dst) <= short:
		var stack [short]T
		r.draw(i, dst, stack[:len(dst)], s)
	case len(dst) <= onStack:
		var stack [onStack]T
		r.draw(i, dst, stack[:len(dst)], s)
	default:
		r.draw(i, dst, make([]T, len(dst)), s)
	}
}

// draw adds noise to row i and tallies it. before, as long as dst, receives the old row.
func (r *Release[T]) draw(i int, dst, before []T, s rng.Stream) {
	copy(before, dst)
	r.c.add(s, dst, atLeast[T](r.c.law.Scale))
	r.rows[i] = r.c.see(before, dst)
	if r.observed != nil {
		r.seen(i, before, dst)
	}
}

// seen passes row i to an observing test.
func (r *Release[T]) seen(i int, before, after []T) {
	part, key := int32(-1), uint64(i)
	if r.byPart {
		part, key = r.parts[r.at[i].part], r.at[i].key
	}
	observe.Row(r.observed, part, key, before, after)
}

// step returns the unit of the distances in the channel's event.
func (c *Channel[T]) step() float64 {
	if c.grid != nil {
		return c.grid.Step
	}
	return 1
}

// Finish closes the release and checks the noise. It fails if a row is missing. The release
// stays in the ledger in any case.
func (r *Release[T]) Finish() error {
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	return r.end()
}

func (r *Release[T]) end() error {
	c := r.c
	if !r.open {
		return c.fail(fmt.Errorf("%s: a release was ended twice", c.purpose))
	}
	r.open = false
	c.open--
	if c.failed != nil {
		return c.failed
	}
	sum, err := r.sum()
	if err != nil {
		return c.fail(err)
	}
	c.total.add(sum)
	c.idle = append(c.idle, r)
	if c.total.N >= 2*c.checked { // few checks, each on twice the values of the last one
		return c.check()
	}
	return nil
}

// sum returns the sum of the rows' tallies in their order. It fails on a row that was misused, that got no noise, or
// that got the noise of another row.
func (r *Release[T]) sum() (sum Tally, err error) {
	purpose := r.c.purpose
	if s := r.misuse.Load(); s != nil {
		return sum, fmt.Errorf("%s: %s", purpose, *s)
	}
	if r.cols == 0 {
		return sum, nil
	}
	for i := range r.rows {
		if r.rows[i].N != int64(r.cols) {
			return sum, &mechanism.CheckError{Purpose: purpose, What: fmt.Sprintf("count of row %d", i),
				Got: float64(r.rows[i].N), Low: float64(r.cols), High: float64(r.cols), N: int64(r.cols),
				Hint: "a row of the release got no noise"}
		}
		sum.add(r.rows[i])
		if !r.byPart || i == 0 {
			continue
		}
		if a, b := r.at[i-1], r.at[i]; b.part < a.part || b.part == a.part && b.key <= a.key {
			return sum, fmt.Errorf("%s: row %d has part %d and key %d after part %d and key %d, want ascending: "+
				"noise might repeat",
				purpose, i, b.part, b.key, a.part, a.key)
		}
	}
	return sum, nil
}

// fail ends the channel with an error. The caller holds its lock.
func (c *Channel[T]) fail(err error) error {
	c.failed = err
	return err
}

// Refuse ends a channel because of a fault found outside of it.
func (c *Channel[T]) Refuse(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fail(err)
}
