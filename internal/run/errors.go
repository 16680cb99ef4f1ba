package run

import (
	"context"
	"errors"
	"fmt"

	"privrec/internal/train"
)

// ErrInterrupted is returned by a task that stopped early because its context ended, after it
// saved what is needed to continue.
var ErrInterrupted = errors.New("interrupted")

// WasInterrupted reports whether err is an interruption and not a failure. An interruption that
// could not save the run's state is a failure.
func WasInterrupted(err error) bool {
	if errors.Is(err, train.ErrNotSaved) {
		return false
	}
	return errors.Is(err, ErrInterrupted) || errors.Is(err, train.ErrInterrupted) || errors.Is(err, context.Canceled)
}

// unsaved marks the error of saving a run's state, so that an interruption does not hide it.
type unsaved struct{ error }

// Unwrap returns the cause.
func (e *unsaved) Unwrap() error { return e.error }

// Is reports whether target is train.ErrNotSaved.
func (e *unsaved) Is(target error) bool { return target == train.ErrNotSaved }

// isFinal reports whether a run must not continue after err: err's tree has an error with a
// method Final that returns true, such as that of noise that failed its own check.
func isFinal(err error) bool {
	var f interface{ Final() bool }
	return errors.As(err, &f) && f.Final()
}

// UsageError reports a request that cannot be carried out: a flag out of range, a directory in use, a checkpoint of
// another configuration.
type UsageError struct {
	Message string
	Fix     string // what to do about it; empty where unknown

	busy bool // another process writes the directory
}

// Error returns the message.
func (e *UsageError) Error() string { return e.Message }

// Hint returns the fix.
func (e *UsageError) Hint() string { return e.Fix }

// Usagef returns a UsageError with a formatted message and a fix; "" where no fix is known.
func Usagef(fix, format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...), Fix: fix}
}

// IsBusy reports whether err says that another process is writing the run directory. Waiting ends no other refusal.
func IsBusy(err error) bool {
	var u *UsageError
	return errors.As(err, &u) && u.busy
}

// hinted adds a hint for the user to an error of another type.
type hinted struct {
	error
	fix string
}

// Unwrap returns the error itself.
func (e *hinted) Unwrap() error { return e.error }

// Hint returns the hint.
func (e *hinted) Hint() string { return e.fix }

// WithHint returns err with a hint for the user.
func WithHint(err error, hint string) error {
	if err == nil {
		return nil
	}
	return &hinted{err, hint}
}

// Interrupted wraps ErrInterrupted around the error of a context that ended, for any cause of
// the context. It returns any other error as it is.
func Interrupted(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrInterrupted) {
		return fmt.Errorf("%w: %w", ErrInterrupted, err)
	}
	return err
}

const another = "choose another --out"

func damaged(err error) error {
	var usage *UsageError
	if errors.As(err, &usage) {
		return err
	}
	return WithHint(fmt.Errorf("load checkpoint: %w", err), "the checkpoint is damaged; start again with another --out")
}
