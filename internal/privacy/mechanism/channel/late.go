package channel

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// Late draws the noise of a channel's releases for the rows of a table when the rows are read, not when the releases
// are made: all that a row missed in one draw. Record takes the place of a release, and is in the ledger before any
// noise of it is drawn. A row that nothing reads costs nothing.
//
// What a row missed is a sum of independent normal values, whose factors do not depend on data. The sum is normal, with
// the sum of their variances, and independent of all noise that other rows have, and of what this row had before. So
// everything that is computed from rows that were brought up to date first has the law that it would have if every
// release had added its noise at once. That also holds where what was read decides which row is read next.
type Late[T mechanism.Float] struct {
	c         *Channel[T]
	stream    rng.Stream
	cols      int
	deviation func(missed int64) float64
	zero      []T     // (cols)
	made      int64   // releases recorded
	since     []int32 // of a row: the releases whose noise it has

	open   *Release[T]
	at     rng.Stream // of the open draw
	rows   []int32
	missed []int32 // of each row
}

// Late returns the late noise of a table (rows, cols), which it draws from stream s. Nothing else may draw from s.
// deviation is the standard deviation of the noise of a row after so many releases without it, in units of that of one
// release: their root, if the table is a plain sum. It fails for noise that is not normal, since sums of it have
// another law, and for noise from cryptographic bits.
func (c *Channel[T]) Late(rows, cols int, deviation func(missed int64) float64, s rng.Stream) (*Late[T], error) {
	if c.grid != nil || c.absolute || c.vectors || c.secret {
		return nil, fmt.Errorf("%s: only normal noise from a seed can be added late", c.purpose)
	}
	if one := deviation(1) * c.law.Scale; rows < 1 || cols < 1 || !(one > 0) || !representable[T](one) {
		return nil, fmt.Errorf("%s: late noise of deviation %g on a table of %d x %d values", c.purpose, one, rows,
			cols)
	}
	return &Late[T]{c: c, stream: s.Sub(), cols: cols, deviation: deviation, zero: make([]T, cols),
		since: make([]int32, rows)}, nil
}

// Record records a release in the ledger, by the rules of [Channel.Begin]. Its noise is added when rows are read.
func (l *Late[T]) Record(key ...uint64) error {
	if l.made == math.MaxInt32 {
		return l.c.Refuse(fmt.Errorf("%s: late noise of more than %d releases", l.c.purpose, l.made))
	}
	r, err := l.c.begin(1, 0, 1, key) // of no values
	if err != nil {
		return err
	}
	l.made++
	return r.Finish()
}

// Has returns the number of releases whose noise a row has.
func (l *Late[T]) Has(row int32) int64 { return int64(l.since[row]) }

// Begin starts a draw of the noise that the given rows missed in the first to releases. It returns the rows that missed
// any, in the order given, each once; the result is valid until the next Begin. Then Row must be called for each of
// them, and Finish.
func (l *Late[T]) Begin(rows []int32, to int64) ([]int32, error) {
	c := l.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return nil, c.failed
	case to < 0 || to > l.made:
		return nil, c.fail(fmt.Errorf("%s: noise of %d releases, the ledger has %d", c.purpose, to, l.made))
	case l.open != nil:
		return nil, c.fail(fmt.Errorf("%s: late noise was begun before the last was finished", c.purpose))
	}
	l.rows, l.missed, l.at = l.rows[:0], l.missed[:0], l.stream.Sub(uint64(to))
	for _, r := range rows {
		if uint(r) >= uint(len(l.since)) {
			return nil, c.fail(fmt.Errorf("%s: noise for row %d, the table has %d", c.purpose, r, len(l.since)))
		}
		if missed := int32(to) - l.since[r]; missed > 0 {
			l.rows, l.missed = append(l.rows, r), append(l.missed, missed)
			l.since[r] = int32(to)
		}
	}
	open, err := c.take(len(l.rows), l.cols, 1)
	if err != nil {
		return nil, c.fail(err)
	}
	open.recorded, open.observed, open.open = 0, nil, true
	c.open++
	l.open = open
	return l.rows, nil
}

// Row overwrites dst with the noise that row i of those from Begin missed. Several goroutines may do so for distinct
// rows. Noise depends on the row and on the number of releases up to which it is brought, and on nothing that was drawn
// before.
func (l *Late[T]) Row(i int, dst []T) {
	r := l.open
	if !r.fits(i, dst) {
		r.misused(i, dst)
		return
	}
	clear(dst)
	scale := atLeast[T](l.deviation(int64(l.missed[i])) * l.c.law.Scale)
	l.c.add(l.at.Sub(uint64(l.rows[i])), dst, scale)
	r.rows[i] = difference(l.zero, dst, 1/float64(scale))
}

// Finish ends a draw and checks the noise, as [Release.Finish] does.
func (l *Late[T]) Finish() error {
	r := l.open
	if r == nil {
		return l.c.Refuse(fmt.Errorf("%s: late noise was ended before it was begun", l.c.purpose))
	}
	l.open = nil
	return r.Finish()
}

// Since returns, for every row, the number of releases whose noise it has. It is the caller's only until the next
// Begin.
func (l *Late[T]) Since() []int32 { return l.since }

// Restore puts new late noise into the state in which made releases were recorded and rows have the noise of so many.
func (l *Late[T]) Restore(made int64, since []int32) error {
	if l.made != 0 || l.open != nil {
		return fmt.Errorf("%s: restore: late noise was used already", l.c.purpose)
	}
	if len(since) != len(l.since) {
		return fmt.Errorf("%s: restore: late noise of %d rows, the table has %d", l.c.purpose, len(since), len(l.since))
	}
	for r, n := range since {
		if n < 0 || int64(n) > made {
			return fmt.Errorf("%s: restore: row %d has the noise of %d of %d releases", l.c.purpose, r, n, made)
		}
	}
	l.made = made
	copy(l.since, since)
	return nil
}

// Weighted returns the deviation of a sum of missed noises in which each weighs keep times the one after it, for
// [Channel.Late]: the root of 1 + keep² + ... + keep^(2 (missed-1)). share is 1 - keep, in [0, 1).
func Weighted(share float64) func(missed int64) float64 {
	if share == 0 {
		return func(missed int64) float64 { return math.Sqrt(float64(missed)) }
	}
	log := 2 * math.Log1p(-share)
	return func(missed int64) float64 { return math.Sqrt(math.Expm1(float64(missed)*log) / math.Expm1(log)) }
}
