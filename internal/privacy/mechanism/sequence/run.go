package sequence

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/internal/observe"
)

// Run runs a sequence mechanism whose event is in the ledger. It hands out samplers for disjoint ranges of users, one
// per goroutine, and checks their draws at the end.
type Run struct {
	m     Mechanism
	bits  mechanism.Bits
	table []mechanism.Odds

	mu       sync.Mutex
	samplers []*Sampler
	claims   *userClaims // of users with ids; nil: users are numbers
	done     bool
	observed observe.Release // nil: by no test
}

// Open opens a run of the mechanism and records its release in the ledger. With Keyed bits the
// row of a user depends on the stream and on the user's key, so give every domain and every
// setting a stream of its own.
func (m Mechanism) Open(l *privacy.Ledger, b mechanism.Bits) (*Run, error) {
	r, err := m.prepare(l, b)
	if err != nil {
		return nil, err
	}
	if err := m.record(l); err != nil {
		return nil, err
	}
	r.begin()
	return r, nil
}

// begin tells an observing test of the release.
func (r *Run) begin() { r.observed = observe.Begin(r.m.Purpose, r.m.Event(), 1, 1) }

// prepare returns a run without recording its release.
func (m Mechanism) prepare(l *privacy.Ledger, b mechanism.Bits) (*Run, error) {
	if err := b.Admit(m.Purpose, m.Event(), m.Share, l); err != nil {
		return nil, err
	}
	if err := m.validate(); err != nil {
		return nil, err
	}
	return &Run{m: m, bits: b, table: m.table()}, nil
}

// Sampler returns a sampler for the users in [from, to). The ranges of a run's samplers must not overlap.
func (r *Run) Sampler(from, to uint64) (*Sampler, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil, fmt.Errorf("%s: the run is finished", r.m.Purpose)
	}
	if r.claims != nil {
		return nil, fmt.Errorf("%s: this run has users with ids, so it has user samplers", r.m.Purpose)
	}
	if from >= to {
		return nil, fmt.Errorf("%s: no users from %d to before %d", r.m.Purpose, from, to)
	}
	for _, s := range r.samplers {
		if from < s.to && s.from < to {
			return nil, fmt.Errorf("%s: some users from %d to before %d belong to another sampler", r.m.Purpose, from,
				to)
		}
	}
	s := newSampler(r, r.m.rejects())
	s.from, s.next, s.to = from, from, to
	r.samplers = append(r.samplers, s)
	return s, nil
}

// Finish ends the run and returns an error if its draws do not fit the law. If users have ids, it also fails if one
// came twice. No sampler may be perturbing a row, or perturb one afterwards.
func (r *Run) Finish() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return fmt.Errorf("%s: the run is finished", r.m.Purpose)
	}
	r.done = true
	if err := r.distinct(); err != nil || len(r.samplers) == 0 || r.table == nil {
		return err
	}
	total := newWatch(r.samplers[0].size, r.table)
	for _, s := range r.samplers {
		s.to = 0 // accepts no more rows
		total.add(&s.watch)
	}
	if r.m.Variant == Set {
		return total.checkSets(r.m, r.table)
	}
	return total.check(r.m, r.samplers[0].size, r.table)
}

