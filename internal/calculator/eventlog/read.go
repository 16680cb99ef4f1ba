package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/config"
	"privrec/internal/dataset"
)

// Bounds of a file.
const (
	maxBytes  = 64 << 20
	maxEvents = 10_000
)

const hintLarge = "one event may stand for many steps: say how many"

const hintForm = "docs/account-events.md has the form; privrec account events --example prints a file to start from"

// Read reads a file of events, YAML or JSON Lines. Its errors name file, line and key.
func Read(path string) (*File, error) {
	text, err := readText(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text)
}

func readText(path string) ([]byte, error) {
	in, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &dataset.Error{File: path, Msg: "no such file", Hint: hintForm}
	case err != nil:
		return nil, &dataset.Error{File: path, Msg: "cannot be read", Err: err}
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	switch {
	case err != nil:
		return nil, &dataset.Error{File: path, Msg: "cannot be read", Err: err}
	case len(text) > maxBytes:
		return nil, &dataset.Error{File: path, Msg: fmt.Sprintf("has more than %d bytes", maxBytes), Hint: hintLarge}
	}
	return text, nil
}

// IsLedger reports whether a text is the ledger of a run of this program.
func IsLedger(text []byte) bool { return bytes.HasPrefix(text, []byte(`{"ledger":`)) }

// Parse reads a file of events from its bytes. path is for messages, and its ending decides the form: .jsonl and
// .ndjson are JSON Lines, .yaml and .yml are YAML. Files with other names are JSON Lines if their first line is a JSON
// object.
func Parse(path string, text []byte) (*File, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case len(text) > maxBytes:
		return nil, &dataset.Error{File: path, Msg: fmt.Sprintf("has more than %d bytes", maxBytes), Hint: hintLarge}
	case len(bytes.TrimSpace(text)) == 0:
		return nil, &dataset.Error{File: path, Msg: "is empty", Hint: hintForm}
	case IsLedger(text):
		return nil, &dataset.Error{File: path, Line: 1, Msg: "is the ledger of a run", Hint: "privrec account ledger " +
			path + " --delta d"}
	}
	f := &File{path: path, ended: -1}
	var err error
	if inLines(path, text) {
		err = f.lines(text)
	} else {
		err = f.document(text)
	}
	if err == nil && f.Version == 0 {
		err = config.Errors{{File: path, Line: 1, Path: "privrec_events", Message: "is missing",
			Fix: fmt.Sprintf("begin the file with privrec_events: %d; %s", Version, hintForm)}}
	}
	if err == nil {
		err = f.check()
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// inLines reports whether a file has JSON Lines.
func inLines(path string, text []byte) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".jsonl", ".ndjson":
		return true
	case ".yaml", ".yml":
		return false
	}
	first, _, _ := bytes.Cut(bytes.TrimLeft(text, " \t\r\n"), []byte("\n"))
	return first[0] == '{' && json.Valid(finite(first))
}

// finite replaces numbers that Python writes and JSON does not have by others of the same length. The reader of the
// keys then reports them with their places.
func finite(line []byte) []byte {
	if !bytes.Contains(line, []byte("Infinity")) && !bytes.Contains(line, []byte("NaN")) {
		return line
	}
	out, quoted := bytes.Clone(line), false
	for i := 0; i < len(out); i++ {
		switch {
		case out[i] == '\\' && quoted:
			i++
		case out[i] == '"':
			quoted = !quoted
		case quoted:
		case bytes.HasPrefix(out[i:], []byte("Infinity")):
			copy(out[i:], "1.000000")
		case bytes.HasPrefix(out[i:], []byte("NaN")):
			copy(out[i:], "1.0")
		}
	}
	return out
}

// logs lists the logs of a file's events.
func (f *File) logs() (all []*Log) {
	for i := range f.Events {
		all = append(all, f.Events[i].logs()...)
	}
	return all
}

// logs lists the logs of an event and of those within it.
func (e *Event) logs() (all []*Log) {
	if e.Log != nil {
		all = append(all, e.Log)
	}
	for i := range e.Events {
		all = append(all, e.Events[i].logs()...)
	}
	return all
}

