package descent

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/rng"
)

// seeded is a source whose batches and noise are drawn again from a seed.
type seeded[T mechanism.Float] struct {
	d         DPSGD
	dim, cols int        // values of the table, and of its rows
	stream    rng.Stream // of batches
	noise     *channel.Channel[T]
	batches   *batches
	epoch     []uint64 // allocation: the key of the first step of the epoch
	clip      func(v []T, c float64) (bool, error)
	release   *channel.Release[T]

	slot    []int32   // for each row of the table 1 + its place in touched; 0 for none
	touched []int32   // rows that the batch touched, in the order of the first touch
	sum     []float64 // (touched, cols)
}

// The streams of a run.
const (
	noiseStream = iota
	batchStream
)

// seededPiece is the number of noise rows that are handed out at once.
const seededPiece = 16

func newSeeded[T mechanism.Float](d DPSGD, rows, cols int, l *privacy.Ledger, s rng.Stream) (*seeded[T], error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	g, noise := d.gaussian(), s.Sub(noiseStream)
	of := channel.Gaussian{Purpose: d.Purpose, Sigma: g.Sigma, Sensitivity: g.Sensitivity,
		Unit: g.Unit, Neighbouring: g.Neighbouring, Share: d.Share.Half()}
	var c *channel.Channel[T]
	var b *batches
	var err error
	switch e := d.Event().(type) {
	case privacy.AllocatedGaussian:
		c, err = channel.OpenAllocated[T](of, e, l, noise)
		b = newAllocated(d.Examples, d.Steps)
	case privacy.Sampled:
		c, err = channel.OpenSampled[T](of, e, l, noise)
		b = newBatches(d.Examples, d.Sampling, d.Rate, d.Batch)
	}
	if err != nil {
		return nil, err
	}
	return &seeded[T]{d: d, dim: rows * cols, cols: cols, stream: s.Sub(batchStream), noise: c, clip: channel.Clip[T],
		batches: b, slot: make([]int32, rows)}, nil
}

// skip returns false: a lost step is drawn again with the same numbers.
func (s *seeded[T]) skip() bool { return false }

// begin implements source.
func (s *seeded[T]) begin(key []uint64, batch []int32) (_ []int32, err error) {
	if s.release, err = s.noise.Begin(noiseRows(s.dim), noiseCols, key...); err != nil {
		return nil, err
	}
	return s.draw(key, batch)
}

// draw empties the sum and draws the batch of a step that is in the ledger.
func (s *seeded[T]) draw(key []uint64, batch []int32) ([]int32, error) {
	for _, r := range s.touched {
		s.slot[r] = 0
	}
	s.touched, s.sum = s.touched[:0], s.sum[:0]
	if s.batches.epoch != nil {
		if s.batches.step() == 0 {
			s.epoch = append(s.epoch[:0], key...)
		}
		key = s.epoch
	}
	batch = s.batches.next(s.stream.Sub(key...), batch)
	return batch, s.batches.fault(s.d.Purpose)
}

// add implements source.
func (s *seeded[T]) add(_ int32, rows []int32, values []T) error {
	if err := s.shorten(values); err != nil {
		return err
	}
	for i, r := range rows {
		addTo(s.row(r), values[i*s.cols:(i+1)*s.cols])
	}
	return nil
}

// shorten clips a gradient in place. It changes nothing else.
//
// A gradient with a value that is not finite becomes 0. This depends on the example alone, given the parameters, so the
// sum still moves by at most the clipping norm. An error would reveal something about the example that no noise covers.
func (s *seeded[T]) shorten(gradient []T) error {
	if _, err := s.clip(gradient, s.d.Clip); err != nil {
		clear(gradient)
	}
	return channel.CheckNorm(s.d.Purpose, "norm of a gradient", gradient, s.d.Clip, "gradients were not clipped")
}

// row returns the sum of a row of the table. When a row is first touched its sum is zero.
func (s *seeded[T]) row(r int32) []float64 {
	at := int(s.slot[r]) - 1
	if at < 0 {
		at = len(s.touched)
		s.touched = append(s.touched, r)
		s.slot[r] = int32(at + 1)
		s.sum = slices.Grow(s.sum, s.cols)[:(at+1)*s.cols]
		clear(s.sum[at*s.cols:])
	}
	return s.sum[at*s.cols : (at+1)*s.cols]
}

// addTo adds values to a sum.
func addTo[T mechanism.Float](sum []float64, values []T) {
	values = values[:len(sum)]
	for i, x := range values {
		sum[i] += float64(x)
	}
}

// noisy implements source.
func (s *seeded[T]) noisy(at int, dst []T) {
	clear(dst)
	s.sumOf(at*noiseCols, dst[:min(len(dst), s.dim-at*noiseCols)])
	for i := range len(dst) / noiseCols {
		s.release.Row(at+i, dst[i*noiseCols:(i+1)*noiseCols])
	}
}