// Perturb replaces every row of rows, Length cells each, by an output of the mechanism. It
// first records one release. Row i is of users[i], or of user i if users is nil; users strictly
// ascend. The result is the same for any number of workers, at least 1. Before it records or
// changes anything, Perturb fails on rows outside the mechanism's domain.
func Perturb(m Mechanism, l *privacy.Ledger, b mechanism.Bits, users []uint64, rows []int32, workers int) error {
	run, err := m.prepare(l, b)
	if err != nil {
		return err
	}
	n := len(rows) / m.Length
	if err := checkUsers(m, n, users, rows, workers); err != nil || n == 0 {
		return err
	}
	user := func(i int) uint64 {
		if users == nil {
			return uint64(i)
		}
		return users[i]
	}
	workers = min(workers, n)
	samplers := make([]*Sampler, workers)
	each := func(f func(s *Sampler, i int, row []int32) error) error {
		return inParallel(workers, func(w int) error {
			for i := w * n / workers; i < (w+1)*n/workers; i++ {
				if err := f(samplers[w], i, rows[i*m.Length:(i+1)*m.Length]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for w := range samplers {
		if samplers[w], err = run.Sampler(user(w*n/workers), user((w+1)*n/workers-1)+1); err != nil {
			return err
		}
	}
	err = each(func(s *Sampler, i int, row []int32) error {
		if err := s.load(&m, row); err != nil {
			return fmt.Errorf("%s: user %d: %w", m.Purpose, user(i), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := m.record(l); err != nil {
		return err
	}
	run.begin()
	err = each(func(s *Sampler, i int, row []int32) error { return s.Row(user(i), row) })
	return errors.Join(err, run.Finish())
}

func checkUsers(m Mechanism, n int, users []uint64, rows []int32, workers int) error {
	switch {
	case len(rows)%m.Length != 0:
		return fmt.Errorf("%s: %d cells in rows of %d", m.Purpose, len(rows), m.Length)
	case users != nil && len(users) != n:
		return fmt.Errorf("%s: %d users for %d rows", m.Purpose, len(users), n)
	case workers < 1:
		return fmt.Errorf("%s: %d workers, want at least 1", m.Purpose, workers)
	}
	for i, u := range users {
		if i > 0 && u <= users[i-1] {
			return fmt.Errorf("%s: user %d after user %d, want them to ascend", m.Purpose, u, users[i-1])
		}
		if u == math.MaxUint64 {
			return fmt.Errorf("%s: user %d, want less", m.Purpose, u)
		}
	}
	return nil
}

// inParallel runs f(0) .. f(n-1) and returns the error of the first of them.
func inParallel(n int, f func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// watch counts a sampler's own draws.
type watch struct {
	rows   int64
	cells  []int64 // by the number of ids written before
	kept   int64
	moved  int64   // replaced
	drift  float64 // sum of the ids written in place of others, minus their expected values
	all    int64   // sum of the universe
	sum    int64   // sum of what may still be drawn
	invers []float64
}

func newWatch(size int, table []mechanism.Odds) watch {
	all := int64(size) * int64(size-1) / 2
	w := watch{cells: make([]int64, len(table)), invers: make([]float64, len(table)), all: all, sum: all}
	for k, o := range table {
		w.invers[k] = 1 / float64(max(o.Others, 1))
	}
	return w
}

// see counts the id that came into a cell that held cur.
func (w *watch) see(k int, o *mechanism.Odds, cur, id int32) {
	w.cells[k]++
	if id == cur {
		w.kept++
		return
	}
	w.moved++
	w.drift += float64(id) - float64(w.sum-int64(cur))*w.invers[k]
}

func (w *watch) add(o *watch) {
	w.rows += o.rows
	w.kept += o.kept
	w.moved += o.moved
	w.drift += o.drift
	for k, n := range o.cells {
		w.cells[k] += n
	}
}

// check returns an error if the counts do not fit the law of each draw given those before it. Variances are bounded
// without looking at a row: cell c is reached with at most c ids written.
func (w *watch) check(m Mechanism, size int, table []mechanism.Odds) error {
	kept := mechanism.Drift{What: "number of cells kept, about its mean,", B: 1, Sum: float64(w.kept)}
	moved := mechanism.Drift{What: "sum of replaced ids about their mean", B: float64(size), Sum: w.drift, N: w.moved}
	for k, n := range w.cells {
		kept.N += n
		p := table[k].P
		if table[k].Others == 0 {
			p = 1
		}
		kept.Sum -= float64(n) * p
	}
	keptMost, movedMost := 0.0, 0.0 // over the ids written so far
	for c := range m.Length {
		if c < len(table) && table[c].Others > 0 {
			p, r := table[c].P, m.Replace(c)
			keptMost, movedMost = max(keptMost, p*r), max(movedMost, r)
		}
		kept.V += float64(w.rows) * keptMost
		moved.V += float64(w.rows) * movedMost * float64(size) * float64(size) / 4
	}
	return mechanism.CheckAll(m.Purpose, m.Share, &kept, &moved)
}
