package channel

import (
	"fmt"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// RowSteps runs DP-SGD on a table (rows, cols) where each example touches few rows, as the pairs of a matrix
// factorisation do: Begin, Add for every example of the batch, Finish. The rows that an example touches are clipped as
// one vector, and summed. Noise goes to every coordinate of the table, also to the rows that no example touched, since
// a row without noise would reveal that. It is the noise of Steps on the flattened table, bit for bit under the same
// key and stream. Finish hands it out in pieces, so that no dense gradient is ever in memory.
//
// Only one goroutine may call it; several may compute the gradients, and Finish adds the noise in several.
type RowSteps[T mechanism.Float] struct {
	stepping[T]
	rows, cols int

	slot    []int32   // for each row of the table 1 + its place in touched; 0 for none
	touched []int32   // rows that the batch touched, in the order of the first touch
	sum     []float64 // (touched, cols)
	each    Distinct
}

// Parallel is a function that spreads the work of Finish. It calls body for disjoint parts lo..hi that cover 0..n, of
// about grain each, perhaps in several goroutines at once, and returns when all are done. chunk counts the parts.
// tensor.Parallel is one.
type Parallel func(n, grain int, body func(chunk, lo, hi int))

// OpenRowSteps opens DP-SGD for the gradients of a table (rows, cols). It draws noise and batches from stream s
// and records in ledger l.
func OpenRowSteps[T mechanism.Float](d DPSGD, rows, cols int, l *privacy.Ledger, s rng.Stream) (*RowSteps[T], error) {
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("%s: a table of %d x %d values", d.Purpose, rows, cols)
	}
	core, err := openStepping[T](d, rows*cols, l, s)
	if err != nil {
		return nil, err
	}
	return &RowSteps[T]{stepping: core, rows: rows, cols: cols, slot: make([]int32, rows), each: NewDistinct(rows)}, nil
}

// Begin records a step in the ledger and returns the examples of its batch, ascending, perhaps none; see Steps.Begin.
func (s *RowSteps[T]) Begin(key ...uint64) ([]int32, error) {
	s.forget()
	return s.begin(key...)
}

// forget empties the sum.
func (s *RowSteps[T]) forget() {
	for _, r := range s.touched {
		s.slot[r] = 0
	}
	s.touched, s.sum = s.touched[:0], s.sum[:0]
}

// Add clips the gradient of the k-th example of the batch, in place, and adds it. The gradient is zero but for
// the given rows of the table, which are distinct, in any order; values (len(rows), cols) holds theirs. Without
// rows the gradient is zero, and so it is where a value is not finite. Examples must come in order, 0, 1, .... A
// gradient that has a row twice ends the run: the length of its values would not be its length.
func (s *RowSteps[T]) Add(k int, rows []int32, values []T) error {
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
	if err := s.shorten(k, values); err != nil {
		return err
	}
	for i, r := range rows {
		addTo(s.row(r), values[i*s.cols:(i+1)*s.cols])
	}
	s.added++
	return nil
}

// AddAll adds all examples of the batch at once, in several goroutines, with the same sums as Add to the bit. Example k
// has the rows ends[k-1] to ends[k] of rows, from 0 for the first, and of values (len(rows), cols).
func (s *RowSteps[T]) AddAll(parallel Parallel, ends []int, rows []int32, values []T) error {
	switch {
	case s.failed != nil:
		return s.failed
	case s.release == nil || s.added != 0 || len(ends) != len(s.batch):
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
		if err := s.distinct(rows[from:to]); err != nil {
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
			failed[k] = s.shortened(k, values[from*s.cols:ends[k]*s.cols])
		}
	})
	for _, err := range failed {
		if err != nil {
			return s.fail(err)
		}
	}
	for _, r := range rows {
		s.row(r)
	}
	parallel(s.cols, 16, func(_, lo, hi int) { // each value is summed in the order of the examples
		for i, r := range rows {
			at := (int(s.slot[r]) - 1) * s.cols
			addTo(s.sum[at+lo:at+hi], values[i*s.cols+lo:i*s.cols+hi])
		}
	})
	s.added = len(s.batch)
	return nil
}

// distinct returns an error for a row that is not in the table, and for one that is given twice.
func (s *RowSteps[T]) distinct(rows []int32) error {
	if err := s.each.Check(rows); err != nil {
		return s.fail(fmt.Errorf("%s: %w", s.d.Purpose, err))
	}
	return nil
}

// row returns the sum of a row of the table. When a row is first touched its sum is zero.
func (s *RowSteps[T]) row(r int32) []float64 {
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

// pieceRows is the number of noise rows that are handed out at once.
const pieceRows = 16

// Finish adds noise to every coordinate of the sum and hands it to step in pieces that together cover the table, in any
// order and perhaps from several goroutines at once. sum holds the values of the flattened table from at on; it is
// valid during the call, which may change it. Divide it by ExpectedBatch for the mean. Finish then checks noise and
// batches. It fails unless every example of the batch was added; step is not called then. If a check of the noise
// fails, step has been called already, and its results must be thrown away.
func (s *RowSteps[T]) Finish(parallel Parallel, step func(at int, sum []T)) error {
	if err := s.complete(); err != nil {
		return err
	}
	n := s.noiseRows()
	parallel((n+pieceRows-1)/pieceRows, 8, func(_, lo, hi int) {
		piece := make([]T, pieceRows*noiseCols)
		for p := lo; p < hi; p++ {
			from, to := p*pieceRows, min(n, (p+1)*pieceRows)
			at, end := from*noiseCols, min(s.dim, to*noiseCols)
			clear(piece)
			s.sumOf(at, piece[:end-at])
			for i := from; i < to; i++ {
				s.release.Row(i, piece[(i-from)*noiseCols:(i-from+1)*noiseCols])
			}
			step(at, piece[:end-at])
		}
	})
	if err := s.end(); err != nil {
		return err
	}
	return s.checkSome()
}

// sumOf writes the sum of the values of the flattened table from at on to dst, which must be zero.
func (s *RowSteps[T]) sumOf(at int, dst []T) {
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

// ExpectedBatch returns the number of examples by which sums are divided, see [DPSGD.ExpectedBatch].
func (s *RowSteps[T]) ExpectedBatch() float64 { return s.d.ExpectedBatch() }