// sumOf writes the sum of the values of the flattened table from at on to dst, which must be zero.
func (s *seeded[T]) sumOf(at int, dst []T) {
	for r := at / s.cols; r*s.cols < at+len(dst); r++ {
		slot := int(s.slot[r]) - 1
		if slot < 0 {
			continue
		}
		row := s.sum[slot*s.cols : (slot+1)*s.cols]
		for i := max(0, at-r*s.cols); i < s.cols && r*s.cols+i < at+len(dst); i++ {
			dst[r*s.cols+i-at] = T(row[i])
		}
	}
}

// end implements source.
func (s *seeded[T]) end() error { return s.release.Finish() }

// drawn implements source.
func (s *seeded[T]) drawn() int64 { return s.batches.seen.Batches }

// checkBatches implements source.
func (s *seeded[T]) checkBatches(x func(events int) float64) error {
	return s.batches.check(s.d.Purpose, x(batchTails))
}

// check implements source.
func (s *seeded[T]) check() error { return s.noise.Check() }

// state implements source.
func (s *seeded[T]) state(st *State) {
	st.Noise, st.Rate, st.Batch, st.Batches = s.noise.State(), mechanism.Exact(s.d.Rate), s.d.Batch, s.batches.seen
	if s.batches.first {
		st.First = slices.Clone(s.batches.other)
	}
	st.Steps = s.d.Steps
	if s.batches.epoch != nil && s.batches.step() != 0 {
		st.Epoch = slices.Clone(s.epoch)
	}
}

var errBegun = errors.New("the run was begun already")

// restore implements source.
func (s *seeded[T]) restore(st *State) error {
	if len(st.Noised) > 0 {
		return errors.New("the state is of a run with deferred noise, this one adds it at once")
	}
	return s.resume(st)
}

// resume puts batches and noise into a state.
func (s *seeded[T]) resume(st *State) error {
	t := st.Batches
	switch {
	case s.batches.seen != (batchTally{}):
		return errBegun
	case st.Failed != "":
		return fmt.Errorf("the state is of a run that failed: %s", st.Failed)
	case st.Examples != s.d.Examples || float64(st.Rate) != s.d.Rate || st.Batch != s.d.Batch:
		return fmt.Errorf("the state is of batches of %d examples at rate %v, %d each", st.Examples, float64(st.Rate),
			st.Batch)
	case st.Steps != s.d.Steps:
		return fmt.Errorf("the state is of epochs of %d steps, want %d; 0: batches are of other sampling", st.Steps,
			s.d.Steps)
	case t.Batches < 0 || t.Examples < 0 || !(t.SumSq >= 0) || !(t.Widest >= 0) || t.Paired < 0 ||
		t.Paired > t.Examples,
		t.Common < 0 || t.Common > t.Paired, st.Checked < 0 || st.Checked > t.Batches, st.Checks < 0, st.Checks == 0 &&
			st.Checked != 0:
		return errors.New("the state contradicts itself")
	}
	if err := s.goOn(st); err != nil {
		s.batches.seen = batchTally{}
		return err
	}
	return nil
}

// goOn takes over the batches and the noise of a state.
func (s *seeded[T]) goOn(st *State) error {
	b := s.batches
	b.seen = st.Batches
	if len(st.First) > 0 && (!b.waits() || int64(len(st.First)) > st.Batches.Examples || !b.possible(st.First)) {
		return errors.New("the state has a last batch that is none")
	}
	within := b.epoch != nil && b.step() != 0
	if !within && len(st.Epoch) > 0 || b.epoch != nil && st.Noise.Paid != (s.d.Steps-b.step())%s.d.Steps {
		return errors.New("the state contradicts itself")
	}
	if within {
		if s.epoch = slices.Clone(st.Epoch); !b.goOn(s.stream.Sub(s.epoch...)) {
			return errors.New("the state is of an epoch with other batches")
		}
	}
	if err := s.noise.Restore(st.Noise); err != nil {
		return err
	}
	b.first, b.other = b.waits(), slices.Clone(st.First)
	return nil
}

// Steps runs DP-SGD on dense gradients with noise from a seed: Begin, Add for every example of the batch or AddSum,
// Finish. RowSteps is for examples that touch few rows of a table.
type Steps[T mechanism.Float] struct {
	Dense[T]
	own *seeded[T]
}

