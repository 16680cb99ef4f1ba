package eval

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"unsafe"

	"privrec/internal/autograd"
	"privrec/internal/progress"
	"privrec/internal/tensor"
)

const tensorFloatBytes = int(unsafe.Sizeof(tensor.Float(0)))

// ErrNotFinite is wrapped by the error of a score that is NaN or infinite.
var ErrNotFinite = errors.New("not finite")

// masked is the score of an excluded item. No scorer can produce it, since scores must be finite.
var masked = tensor.Float(math.Inf(-1))

func excluded(score tensor.Float) bool { return score == masked }

// grainWork is the approximate number of scores that a parallel unit processes: some ten microseconds.
const grainWork = 1 << 15

// chunks scores all samples, a chunk at a time, and passes each row to visit. It calls visit from several goroutines,
// once for each position i in samples; visit returns a description of a fault in the row, or "". The error is that of
// the first failing sample, by position, for any number of workers.
func chunks(ctx context.Context, s Scorer, samples []int32, o Options,
	visit func(i int, scores []tensor.Float) string) error {
	items, size := s.Items(), o.Chunk
	if items < 1 {
		return fmt.Errorf("eval: the scorer has %d items", items)
	}
	if size < 0 {
		return fmt.Errorf("eval: Chunk is %d, want 0 for the default or more", size)
	}
	if size == 0 {
		size = ChunkSize(items)
	}
	size = min(size, len(samples))
	all := tensor.New(size, items)
	for i := range all.Data {
		all.Data[i] = tensor.Float(math.NaN()) // an element that the scorer leaves out is noticed in the first chunk
	}
	tape := o.Tape
	if tape == nil {
		tape = autograd.NewTape()
	}
	defer func(noGrad, training bool) {
		tape.NoGrad = noGrad
		tape.SetTraining(training)
	}(tape.NoGrad, tape.Training())
	faults := make([]string, size)
	shown := progress.Begin(ctx, "rank", len(samples))
	defer shown.End()
	for lo := 0; lo < len(samples); lo += size {
		if ctx.Err() != nil {
			return fmt.Errorf("eval: after %d of %d samples: %w", lo, len(samples), context.Cause(ctx))
		}
		hi := min(lo+size, len(samples))
		scores := tensor.RowsView(all, 0, hi-lo)
		if err := score(s, tape, samples[lo:hi:hi], scores); err != nil {
			return fmt.Errorf("eval: samples %d-%d (%d-%d of %d): %w", samples[lo], samples[hi-1], lo, hi-1,
				len(samples), err)
		}
		tensor.Parallel(hi-lo, max(1, grainWork/items), func(_, from, to int) {
			for i := from; i < to; i++ {
				faults[i] = inspect(tensor.Row(scores, i), samples[lo+i], lo+i, o, visit)
			}
		})
		for i, fault := range faults[:hi-lo] {
			if fault == notFinite {
				j, _ := tensor.Finite(tensor.Row(scores, i))
				return fmt.Errorf("eval: sample %d (position %d): score of item %d is %v: %w",
					samples[lo+i], lo+i, j, tensor.Row(scores, i)[j], ErrNotFinite)
			}
			if fault != "" {
				return fmt.Errorf("eval: sample %d (position %d): %s", samples[lo+i], lo+i, fault)
			}
		}
		shown.Add(hi - lo)
		if o.OnChunk != nil {
			o.OnChunk(hi, len(samples))
		}
	}
	return nil
}

const notFinite = "not finite"

// inspect checks a row, masks excluded items, and visits it. It returns a description of a fault in the row, such as a
// panic of the caller's functions.
func inspect(row []tensor.Float, sample int32, i int, o Options,
	visit func(int, []tensor.Float) string) (fault string) {
	defer func() {
		if r := recover(); r != nil {
			fault = fmt.Sprintf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	if _, ok := tensor.Finite(row); !ok {
		return notFinite
	}
	if o.Exclude != nil {
		for _, j := range o.Exclude(sample) {
			if j < 0 || int(j) >= len(row) {
				return fmt.Sprintf("excluded item %d is outside the %d items", j, len(row))
			}
			row[j] = masked
		}
	}
	return visit(i, row)
}

// score calls the scorer on a clean tape and returns a panic as an error.
func score(s Scorer, tape *autograd.Tape, samples []int32, scores tensor.Matrix) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *autograd.Error:
			err = r
		case error:
			err = fmt.Errorf("panic: %w\n%s", r, debug.Stack())
		default:
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	tape.Reset()
	tape.NoGrad = true
	tape.SetTraining(false)
	return s.Score(tape, samples, scores)
}
