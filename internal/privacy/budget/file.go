package budget

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"privrec/internal/privacy/chain"
	"privrec/internal/system"
)

// File holds a budget as it was on file when its lock was taken. Only one goroutine may use it.
type File struct {
	Terms        Terms
	Reservations []Reservation
	path         string
	f            *os.File
	size         int64          // of the whole lines
	lines        int            // whole lines
	check        string         // of the last whole line
	marks        map[string]int // numbers of reservations, by all marks that they had
	writable     bool
}

// form seals the lines of a budget.
var form = chain.Form{Name: "check"}

// Create writes and syncs the file of a new budget. It fails if the file exists.
func Create(path string, t Terms) error {
	t.Version = version
	if err := t.Validate(); err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	body, err := json.Marshal(t)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	text, _ := form.Seal("", body)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("budget: %w", errors.Join(err, os.Remove(path)))
	}
	if err := system.SyncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	return nil
}

// Read returns the budget on file. It waits for a writer to finish.
func Read(path string) (*File, error) {
	b := &File{path: path}
	if err := b.open(os.O_RDONLY, system.Share); err != nil {
		return nil, err
	}
	return b, b.f.Close()
}

// Change locks the file against other processes, reads it, and calls change, which may append to it.
func Change(path string, change func(*File) error) error { return (&File{path: path}).Change(change) }

// Change locks the file against other processes, reads the lines appended since this File was last read, and calls
// change, which may append to it.
func (b *File) Change(change func(*File) error) error {
	if err := b.open(os.O_RDWR, system.Lock); err != nil {
		return err
	}
	b.writable = true
	err := change(b)
	b.writable = false
	return errors.Join(err, b.f.Close()) // which frees the lock
}

// open opens and locks the file, and reads the lines that it has not read before. The descriptor holds the lock.
func (b *File) open(flags int, lock func(*os.File) error) error {
	f, err := os.OpenFile(b.path, flags, 0)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	if err = lock(f); err == nil {
		b.f = f
		err = b.read()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("budget %s: %w", b.path, err), f.Close())
	}
	return nil
}

// read reads whole lines from where it last stopped. Half a line at the end was never durable.
func (b *File) read() error {
	if info, err := b.f.Stat(); err != nil {
		return err
	} else if info.Size() < b.size {
		return fmt.Errorf("it became shorter than its first %d lines, which were read before", b.lines)
	}
	in := bufio.NewReader(io.NewSectionReader(b.f, b.size, 1<<62))
	for {
		text, err := chain.ReadLine(in)
		if err == io.EOF || errors.Is(err, chain.ErrCut) {
			break
		}
		if err == nil {
			err = b.line(text)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", b.lines+1, err)
		}
		b.size, b.lines = b.size+int64(len(text))+1, b.lines+1
	}
	if b.lines == 0 {
		return errors.New("it is not a budget: its first line is not whole")
	}
	return nil
}

// line reads a line that follows the lines read before.
func (b *File) line(text []byte) error {
	body, check, err := form.Open(b.check, text)
	if err != nil {
		return err
	}
	if b.lines == 0 {
		var t Terms
		if err := written(body, &t); err != nil {
			return fmt.Errorf("it is not a budget: %w", err)
		}
		if err := t.Validate(); err != nil {
			return err
		}
		b.Terms, b.check = t, check
		return nil
	}
	var e entry
	if err := written(body, &e); err != nil {
		return err
	}
	if err := b.allows(e); err != nil {
		return err
	}
	b.apply(e)
	b.check = check
	return nil
}

// written decodes the body of a line, and fails if the writer would not write it so.
func written(body []byte, to any) error {
	if err := chain.Strict(body, to); err != nil {
		return err
	}
	again, err := json.Marshal(to)
	if err != nil {
		return err
	}
	// A path that is not UTF-8 is written with an escaped mark for each wrong byte, and is read as that mark.
	plain := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`\ufffd`), []byte("\uFFFD")) }
	return chain.Same(plain(body), plain(again))
}

// add appends a line and syncs the file.
func (b *File) add(e entry) error {
	if !b.writable {
		return errors.New("budget: it is not open for changes")
	}
	body, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("budget %s: %w", b.path, err)
	}
	text, check := form.Seal(b.check, body)
	if len(text) > chain.MaxLine {
		return fmt.Errorf("budget %s: a line of %d bytes, want at most %d", b.path, len(text), chain.MaxLine)
	}
	if err := b.allows(e); err != nil { // a line that could not be read must not be written
		return fmt.Errorf("budget %s: %w", b.path, err)
	}
	if err := b.f.Truncate(b.size); err != nil { // drop half a line of a killed process
		return fmt.Errorf("budget %s: %w", b.path, err)
	}
	if _, err = b.f.WriteAt(text, b.size); err == nil {
		err = b.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("budget %s: %w", b.path, errors.Join(err, b.f.Truncate(b.size)))
	}
	b.size, b.lines, b.check = b.size+int64(len(text)), b.lines+1, check
	b.apply(e)
	return nil
}
