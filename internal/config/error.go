package config

import (
	"errors"
	"fmt"
	"strings"
)

// Error is one problem with a configuration. Users see it, so its text begins with the place:
// file:line:column, or the --set that is wrong.
type Error struct {
	File    string // as given by the user; empty where there is no file
	Line    int    // counted from 1; 0 where unknown
	Column  int    // counted from 1; 0 where unknown
	Set     string // key of the --set override that is wrong; "" for the file
	Path    string // key path, such as "privacy.delta"; "" for the file as a whole
	Message string
	Fix     string // what to do about it; empty where unknown

	Rule string // name of the rule between keys that failed; "" where the value alone is wrong
}

// Error returns "table2.yaml:14:3: privacy.delta: must lie in (0, 1), got 1".
func (e *Error) Error() string {
	var b strings.Builder
	switch {
	case e.Set != "":
		b.WriteString("--set " + e.Set)
	default:
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d", e.Line)
		}
		if e.Line > 0 && e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	if e.Path != "" && e.Path != e.Set {
		b.WriteString(": " + e.Path)
	}
	b.WriteString(": " + e.Message)
	return strings.TrimPrefix(b.String(), ": ") // of values that no file set
}

// Hint returns the fix, for a "hint:" line; "" if none is known.
func (e *Error) Hint() string { return e.Fix }

// Errors holds all problems of one configuration, in the order of the file.
type Errors []*Error

// Error returns a text with one line for each problem.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the single problems, for errors.As.
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}

// Hint returns the first known fix.
func (e Errors) Hint() string {
	for _, x := range e {
		if x.Fix != "" {
			return x.Fix
		}
	}
	return ""
}

// Is reports whether err is or wraps a problem with a configuration.
func Is(err error) bool {
	var one *Error
	var all Errors
	return errors.As(err, &one) || errors.As(err, &all)
}
