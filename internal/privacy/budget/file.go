package budget

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"privrec/internal/system"
)

// File is a budget on file, as it was when its lock was taken. It is for one goroutine.
type File struct {
	Terms        Terms
	Reservations []Reservation
	path         string
	f            *os.File
	size         int64 // of the whole lines
	chain        string
	writable     bool
}

// Create makes the file of a budget, durably. It fails on a file that exists.
func Create(path string, t Terms) error {
	t.Version = version
	if err := t.Validate(); err != nil {
		return fmt.Errorf("budget: %w", err)
	}
	text, _, err := sealed("", t)
	if err != nil {
		return fmt.Errorf("budget: %w", err)
	}
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

// Read reads the file of a budget, as it is between two writers.
func Read(path string) (*File, error) {
	b, err := open(path, os.O_RDONLY, system.Share)
	if err != nil {
		return nil, err
	}
	return b, b.f.Close()
}

// Change waits until no other process has the file, reads it, and calls change, which may append to it.
func Change(path string, change func(*File) error) error {
	b, err := open(path, os.O_RDWR, system.Lock)
	if err != nil {
		return err
	}
	b.writable = true
	err = change(b)
	b.writable = false
	return errors.Join(err, b.f.Close()) // which frees the lock
}

// open opens, locks and reads a file. Its descriptor holds the lock.
func open(path string, flags int, lock func(*os.File) error) (*File, error) {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return nil, fmt.Errorf("budget: %w", err)
	}
	b := &File{path: path, f: f}
	if err = lock(f); err == nil {
		err = b.read()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("budget %s: %w", path, err), f.Close())
	}
	return b, nil
}

// read reads all whole lines. Half a line at the end was never durable.
func (b *File) read() error {
	text, err := io.ReadAll(b.f)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			break
		}
		if err := b.line(n, text[:end]); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		text, b.size = text[end+1:], b.size+int64(end)+1
	}
	if b.size == 0 {
		return errors.New("it is not a budget: its first line is not whole")
	}
	return nil
}

// entry is a line after the first: one of its fields is set.
type entry struct {
	Reserve *Reservation `json:"reserve,omitempty"`
	End     *end         `json:"end,omitempty"`
}

func (b *File) line(n int, line []byte) error {
	body, chain, err := unsealed(b.chain, line)
	if err != nil {
		return err
	}
	b.chain = chain
	if n == 1 {
		if err := strict(body, &b.Terms); err != nil {
			return fmt.Errorf("it is not a budget: %w", err)
		}
		return b.Terms.Validate()
	}
	var e entry
	if err := strict(body, &e); err != nil {
		return err
	}
	switch {
	case e.Reserve != nil && e.End == nil:
		if e.Reserve.ID != len(b.Reservations)+1 {
			return fmt.Errorf("reservation %d, want %d", e.Reserve.ID, len(b.Reservations)+1)
		}
		e.Reserve.Held = e.Reserve.Reserved
		b.Reservations = append(b.Reservations, *e.Reserve)
		return nil
	case e.End != nil && e.Reserve == nil:
		if e.End.ID < 1 || e.End.ID > len(b.Reservations) {
			return fmt.Errorf("reservation %d ends and never began", e.End.ID)
		}
		r := &b.Reservations[e.End.ID-1]
		r.State, r.Held = e.End.State, e.End.Keeps
		return nil
	}
	return errors.New("neither a reservation nor the end of one")
}

func strict(body []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// add appends a line, durably.
func (b *File) add(e entry) error {
	if !b.writable {
		return errors.New("budget: it is not open for changes")
	}
	text, chain, err := sealed(b.chain, e)
	if err != nil {
		return err
	}
	if err := b.f.Truncate(b.size); err != nil { // half a line of a process that was killed
		return fmt.Errorf("budget %s: %w", b.path, err)
	}
	if _, err = b.f.WriteAt(text, b.size); err == nil {
		err = b.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("budget %s: %w", b.path, errors.Join(err, b.f.Truncate(b.size)))
	}
	b.size, b.chain = b.size+int64(len(text)), chain
	return nil
}

// The check of a line is at its end, and covers the line and the check of the line before.
const checkMark = `,"check":"`

// sealed returns a line with its newline, and its check.
func sealed(before string, body any) (line []byte, check string, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, "", err
	}
	text = text[:len(text)-1] // without the brace
	check = checkOf(before, text)
	return append(text, checkMark+check+"\"}\n"...), check, nil
}

func checkOf(before string, text []byte) string {
	sum := sha256.Sum256(append([]byte(before), text...))
	return hex.EncodeToString(sum[:8])
}

// unsealed returns the body of a line without its check, which it compares.
func unsealed(before string, line []byte) (body []byte, check string, err error) {
	at := strings.LastIndex(string(line), checkMark)
	if at < 0 || !bytes.HasSuffix(line, []byte(`"}`)) {
		return nil, "", errors.New("it has no check at its end")
	}
	check = string(line[at+len(checkMark) : len(line)-2])
	if check != checkOf(before, line[:at]) {
		return nil, "", errors.New("the line, or one before it, was changed or lost")
	}
	return append(bytes.Clone(line[:at]), '}'), check, nil
}
