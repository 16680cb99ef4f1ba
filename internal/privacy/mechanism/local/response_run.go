package local

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
)

// ResponseRun runs randomised response on a stream of rows of values, such as the rows of a file. Its event is in the
// ledger once, since every value is another unit. It hands out stretches of rows, one per goroutine, and checks their
// draws at the end.
type ResponseRun struct {
	m    Response
	bits mechanism.Bits

	mu   sync.Mutex
	next uint64 // key of the next row
	out  int    // stretches that are not closed yet
	seen responder
	done bool

	observed observe.Release // nil: by no test
}

// Open opens a run of the mechanism and records its release in the ledger. With Keyed bits the noise of a row depends
// on the stream and on its number, so give every file and every setting a stream of its own.
func (m Response) Open(l *privacy.Ledger, b mechanism.Bits) (*ResponseRun, error) {
	if err := b.Admit(m.Purpose, m.Event(), m.Share, l); err != nil {
		return nil, err
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	r := &ResponseRun{m: m, bits: b}
	if !math.IsInf(m.Epsilon, 1) {
		r.seen = *m.responder()
	}
	if err := l.Record(m.Purpose, m.Event(), 1); err != nil {
		return nil, err
	}
	r.observed = observe.Begin(m.Purpose, m.Event(), 1, 1)
	return r, nil
}

// Rows returns a perturber of the next n rows of the run: rows 0 to n-1 at the first call, and so on, so that no two
// rows have the same noise. Call it in the order of the rows.
func (r *ResponseRun) Rows(n int) (*ResponseRows, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.done:
		return nil, fmt.Errorf("%s: the run is finished", r.m.Purpose)
	case n < 1:
		return nil, fmt.Errorf("%s: %d rows, want at least 1", r.m.Purpose, n)
	}
	x := &ResponseRows{run: r, d: r.bits.Draws(), next: r.next, end: r.next + uint64(n), seen: r.seen}
	x.seen.kept.N, x.seen.kept.Got, x.seen.moved = 0, 0, mechanism.Drift{}
	r.next += uint64(n)
	r.out++
	return x, nil
}

// Skip passes over the next n rows, which another process perturbs.
func (r *ResponseRun) Skip(n int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.done:
		return fmt.Errorf("%s: the run is finished", r.m.Purpose)
	case n < 0:
		return fmt.Errorf("%s: %d rows, want 0 or more", r.m.Purpose, n)
	}
	r.next += uint64(n)
	return nil
}

// Finish ends the run and returns an error if its draws do not fit the law. Every stretch must be closed.
func (r *ResponseRun) Finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.done:
		return fmt.Errorf("%s: the run is finished", r.m.Purpose)
	case r.out > 0:
		return fmt.Errorf("%s: %d stretches of rows are not closed", r.m.Purpose, r.out)
	}
	r.done = true
	if math.IsInf(r.m.Epsilon, 1) {
		return nil
	}
	return mechanism.CheckAll(r.m.Purpose, r.m.Share, r.seen.checks()...)
}

// Kept returns how many values of all came out unchanged, over the closed stretches. The count depends on the data, and
// the mechanism does not protect it.
func (r *ResponseRun) Kept() (kept, of int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.kept.Got, r.seen.kept.N
}

// ResponseRows perturbs a stretch of rows for one goroutine.
type ResponseRows struct {
	run       *ResponseRun
	d         mechanism.Draws
	next, end uint64
	seen      responder
	closed    bool
}

// Row perturbs the next row of the stretch in place. It fails on a row with a value outside [0,
// Categories) and leaves it as it is.
func (x *ResponseRows) Row(row []int32) error {
	m := &x.run.m
	if x.next >= x.end {
		return fmt.Errorf("%s: more rows than the stretch has", m.Purpose)
	}
	if err := inCategories(m.Purpose, m.Categories, row); err != nil {
		return err
	}
	key := x.next
	x.next++
	if math.IsInf(m.Epsilon, 1) {
		x.seen.kept.N += int64(len(row))
		x.seen.kept.Got += int64(len(row))
		return nil
	}
	of := mechanism.Content(row)
	x.d.Row(key, of[0], of[1])
	var before []int32
	if x.run.observed != nil {
		before = slices.Clone(row)
	}
	for i, v := range row {
		row[i] = int32(x.seen.respond(&x.d, uint64(v)))
	}
	observe.Row(x.run.observed, -1, key, before, row)
	return nil
}

// Close adds the counts of the stretch to the run. It fails if rows of the stretch were not
// perturbed.
func (x *ResponseRows) Close() error {
	r := x.run
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case x.closed:
		return fmt.Errorf("%s: a stretch of rows is closed twice", r.m.Purpose)
	case x.next != x.end:
		return fmt.Errorf("%s: %d rows of a stretch were not perturbed", r.m.Purpose, x.end-x.next)
	}
	x.closed = true
	r.out--
	r.seen.kept.N += x.seen.kept.N
	r.seen.kept.Got += x.seen.kept.Got
	r.seen.moved.N += x.seen.moved.N
	r.seen.moved.Sum += x.seen.moved.Sum
	r.seen.moved.V += x.seen.moved.V
	return nil
}
