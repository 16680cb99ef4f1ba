package cli

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
)

// outlet is standard output. It remembers that its reader went away, as head does after its
// lines.
type outlet struct {
	w    io.Writer
	gone atomic.Bool
}

// readerGone is the error of a write to standard output that has no reader any more.
type readerGone struct{ error }

// Unwrap returns the error of the write.
func (e *readerGone) Unwrap() error { return e.error }

// Write marks the error of a closed pipe. The error of a file stays as it is.
func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.gone.Store(true)
		err = &readerGone{err}
	}
	return n, err
}

// wentAway reports whether an error says that the reader went away, and nothing else.
func wentAway(err error) bool {
	if _, ok := err.(*readerGone); ok {
		return true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return wentAway(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if !wentAway(part) {
				return false
			}
		}
		return true
	}
	return false
}
