package secure

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
)

var (
	_ channel.Descent[float32]    = (*Steps[float32])(nil)
	_ channel.RowDescent[float32] = (*RowSteps[float32])(nil)
)

// Steps runs DP-SGD for data that are published, like channel.Steps: batches and noise are from cryptographic bits,
// there is no seed, and sums are exact. Only one goroutine may call it; several may compute the gradients. RowSteps is
// for examples that touch few rows of a table.
type Steps[T mechanism.Float] struct {
	stepping[T]
	parallel channel.Parallel
}

// OpenDPSGD opens DP-SGD for gradients of dim values. The ledger must be marked secure. parallel decides in how many
// goroutines noise is added.
func OpenDPSGD[T mechanism.Float](d channel.DPSGD, dim int, l *privacy.Ledger,
	parallel channel.Parallel) (*Steps[T], error) {
	core, err := openStepping[T](d, dim, l)
	if err != nil {
		return nil, err
	}
	return &Steps[T]{core, parallel}, nil
}

// Add clips the gradient of the k-th example of the batch, in place, brings it onto the grid and adds it. Examples must
// come in order, 0, 1, .... A gradient that is not finite counts as 0: an error would reveal something about the
// example.
func (s *Steps[T]) Add(k int, gradient []T) error {
	if err := s.next(k); err != nil {
		return err
	}
	if len(gradient) != s.dim {
		return s.fail(fmt.Errorf("%s: gradient of %d values, want %d", s.d.Purpose, len(gradient), s.dim))
	}
	return s.placed(k, place(&s.grid, gradient, func(i int, k int64) { s.sum[i] += k }))
}

// Finish writes the noisy sum divided by the expected size of a batch to mean, and checks noise
// and batches. It fails unless every example of the batch was added.
func (s *Steps[T]) Finish(mean []T) error {
	if s.failed == nil && len(mean) != s.dim {
		return s.fail(fmt.Errorf("%s: mean of %d values, want %d", s.d.Purpose, len(mean), s.dim))
	}
	per := s.ExpectedBatch()
	return s.finish(s.parallel, func(at int, sum []T) {
		for i, x := range sum {
			mean[at+i] = T(float64(x) / per)
		}
	})
}

// RowSteps runs channel.RowSteps for data that are published, see Steps.
type RowSteps[T mechanism.Float] struct {
	stepping[T]
	rows, cols int
	each       channel.Distinct
}

// OpenRowSteps opens DP-SGD for the gradients of a table (rows, cols). The ledger must be marked
// secure.
func OpenRowSteps[T mechanism.Float](d channel.DPSGD, rows, cols int, l *privacy.Ledger) (*RowSteps[T], error) {
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("%s: a table of %d x %d values", d.Purpose, rows, cols)
	}
	core, err := openStepping[T](d, rows*cols, l)
	if err != nil {
		return nil, err
	}
	return &RowSteps[T]{stepping: core, rows: rows, cols: cols, each: channel.NewDistinct(rows)}, nil
}

// Add clips the gradient of the k-th example of the batch, in place, brings it onto the grid and
// adds it. The gradient is zero but for the given rows of the table, which are distinct; values
// (len(rows), cols) holds theirs. Examples must come in order, 0, 1, ....
func (s *RowSteps[T]) Add(k int, rows []int32, values []T) error {
	if err := s.next(k); err != nil {
		return err
	}
	if len(values) != len(rows)*s.cols {
		return s.fail(fmt.Errorf("%s: gradient of %d values for %d rows of %d", s.d.Purpose, len(values), len(rows),
			s.cols))
	}
	if err := s.each.Check(rows); err != nil {
		return s.fail(fmt.Errorf("%s: %w", s.d.Purpose, err))
	}
	return s.placed(k, place(&s.grid, values, func(i int, k int64) { s.sum[int(rows[i/s.cols])*s.cols+i%s.cols] += k }))
}

// Finish adds noise to every coordinate of the sum and hands it to step in pieces that together cover the table, in any
// order and perhaps from several goroutines at once. sum holds the values of the flattened table from at on; it is
// valid during the call, which may change it. Finish then checks noise and batches. If a check of the noise fails, step
// has been called already, and its results must be thrown away.
func (s *RowSteps[T]) Finish(parallel channel.Parallel, step func(at int, sum []T)) error {
	return s.finish(parallel, step)
}
