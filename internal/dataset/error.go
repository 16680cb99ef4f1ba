package dataset

import (
	"errors"
	"strconv"
	"strings"
)

// Error says what is wrong with a data file or data set, where, and what to do.
type Error struct {
	File  string // path of the file, or name of the data set when no single file is at fault
	Line  int    // 1-based line, 0 when the fault is not on one line
	Field string // column name, "" when the fault is not in one field
	Msg   string // lower case, no full stop
	Hint  string // a known remedy, "" when there is none
	Err   error  // cause, may be nil
}

// Error implements error: `file:line: field "name": message`.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteByte(':')
		b.WriteString(strconv.Itoa(e.Line))
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if e.Field != "" {
		b.WriteString("field ")
		b.WriteString(strconv.Quote(e.Field))
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotFound is the cause of the error for a data set without files on this machine.
var ErrNotFound = errors.New("files not found")

// Quote returns a field quoted for a message, shortened so that a line of garbage cannot flood a terminal.
func Quote(b []byte) string {
	const most = 40
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "..."
	}
	return strconv.Quote(string(b))
}
