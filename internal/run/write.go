package run

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"privrec/internal/system"
)

// WriteMetrics writes metrics.json. v must have no timings or anything else that differs
// between a run and the same run resumed.
func (e *Env) WriteMetrics(v any) error { return e.keepJSON("metrics.json", v) }

// WriteCells writes cells.json: the numbers of metrics.json that are held against floors, in a form that
// all tasks share. Like WriteMetrics it takes nothing that differs between a run and the same run resumed.
func (e *Env) WriteCells(v any) error { return e.keepJSON("cells.json", v) }

// WritePrivacy writes privacy.json: claimed and accounted budgets, and what is
// unprotected.
func (e *Env) WritePrivacy(v any) error {
	if line := e.Repeatable(); line != "" {
		return e.keepJSON("privacy.json", leading{line, v})
	}
	return e.keepJSON("privacy.json", v)
}

// stated fails unless this is a run that has declared what it leaves unprotected. It syncs all releases so far to the
// ledger file.
func (e *Env) stated() error {
	if !e.Writes() {
		return errWritesNothing
	}
	return e.books.stated()
}

// errWritesNothing is a fault of the program: forecasts and answers write nothing.
var errWritesNothing = errors.New("a forecast or an answer of a finished run cannot write to the run directory")

func (e *Env) keepJSON(name string, v any) error {
	if err := e.stated(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return e.writeJSON(name, v)
}

func (e *Env) writeJSON(name string, v any) error {
	return e.writing.keep(writeJSON(filepath.Join(e.Dir, name), v))
}

func (e *Env) write(name string, private bool, write func(w io.Writer) error) error {
	path := filepath.Join(e.Dir, name)
	if err := mkdir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	put := system.WriteFile
	if private {
		put = system.WritePrivate
	}
	return e.writing.keep(put(path, write))
}

// AppendLog adds an event and its time to log.jsonl. args alternate names and values as in
// slog.
func (e *Env) AppendLog(event string, args ...any) {
	if !e.Writes() {
		return
	}
	if e.books.show() != nil { // the run ends with that error at its next release, or when it writes anything
		return
	}
	e.writing.lines.Info(event, args...)
}

// Print shows a result on standard output, as text or JSON, and keeps both in the run
// directory, with report.html where the result is a Page.
func (e *Env) Print(r Result) error {
	if err := e.stated(); err != nil {
		return fmt.Errorf("show the result: %w", err)
	}
	if l, ok := r.(Leading); ok {
		l.Lead(e.Repeatable())
	}
	if err := e.writeJSON("result.json", r); err != nil {
		return err
	}
	if err := e.write("result.txt", false, r.Text); err != nil {
		return err
	}
	if p, ok := r.(Page); ok {
		if err := e.write("report.html", false, p.HTML); err != nil {
			return err
		}
	}
	if err := Show(e.writing.out, e.writing.json, r); err != nil {
		return WithHint(fmt.Errorf("show the result: %w", err), "the result is kept in "+e.Dir)
	}
	return nil
}
