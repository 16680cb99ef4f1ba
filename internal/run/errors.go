package run

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/train"
)

// ErrInterrupted is returned by a task that stopped early because its context
// ended, after it saved what is needed to go on.
var ErrInterrupted = errors.New("interrupted")

// WasInterrupted reports whether err is an interruption and not a failure. One
// that could not save what it should have is a failure.
func WasInterrupted(err error) bool {
	if errors.Is(err, train.ErrNotSaved) {
		return false
	}
	return errors.Is(err, ErrInterrupted) || errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)
}

// unsaved marks an error of keeping a run's state, so that an interruption does
// not hide it.
type unsaved struct{ error }

func (e *unsaved) Unwrap() error        { return e.error }
func (e *unsaved) Is(target error) bool { return target == train.ErrNotSaved }

// isFinal reports whether an error says of itself that its run must not go on:
// there is an error in err's tree with a method Final that returns true, such as
// that of noise which failed its own check.
func isFinal(err error) bool {
	var f interface{ Final() bool }
	return errors.As(err, &f) && f.Final()
}

// UsageError is a request that cannot be carried out as asked: a flag out of range, a
// directory already in use, a checkpoint of another configuration.
type UsageError struct {
	Message string
	Fix     string // what to do about it; empty where unknown

	busy bool // another process writes the directory
}

// Error is the message.
func (e *UsageError) Error() string { return e.Message }

// Hint is the fix.
func (e *UsageError) Hint() string { return e.Fix }

// Usagef returns a UsageError with a fix, which is empty where none is known.
func Usagef(fix, format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...), Fix: fix}
}

// IsBusy reports whether err says that another process is writing the run
// directory: the only refusal that goes away by waiting.
func IsBusy(err error) bool {
	var u *UsageError
	return errors.As(err, &u) && u.busy
}

// hinted adds a hint to an error of another kind.
type hinted struct {
	error
	fix string
}

func (e *hinted) Unwrap() error { return e.error }
func (e *hinted) Hint() string  { return e.fix }

// WithHint returns err with a hint for the user beside it.
func WithHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hinted{err, hint}
}

// Interrupted marks an error as that of a context that ended, whatever cause the context
// gives. Any other error it returns as it is.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrInterrupted) {
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return err
}