// Open opens DP-SGD for gradients of dim values. It draws noise and batches from stream s
// and records in ledger l.
func Open[T mechanism.Float](d DPSGD, dim int, l *privacy.Ledger, s rng.Stream) (*Steps[T], error) {
	if dim < 1 {
		if err := d.Validate(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: gradients of %d values", d.Purpose, dim)
	}
	own, err := newSeeded[T](d, 1, dim, l, s)
	if err != nil {
		return nil, err
	}
	one := func(n, _ int, body func(chunk, lo, hi int)) { body(0, 0, n) }
	return &Steps[T]{*newDense(d, dim, seededPiece, own, one), own}, nil
}

// AddSum adds the gradients of the whole batch at once, clipped and summed by the caller, in place of an Add for every
// example. norms bounds the lengths of the clipped gradients, in the order of the batch: none may be above the clipping
// norm. So single gradients need not be computed if their lengths follow from activations (Goodfellow, "Efficient
// per-example gradient computations", 2015). AddSum cannot see the gradients: it fails on a sum that is longer than the
// sum of norms, and relies on the caller for the rest.
func (s *Steps[T]) AddSum(norms []float64, sum []T) error {
	switch {
	case s.failed != nil:
		return s.failed
	case !s.open || s.added != 0 || len(norms) != len(s.batch):
		return s.fail(fmt.Errorf("%s: a sum of %d gradients after %d of the %d of a batch, want all of them",
			s.d.Purpose, len(norms), s.added, len(s.batch)))
	case len(sum) != s.cols:
		return s.fail(fmt.Errorf("%s: sum of %d values, want %d", s.d.Purpose, len(sum), s.cols))
	}
	total := 0.0
	for k, n := range norms {
		if !(n >= 0 && n <= s.d.Clip) {
			return s.fail(fmt.Errorf("%s: clipped gradient of example %d: %w", s.d.Purpose, s.batch[k],
				&mechanism.CheckError{Purpose: s.d.Purpose, What: "norm of a gradient", Got: n, Low: 0, High: s.d.Clip,
					N: int64(s.cols), Hint: "gradients were not clipped"}))
		}
		total += n
	}
	if len(norms) > 0 || slices.ContainsFunc(sum, func(x T) bool { return x != 0 }) {
		// The sum of rounded gradients may be longer by their rounding.
		if err := channel.CheckNorm(s.d.Purpose, "norm of a sum of gradients", sum,
			max(total*(1+sumRounding), math.SmallestNonzeroFloat64), "gradients were not clipped"); err != nil {
			return s.fail(err)
		}
	}
	addTo(s.own.row(0), sum)
	s.added = len(s.batch)
	return nil
}

// sumRounding is the relative amount by which AddSum lets a sum of gradients exceed its norms: rounding to single
// precision.
const sumRounding = 1e-4

// RowSteps runs DP-SGD on a table with noise from a seed: that of Steps on the flattened table, bit for bit under the
// same key and stream.
type RowSteps[T mechanism.Float] struct {
	Rows[T]
	own *seeded[T]
}

// OpenRows opens DP-SGD for the gradients of a table (rows, cols). It draws noise and batches from stream s
// and records in ledger l.
func OpenRows[T mechanism.Float](d DPSGD, rows, cols int, l *privacy.Ledger, s rng.Stream) (*RowSteps[T], error) {
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("%s: a table of %d x %d values", d.Purpose, rows, cols)
	}
	own, err := newSeeded[T](d, rows, cols, l, s)
	if err != nil {
		return nil, err
	}
	return &RowSteps[T]{*newRows(d, rows, cols, seededPiece, own), own}, nil
}

// AddAll adds all examples of the batch at once, in several goroutines, with the same sums as Add to the bit. Example k
// has the rows ends[k-1] to ends[k] of rows, from 0 for the first, and of values (len(rows), cols).
func (s *RowSteps[T]) AddAll(parallel Parallel, ends []int, rows []int32, values []T) error {
	if err := s.takeAll(parallel, ends, rows, values, s.distinct); err != nil {
		return err
	}
	for _, r := range rows {
		s.own.row(r)
	}
	parallel(s.cols, 16, func(_, lo, hi int) { // each value is summed in the order of the examples
		for i, r := range rows {
			at := (int(s.own.slot[r]) - 1) * s.cols
			addTo(s.own.sum[at+lo:at+hi], values[i*s.cols+lo:i*s.cols+hi])
		}
	})
	return nil
}

// takeAll checks the examples of a batch, each by its rows, and clips them in place.
func (s *RowSteps[T]) takeAll(parallel Parallel, ends []int, rows []int32, values []T,
	check func(rows []int32) error) error {
	switch {
	case s.failed != nil:
		return s.failed
	case !s.open || s.added != 0 || len(ends) != len(s.batch):
		return s.fail(fmt.Errorf("%s: %d gradients after %d of the %d of a batch, want all of them", s.d.Purpose,
			len(ends), s.added, len(s.batch)))
	case len(values) != len(rows)*s.cols:
		return s.fail(fmt.Errorf("%s: gradients of %d values for %d rows of %d", s.d.Purpose, len(values), len(rows),
			s.cols))
	}
	from := 0
	for k, to := range ends {
		if to < from || to > len(rows) || k == len(ends)-1 && to != len(rows) {
			return s.fail(fmt.Errorf("%s: the rows of example %d end at %d, want %d to %d", s.d.Purpose, s.batch[k], to,
				from, len(rows)))
		}
		if err := check(rows[from:to]); err != nil {
			return err
		}
		from = to
	}
	failed := make([]error, len(ends))
	parallel(len(ends), 64, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			from := 0
			if k > 0 {
				from = ends[k-1]
			}
			failed[k] = s.own.shorten(values[from*s.cols : ends[k]*s.cols])
		}
	})
	for _, err := range failed {
		if err != nil {
			return s.fail(err)
		}
	}
	s.added = len(s.batch)
	return nil
}
