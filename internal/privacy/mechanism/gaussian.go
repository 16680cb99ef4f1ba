package mechanism

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"unsafe"

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
}

// Event returns what one release of the mechanism is to an accountant.
func (g Gaussian) Event() privacy.Gaussian {
	return privacy.Gaussian{Sigma: g.Sigma, Sensitivity: g.Sensitivity, Unit: g.Unit, Neighbouring: g.Neighbouring}
}

// Channel is a Gaussian mechanism at work in one run: it knows the ledger and
// the stream, and watches all noise that it added. Begin, the rows of one
// release and End may run in different goroutines.
type Channel[T Float] struct {
	g      Gaussian
	ledger *privacy.Ledger
	stream rng.Stream
	add    func(s rng.Stream, dst []T, sigma T) // the sampler

	mu      sync.Mutex
	total   tally
	checked int64 // values at the last check
	spent   spending
	failed  error
	idle    []*Release[T]
}

// Open puts a mechanism to work: noise from stream s, events into ledger l.
func Open[T Float](g Gaussian, l *privacy.Ledger, s rng.Stream) (*Channel[T], error) {
	if g.Purpose == "" {
		return nil, errors.New("gaussian mechanism: no purpose")
	}
	if err := g.Event().Validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", g.Purpose, err)
	}
	if err := research(g.Purpose, l); err != nil {
		return nil, err
	}
	if !representable[T](g.Sigma) {
		return nil, fmt.Errorf("%s: sigma %g is outside the range of the data's type", g.Purpose, g.Sigma)
	}
	return &Channel[T]{g: g, ledger: l, stream: s.Sub(), add: addNormals[T]}, nil
}

// research refuses a missing ledger and one that promises secure noise.
func research(purpose string, l *privacy.Ledger) error {
	if l == nil {
		return fmt.Errorf("%s: no ledger, so no noise", purpose)
	}
	if l.Noise() != privacy.Research {
		return fmt.Errorf("%s: this sampler gives %s and the ledger promises %s", purpose, privacy.Research, l.Noise())
	}
	return nil
}

// Release is one draw of noise for a matrix of rows.
type Release[T Float] struct {
	c      *Channel[T]
	stream rng.Stream
	cols   int
	rows   []tally // one a row: written by its goroutine, summed in order
	misuse atomic.Pointer[string]
}

// Begin starts the release of a matrix with the given shape. The key (epoch,
// step) names the draw: the same key gives the same noise.
func (c *Channel[T]) Begin(rows, cols int, key ...uint64) (*Release[T], error) {
	if rows < 0 || cols < 0 {
		return nil, fmt.Errorf("%s: release of %d x %d values", c.g.Purpose, rows, cols)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return nil, c.failed
	}
	var r *Release[T]
	if n := len(c.idle); n > 0 {
		r, c.idle = c.idle[n-1], c.idle[:n-1]
	} else {
		r = &Release[T]{c: c}
	}
	r.stream, r.cols = c.stream.Sub(key...), cols
	r.misuse.Store(nil)
	if cap(r.rows) < rows {
		r.rows = make([]tally, rows)
	}
	r.rows = r.rows[:rows]
	clear(r.rows)
	return r, nil
}

// onStack is the row length up to which Row needs no heap.
const onStack = 256

// Row adds noise to row i. Distinct rows may be perturbed concurrently; every
// row of the release must be, once. A wrong index or length, or a row given
// twice, is reported by End.
func (r *Release[T]) Row(i int, dst []T) {
	if i < 0 || i >= len(r.rows) || len(dst) != r.cols || r.rows[i].n != 0 {
		s := fmt.Sprintf("row %d of length %d given to a release of %d rows of %d, or given twice", i, len(dst), len(r.rows), r.cols)
		r.misuse.Store(&s)
		return
	}
	var stack [onStack]T
	before := stack[:]
	if len(dst) > onStack {
		before = make([]T, len(dst))
	}
	before = before[:copy(before, dst)]
	sigma := T(r.c.g.Sigma)
	r.c.add(r.stream.Sub(uint64(i)), dst, sigma)
	r.rows[i] = difference(before, dst, 1/float64(sigma))
}

