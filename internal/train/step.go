package train

import (
	"errors"
	"fmt"
	"math"
	"runtime/debug"

	"privrec/internal/autograd"
	"privrec/internal/rng"
)

// StepError says at which step of a run an error occurred. It unwraps to the cause.
type StepError struct {
	Epoch, Batch, Batches, Step int     // all from 0, but Batches, the number an epoch
	From, To                    int     // positions of the samples in the epoch's order, To not included
	Samples                     []int32 // the first few of them
	Err                         error
}

// Error implements error: the place and the cause on one line, with epochs and batches counted from 1.
func (e *StepError) Error() string {
	more := ""
	if e.To-e.From > len(e.Samples) {
		more = " ..."
	}
	return fmt.Sprintf("train: epoch %d, batch %d of %d (step %d, samples %d-%d of the epoch: %v%s): %v",
		e.Epoch+1, e.Batch+1, e.Batches, e.Step, e.From, e.To-1, e.Samples, more, e.Err)
}

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// ErrNotFinite is wrapped by the error of a loss or parameter that is NaN or infinite.
var ErrNotFinite = errors.New("not finite")

// step runs one batch: loss, gradients, update. On an error before the optimiser's step it has not changed the
// parameters.
func (l *loop) step(b Batch, lr float64) (loss float64, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicError(r)
		}
	}()
	l.tape.Reset()
	node, err := l.model.Loss(l.tape, b)
	if err != nil {
		return 0, err
	}
	if node == nil {
		return 0, errors.New("the model returned no loss")
	}
	if node.Rows() != 1 || node.Cols() != 1 {
		return 0, fmt.Errorf("the model's loss is %dx%d, want 1x1", node.Rows(), node.Cols())
	}
	loss = node.Scalar()
	if math.IsNaN(loss) || math.IsInf(loss, 0) {
		return loss, l.blame(b, fmt.Sprintf("loss is %v", loss))
	}
	l.tape.Backward(node)
	grads := l.tape.Grads()
	if clip := l.opt.ClipNorm; clip > 0 {
		norm := grads.Norm()
		if math.IsNaN(norm) || math.IsInf(norm, 0) {
			return loss, l.blame(b, fmt.Sprintf("gradient norm is %v", norm))
		}
		if norm > clip {
			grads.Scale(clip / norm)
		}
	}
	return loss, l.opt.Optimizer.Step(l.params, grads, lr)
}

// blame runs the batch again with GuardNaN and returns an error that names the operation that went wrong. The run is
// over, so the draws and records of the repetition do not matter.
func (l *loop) blame(b Batch, what string) (err error) {
	defer func() {
		l.tape.GuardNaN = false
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: %w: %w", what, ErrNotFinite, panicError(r))
		}
	}()
	l.tape.GuardNaN = true
	l.tape.Reset()
	node, err := l.model.Loss(l.tape, b)
	if err != nil {
		return fmt.Errorf("%s: %w (and the repeated step failed: %w)", what, ErrNotFinite, err)
	}
	l.tape.Backward(node)
	return fmt.Errorf("%s: %w (no operation of the repeated step produced it)", what, ErrNotFinite)
}

// panicError returns a recovered panic as an error: an *autograd.Error unchanged, any other value with its stack.
func panicError(r any) error {
	if err, ok := r.(error); ok {
		var tape *autograd.Error
		if errors.As(err, &tape) {
			return err
		}
		return fmt.Errorf("panic: %w\n%s", err, debug.Stack())
	}
	return fmt.Errorf("panic: %v\n%s", r, debug.Stack())
}

// order holds the sequence of samples of one epoch, in a buffer that each epoch refills.
type order struct {
	list    []int32 // the caller's samples, nil for 0..n-1
	buffer  []int32
	seed    rng.Seed
	shuffle bool
	epoch   int // what buffer holds, -1 for nothing
}

func newOrder(o *Options) *order {
	return &order{list: o.List, buffer: make([]int32, o.samples()), seed: o.Seed, shuffle: o.Shuffle, epoch: -1}
}

// of returns the samples of an epoch in the order in which they are visited. The order depends only on seed and
// epoch: each epoch starts from the unshuffled list, so that a run can be resumed at any epoch.
func (s *order) of(epoch int) []int32 {
	if s.epoch == epoch || (s.epoch >= 0 && !s.shuffle) {
		s.epoch = epoch
		return s.buffer
	}
	if s.list != nil {
		copy(s.buffer, s.list)
	} else {
		for i := range s.buffer {
			s.buffer[i] = int32(i)
		}
	}
	if s.shuffle {
		stream := s.seed.Stream("train.shuffle", uint64(epoch))
		stream.Shuffle(len(s.buffer), func(i, j int) {
			s.buffer[i], s.buffer[j] = s.buffer[j], s.buffer[i]
		})
	}
	s.epoch = epoch
	return s.buffer
}
