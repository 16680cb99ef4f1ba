package descent

import (
	"fmt"

	"privrec/internal/privacy/mechanism"
)

// Run is DP-SGD of a training: for each step Begin, Add for every example of the batch, Finish. Dense implements it.
type Run[T mechanism.Float] interface {
	// Skip reports whether the next step was begun by a stopped attempt, with noise that cannot be drawn again. That
	// step is then over without moving anything, and no Begin follows.
	Skip() bool
	Begin(key ...uint64) ([]int32, error)
	Add(k int, gradient []T) error
	Finish(mean []T) error
	Check() error
	State() State
	Restore(st State) error
}

// source draws the batches and the noise of one run of DP-SGD, and sums its gradients. A seeded one draws the same
// again from its seed; a secret one draws cryptographic bits.
type source[T mechanism.Float] interface {
	// skip implements Run.
	skip() bool
	// begin records a step in the ledger, empties the sum, and overwrites batch with the examples of the step,
	// ascending.
	begin(key []uint64, batch []int32) ([]int32, error)
	// add clips the gradient of an example, in place, and adds it to rows of the sum.
	add(example int32, rows []int32, values []T) error
	// noisy overwrites dst with rows of the flattened sum and its noise, noiseCols values each, from row at on. The
	// last row is padded. Several goroutines may call it.
	noisy(at int, dst []T)
	// end ends the release of a step and checks its noise.
	end() error
	// drawn returns the number of batches that checkBatches compares with their law. x gives each of so many one-sided
	// events a probability of at most exp(-x).
	drawn() int64
	checkBatches(x func(events int) float64) error
	// check compares all noise with its law.
	check() error
	// state adds what a checkpoint needs to the counts of the checks. restore takes it to a new run.
	state(st *State)
	restore(st *State) error
}

// noiseCols is the length of the rows of noise.
const noiseCols = 256

// Rows runs DP-SGD on a table (rows, cols) where each example touches few rows, as the pairs of a matrix factorisation
// do: Begin, Add for every example of the batch, Finish. The rows that an example touches are clipped as one vector,
// and summed. Noise goes to every coordinate of the table, also to the rows that no example touched, since a row
// without noise would reveal that. Finish hands it out in pieces, so that no dense gradient is ever in memory.
//
// Only one goroutine may call it; several may compute the gradients, and Finish adds the noise in several.
type Rows[T mechanism.Float] struct {
	d          DPSGD
	rows, cols int
	from       source[T]
	piece      int // rows of noise that are handed out at once
	each       distinctRows

	spent   mechanism.Spending // of the share of the batches
	checked int64              // batches at the last check
	failed  error

	open  bool // between Begin and Finish
	batch []int32
	added int
	late  bool // noise is added when rows are read, by Deferred
}

// Parallel is a function that spreads the work of Finish. It calls body for disjoint parts lo..hi that cover 0..n, of
// about grain each, perhaps in several goroutines at once, and returns when all are done. chunk counts the parts.
// tensor.Parallel is one.
type Parallel func(n, grain int, body func(chunk, lo, hi int))

// newRows returns DP-SGD on a table (rows, cols) with batches and noise of a source. piece is the number of rows of
// noise that Finish hands out at once.
func newRows[T mechanism.Float](d DPSGD, rows, cols, piece int, from source[T]) *Rows[T] {
	return &Rows[T]{d: d, rows: rows, cols: cols, piece: piece, from: from, each: newDistinct(rows)}
}

// Skip implements Run.
func (s *Rows[T]) Skip() bool { return s.failed == nil && s.from.skip() }

// Begin records a step in the ledger and returns the examples of its batch, ascending; the
// batch may be empty. They stay valid until the next Begin. The key (pass, step) is used once,
// by the rules of [channel.Channel.Begin].
func (s *Rows[T]) Begin(key ...uint64) ([]int32, error) {
	if s.failed != nil {
		return nil, s.failed
	}
	if s.open {
		return nil, s.fail(fmt.Errorf("%s: a step was begun before the last was finished", s.d.Purpose))
	}
	batch, err := s.from.begin(key, s.batch)
	if err != nil {
		return nil, s.fail(err)
	}
	s.open, s.added, s.batch = true, 0, batch
	return batch, nil
}

// Add clips the gradient of the k-th example of the batch, in place, and adds it. The gradient is zero but for
// the given rows of the table, which are distinct, in any order; values (len(rows), cols) holds theirs. Without
// rows the gradient is zero, and so it is where a value is not finite. Examples must come in order, 0, 1, ..., so that
// sums do not depend on which goroutine was first. A gradient that has a row twice ends the run: the length of its
// values would not be its length.
func (s *Rows[T]) Add(k int, rows []int32, values []T) error {
	if s.failed != nil {
		return s.failed
	}
	if len(values) != len(rows)*s.cols {
		return s.fail(fmt.Errorf("%s: gradient of %d values for %d rows of %d", s.d.Purpose, len(values), len(rows),
			s.cols))
	}
	if err := s.distinct(rows); err != nil {
		return err
	}
	return s.add(k, rows, values)
}

// distinct returns an error for a row that is not in the table, and for one that is given twice.
func (s *Rows[T]) distinct(rows []int32) error {
	if err := s.each.Check(rows); err != nil {
		return s.fail(fmt.Errorf("%s: %w", s.d.Purpose, err))
	}
	return nil
}

func (s *Rows[T]) add(k int, rows []int32, values []T) error {
	if !s.open || k != s.added || k >= len(s.batch) {
		return s.fail(fmt.Errorf("%s: example %d after %d of the %d of a batch, want them in order", s.d.Purpose, k,
			s.added, len(s.batch)))
	}
	if err := s.from.add(s.batch[k], rows, values); err != nil {
		return s.fail(err)
	}
	s.added++
	return nil
}

