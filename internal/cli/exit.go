package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"

	"privrec/internal/cli/screen"
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/privacy/audit"
	"privrec/internal/privacy/budget"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Exit codes. The help of the root command documents them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitData        = 3
	exitPrivacy     = 4
	exitInterrupted = 130
	exitReaderGone  = 141 // as a shell reports a program that SIGPIPE ended
)

const exitCodes = `Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 data,
4 privacy budget or noise check, 130 interrupted (after saving), 141 the
reader of standard output went away, as head does.`

// usagef returns the error for a command line that cannot be carried out as it is written.
func usagef(fix, format string, args ...any) error { return run.Usagef(fix, format, args...) }

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	var (
		ours *run.UsageError
		data *dataset.Error
		bad  *mechanism.CheckError
		no   *budget.Refusal
		high *audit.Contradiction
		held *notHeld
	)
	switch {
	case err == nil:
		return exitDone
	case run.WasInterrupted(err):
		return exitInterrupted
	case errors.As(err, &ours), config.Is(err):
		return exitUsage
	case errors.As(err, &data):
		return exitData
	case errors.As(err, &bad), errors.As(err, &no), errors.As(err, &high), errors.As(err, &held):
		return exitPrivacy
	}
	return exitFailed
}

// complain writes an error for users: one "error:" line, an "also:" line for each further
// problem, then the hint.
func complain(w io.Writer, err error) {
	text := err.Error()
	if run.WasInterrupted(err) {
		text = "interrupted" // users need to know how to go on, not where it stopped
	}
	label := "error:"
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			fmt.Fprintln(w, label, line)
			label = "also:"
		}
	}
	if h := hint(err); h != "" {
		fmt.Fprintln(w, "hint:", h)
	}
}

// hint returns the first known fix in a chain of errors.
func hint(err error) string {
	var data *dataset.Error
	if errors.As(err, &data) && data.Hint != "" {
		return data.Hint
	}
	var h interface{ Hint() string }
	if errors.As(err, &h) && h.Hint() != "" {
		return h.Hint()
	}
	if system.DiskFull(err) {
		return hintDiskFull
	}
	return ""
}

const hintDiskFull = "the disk is full: make room and try again"

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

// Width returns how many columns a terminal has; 0 where standard output is none.
func (o *outlet) Width() int { return screen.Width(o.w) }

// Write marks the error of a closed pipe. The error of a file stays as it is.
func (o *outlet) Write(p []byte) (int, error) {
	n, err := o.w.Write(p)
	if system.ReaderGone(err) {
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
