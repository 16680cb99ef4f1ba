package record

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"slices"

	"privrec/internal/system"
)

var nameForm = regexp.MustCompile(`^[a-z0-9][a-z0-9.+-]*$`)

// Read reads a file of records.
func Read(path string) (*File, error) {
	b, err := system.ReadFile(path, system.MostOfRun)
	if err != nil {
		return nil, fmt.Errorf("read records: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	f := &File{}
	if err := d.Decode(f); err != nil {
		return nil, fmt.Errorf("read records: %s:%d: %w", path, 1+bytes.Count(b[:min(int(d.InputOffset()), len(b))],
			[]byte("\n")), err)
	}
	if err := f.check(); err != nil {
		return nil, fmt.Errorf("read records: %s: %w", path, err)
	}
	return f, nil
}

// check reports contents that a file must not have.
func (f *File) check() error {
	if f.Version != Version {
		return fmt.Errorf("version: %d, want %d", f.Version, Version)
	}
	seen := map[string]bool{}
	for _, r := range f.Records {
		if !nameForm.MatchString(r.Name) {
			return fmt.Errorf("record %q: a name has small letters, digits, dots, plus signs and hyphens", r.Name)
		}
		if seen[r.Name] {
			return fmt.Errorf("record %s: there are two of that name", r.Name)
		}
		seen[r.Name] = true
		if err := r.check(); err != nil {
			return fmt.Errorf("record %s: %w", r.Name, err)
		}
	}
	return nil
}

func (r *Record) check() error {
	kinds := 0
	for _, there := range []bool{len(r.Runs) > 0, r.Measured != nil} {
		if there {
			kinds++
		}
	}
	if kinds != 1 {
		return fmt.Errorf("it has %d of runs and measured, want one", kinds)
	}
	for i, x := range r.Runs {
		switch {
		case len(x.ConfigHash) != 64:
			return fmt.Errorf("runs[%d].config_sha256: %q is no SHA-256", i, x.ConfigHash)
		case x.Task == "" || len(x.Scores) == 0 || x.Machine == "" || x.Ended.IsZero():
			return fmt.Errorf("runs[%d]: task, scores, machine and ended are needed", i)
		}
	}
	if m := r.Measured; m != nil && (m.Command == "" || m.Machine == "" || m.Date == "" || len(m.Values) == 0) {
		return errors.New("measured: command, machine, date and values are needed")
	}
	return nil
}

// Put adds a record, or replaces the one with its name.
func (f *File) Put(r Record) {
	f.Records = slices.DeleteFunc(f.Records, func(old Record) bool { return old.Name == r.Name })
	f.Records = append(f.Records, r)
}

// Find returns the record with a name, nil if there is none.
func (f *File) Find(name string) *Record {
	for i := range f.Records {
		if f.Records[i].Name == name {
			return &f.Records[i]
		}
	}
	return nil
}

// Write writes a file of records, sorted by name and seed, one line for each run, so that a changed record is a changed
// line.
func (f *File) Write(path string) error {
	f.Version = Version
	slices.SortFunc(f.Records, func(a, b Record) int { return cmp.Compare(a.Name, b.Name) })
	for _, r := range f.Records {
		slices.SortFunc(r.Runs, func(a, b Run) int { return cmp.Compare(a.Seed, b.Seed) })
	}
	if err := f.check(); err != nil {
		return fmt.Errorf("write records: %s: %w", path, err)
	}
	return system.WriteFile(path, f.encode)
}

// encode writes the file's bytes.
func (f *File) encode(w io.Writer) error {
	l := &lines{}
	l.add("{\n\"version\": ", f.Version, ",\n\"about\": ", quoted(f.About), ",\n\"records\": [")
	for i, r := range f.Records {
		l.add(comma(i), "\n{\"name\": ", quoted(r.Name), ", ")
		if r.Measured != nil {
			l.add("\"measured\":\n", r.Measured, "}")
			continue
		}
		runs, err := r.Runs.MarshalJSON() // the encoder would take its lines away
		if err != nil {
			return err
		}
		l.add("\"runs\": ", string(runs), "}")
	}
	l.add("\n]\n}\n")
	if l.err != nil {
		return l.err
	}
	_, err := w.Write(l.b.Bytes())
	return err
}

// lines collects JSON whose line breaks are chosen by hand.
type lines struct {
	b   bytes.Buffer
	err error
}

// quoted is a string that becomes a JSON string.
type quoted string

// add appends strings as they are, and other values as JSON.
func (l *lines) add(parts ...any) {
	for _, p := range parts {
		if s, ok := p.(string); ok {
			l.b.WriteString(s)
			continue
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(p); l.err == nil {
			l.err = err
		}
		l.b.Write(bytes.TrimSpace(b.Bytes()))
	}
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// Open reads the file at path, or returns a new one if there is none.
func Open(path string) (*File, error) {
	f, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Version: Version}, nil
	}
	return f, err
}