// End closes the release, checks the noise and records the given number of
// releases of the mechanism's event in the ledger: how many parts of the data
// (sessions, samples) the rows belong to. It fails if a row is missing.
func (r *Release[T]) End(releases int64) error {
	c := r.c
	if s := r.misuse.Load(); s != nil {
		return c.fail(fmt.Errorf("%s: %s", c.g.Purpose, *s))
	}
	var sum tally
	for i := range r.rows {
		if r.cols > 0 && r.rows[i].n != int64(r.cols) {
			return c.fail(&CheckError{c.g.Purpose, fmt.Sprintf("count of row %d", i), float64(r.rows[i].n), float64(r.cols), float64(r.cols), int64(r.cols),
				"a row of the release got no noise"})
		}
		sum.add(r.rows[i])
	}
	if len(r.rows) > 0 || releases != 0 {
		if err := c.ledger.Record(c.g.Purpose, c.g.Event(), releases); err != nil {
			return c.fail(err)
		}
	}
	c.mu.Lock()
	c.total.add(sum)
	var err error
	if c.total.n >= 2*c.checked { // few checks, each on twice the values of the last
		err = c.check()
	}
	c.idle = append(c.idle, r)
	c.mu.Unlock()
	return err
}

// Perturb is Begin, every row of data in order, End.
func (c *Channel[T]) Perturb(data []T, cols int, releases int64, key ...uint64) error {
	if cols <= 0 || len(data)%cols != 0 {
		return fmt.Errorf("%s: %d values in rows of %d", c.g.Purpose, len(data), cols)
	}
	r, err := c.Begin(len(data)/cols, cols, key...)
	if err != nil {
		return err
	}
	for i := range r.rows {
		r.Row(i, data[i*cols:(i+1)*cols])
	}
	return r.End(releases)
}

// Check looks at all noise added so far. A run calls it when it ends; in
// between it happens by itself whenever the number of values has doubled.
func (c *Channel[T]) Check() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failed != nil {
		return c.failed
	}
	return c.check()
}

func (c *Channel[T]) check() error {
	c.checked = c.total.n
	err := c.total.check(c.g.Purpose, c.g.Sigma, c.spent.next(5))
	if err != nil {
		c.failed = err
	}
	return err
}

func (c *Channel[T]) fail(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = err
	return err
}

// addNormals is the research sampler.
func addNormals[T Float](s rng.Stream, dst []T, sigma T) {
	if x, ok := as[float32](dst); ok {
		s.AddNormals32(x, float32(sigma))
		return
	}
	x, _ := as[float64](dst)
	var z [64]float64
	for len(x) > 0 {
		n := min(len(x), len(z))
		s.Normals64(z[:n])
		for i, v := range z[:n] {
			x[i] += float64(sigma) * v
		}
		x = x[n:]
	}
}

// difference tallies after-before in units of sigma.
func difference[T Float](before, after []T, perSigma float64) tally {
	var m rng.Moments
	if x, ok := as[float32](before); ok {
		y, _ := as[float32](after)
		m.Differences32(x, y)
	} else {
		x, _ := as[float64](before)
		y, _ := as[float64](after)
		m.Differences64(x, y)
	}
	return tally{n: m.N, zeros: m.Zeros, sum: m.Sum() * perSigma, sq: m.SumSq() * perSigma * perSigma}
}

// as views a slice under its underlying element type U, if that is it. It
// allocates nothing, which a type switch on an interface would.
func as[U, T Float](x []T) ([]U, bool) {
	var t T
	var u U
	if unsafe.Sizeof(t) != unsafe.Sizeof(u) {
		return nil, false
	}
	return unsafe.Slice((*U)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), true
}

// representable reports whether sigma is still a positive number as a T.
func representable[T Float](sigma float64) bool {
	s := float64(T(sigma))
	return s > 0 && !math.IsInf(s, 1)
}