// document reads YAML.
func (f *File) document(text []byte) error {
	was := *f
	out, doc, err := parse(f.path, text, (*File).logs)
	if err != nil {
		return err
	}
	*f = out
	f.path, f.ended, f.head = was.path, was.ended, place{doc: doc}
	f.placeAll(place{doc: doc})
	return f.count()
}

// placeAll records the places of a document's events.
func (f *File) placeAll(p place) {
	for i := range f.Events {
		f.places = append(f.places, place{p.doc, fmt.Sprintf("events.%d.", i), p.above})
	}
}

// count refuses more events than are read.
func (f *File) count() error {
	if len(f.Events) > maxEvents {
		return &dataset.Error{File: f.path, Msg: fmt.Sprintf("has %d events, want at most %d", len(f.Events),
			maxEvents), Hint: "one event may stand for many steps: say how many"}
	}
	return nil
}

// lineOf is a line of JSON Lines after the first.
type lineOf struct {
	Event `yaml:",inline"`
	End   *End `yaml:"end"`
}

// lines reads JSON Lines.
func (f *File) lines(text []byte) error {
	started := false
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if line[0] != '{' || !json.Valid(finite(line)) {
			return &dataset.Error{File: f.path, Line: n, Msg: "is no object of JSON",
				Hint: "JSON Lines have one object in each line: first the head, then an event in each; " + hintForm}
		}
		line = plain(line)
		if !started {
			head := &File{path: f.path, ended: -1}
			if err := head.document(line); err != nil {
				return unlike(lower(err, n-1))
			}
			for i := range head.places {
				head.places[i].above = n - 1
			}
			head.head.above = n - 1
			*f, started = *head, true
			continue
		}
		x, doc, err := parse(f.path, line, func(x *lineOf) []*Log { return x.logs() })
		if err != nil {
			return unlike(lower(err, n-1))
		}
		if x.End != nil {
			if len(x.Event.given()) > 0 || f.ended >= 0 || f.End != nil {
				return config.Errors{{File: f.path, Line: n, Path: "end",
					Message: "must stand alone in a line, once in a file"}}
			}
			f.End, f.ended = x.End, len(f.Events)
			continue
		}
		f.Events, f.places = append(f.Events, x.Event), append(f.places, place{doc, "", n - 1})
		if err := f.count(); err != nil {
			return err
		}
	}
	return nil
}

// unlike adds a hint to errors about numbers that JSON does not have: what to write instead.
func unlike(err error) error {
	var all config.Errors
	if errors.As(err, &all) {
		for _, e := range all {
			if e.Fix == "" && (strings.Contains(e.Message, `Infinity"`) ||
				strings.Contains(e.Message, `the text "NaN"`)) {
				e.Fix = "JSON has no such number: leave the key out or write null, such as a claim where nothing is " +
					"claimed"
			}
		}
	}
	return err
}

// lower adds a number of lines to the positions of errors.
func lower(err error, by int) error {
	var all config.Errors
	if errors.As(err, &all) {
		for _, e := range all {
			if e.Line > 0 {
				e.Line += by
			}
		}
	}
	return err
}

// plain replaces surrogate pairs in a valid JSON text by the runes that they encode, because YAML has no such pairs.
func plain(line []byte) []byte {
	if !bytes.Contains(line, []byte(`\ud`)) && !bytes.Contains(line, []byte(`\uD`)) {
		return line
	}
	var out []byte
	for i := 0; i < len(line); {
		switch {
		case line[i] != '\\':
			out, i = append(out, line[i]), i+1
		case i+12 <= len(line) && line[i+1] == 'u' && line[i+6] == '\\' && line[i+7] == 'u':
			var s string
			if json.Unmarshal([]byte(`"`+string(line[i:i+12])+`"`), &s) == nil && len([]rune(s)) == 1 && s != "\ufffd" {
				out, i = append(out, s...), i+12
				continue
			}
			out, i = append(out, line[i:i+6]...), i+6
		default:
			out, i = append(out, line[i:i+2]...), i+2
		}
	}
	return out
}