// Finish adds noise to every coordinate of the sum and hands it to step in pieces that together cover the table, in any
// order and perhaps from several goroutines at once. sum holds the values of the flattened table from at on; it is
// valid during the call, which may change it. Divide it by ExpectedBatch for the mean. Finish then checks noise and
// batches. It fails unless every example of the batch was added; step is not called then. If a check of the noise
// fails, step has been called already, and its results must be thrown away. The sum of an empty batch is noise only.
func (s *Rows[T]) Finish(parallel Parallel, step func(at int, sum []T)) error {
	if err := s.ready(); err != nil {
		return err
	}
	if s.late {
		return s.fail(fmt.Errorf("%s: a step with deferred noise was finished as one with noise at once", s.d.Purpose))
	}
	n, values := noiseRows(s.rows*s.cols), s.rows*s.cols
	parallel((n+s.piece-1)/s.piece, 8, func(_, lo, hi int) {
		piece := make([]T, s.piece*noiseCols)
		for p := lo; p < hi; p++ {
			from, to := p*s.piece, min(n, (p+1)*s.piece)
			at := from * noiseCols
			s.from.noisy(from, piece[:(to-from)*noiseCols])
			step(at, piece[:min(values, to*noiseCols)-at])
		}
	})
	return s.ended()
}

// ready returns an error unless every example of the batch was added.
func (s *Rows[T]) ready() error {
	if s.failed != nil {
		return s.failed
	}
	if !s.open || s.added != len(s.batch) {
		return s.fail(fmt.Errorf("%s: a step ends after %d of the %d examples of its batch", s.d.Purpose, s.added,
			len(s.batch)))
	}
	return nil
}

// ended ends a step, and checks noise and batches.
func (s *Rows[T]) ended() error {
	s.open = false
	if err := s.from.end(); err != nil {
		return s.fail(err)
	}
	if s.from.drawn() >= 2*s.checked { // whenever their number has doubled
		return s.check()
	}
	return nil
}

// noiseRows returns the number of rows of noise that cover so many values.
func noiseRows(values int) int { return (values + noiseCols - 1) / noiseCols }

// ExpectedBatch returns the number of examples by which sums are divided, see [DPSGD.ExpectedBatch].
func (s *Rows[T]) ExpectedBatch() float64 { return s.d.ExpectedBatch() }

// Check returns an error if the noise or the batches so far do not fit their law. A run calls it at its end; before
// that, it runs whenever the number of steps has doubled.
func (s *Rows[T]) Check() error {
	if s.failed != nil {
		return s.failed
	}
	if s.open {
		return fmt.Errorf("%s: a step was begun and not finished", s.d.Purpose)
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := s.from.check(); err != nil {
		return s.fail(err)
	}
	return nil
}

// check compares the batches with their law.
func (s *Rows[T]) check() error {
	if s.checked = s.from.drawn(); s.checked == 0 {
		return nil
	}
	x := func(events int) float64 { return s.spent.Next(events, s.d.Share.Half()) }
	if err := s.from.checkBatches(x); err != nil {
		return s.fail(err)
	}
	return nil
}

func (s *Rows[T]) fail(err error) error {
	s.failed = err
	return err
}

// State returns the state of the run between two steps.
func (s *Rows[T]) State() State {
	st := State{Examples: s.d.Examples, Checked: s.checked, Checks: s.spent.K}
	s.from.state(&st)
	if s.failed != nil {
		st.Failed = s.failed.Error()
	}
	return st
}

// Restore puts a new run into the state of a checkpoint. It fails on a state of another run, of a failed run, and on
// one taken in the middle of a step.
func (s *Rows[T]) Restore(st State) error {
	err := s.failed
	if err == nil && s.open {
		err = errBegun
	}
	if err == nil {
		err = s.from.restore(&st)
	}
	if err != nil {
		return fmt.Errorf("%s: restore: %w", s.d.Purpose, err)
	}
	s.checked, s.spent.K = st.Checked, st.Checks
	return nil
}

// Dense runs DP-SGD on gradients that have every value: those of a table of one row.
type Dense[T mechanism.Float] struct {
	Rows[T]
	parallel Parallel
}

// newDense returns DP-SGD on gradients of dim values, see newRows. parallel spreads the noise.
func newDense[T mechanism.Float](d DPSGD, dim, piece int, from source[T], parallel Parallel) *Dense[T] {
	return &Dense[T]{*newRows(d, 1, dim, piece, from), parallel}
}

// whole names the only row of a dense gradient.
var whole = []int32{0}

// Add clips the gradient of the k-th example of the batch, in place, and adds it. Examples must come in order, 0, 1,
// .... A gradient that is not finite counts as 0.
func (s *Dense[T]) Add(k int, gradient []T) error {
	if s.failed != nil {
		return s.failed
	}
	if len(gradient) != s.cols {
		return s.fail(fmt.Errorf("%s: gradient of %d values, want %d", s.d.Purpose, len(gradient), s.cols))
	}
	return s.add(k, whole, gradient)
}

// Finish writes the noisy sum divided by the expected size of a batch to mean, and checks noise
// and batches. It fails unless every example of the batch was added.
func (s *Dense[T]) Finish(mean []T) error {
	if s.failed == nil && len(mean) != s.cols {
		return s.fail(fmt.Errorf("%s: mean of %d values, want %d", s.d.Purpose, len(mean), s.cols))
	}
	per := s.ExpectedBatch()
	return s.Rows.Finish(s.parallel, func(at int, sum []T) {
		for i, x := range sum {
			mean[at+i] = T(float64(x) / per)
		}
	})
}
