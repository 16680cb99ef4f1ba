package privacy

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxLine bounds a line of a ledger file, in bytes.
const maxLine = 1 << 20

// ReadLedger parses a ledger file to its end. It refuses, with the number of
// the line, a changed byte, a lost line, a cut last line, an unknown event.
func ReadLedger(path string) (*Ledger, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer f.Close()
	l, err := ParseLedger(f)
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", path, err)
	}
	return l, nil
}

// ParseLedger is ReadLedger on a stream. What it returns is in memory: more can
// be recorded, nothing is written.
func ParseLedger(r io.Reader) (*Ledger, error) { return read(r) }

func headerFor(noise Noise) (line []byte, chain string) {
	body, err := json.Marshal(headerLine{version, noise})
	if err != nil {
		panic(err) // two strings
	}
	return seal("", body)
}

func read(r io.Reader) (*Ledger, error) {
	in := bufio.NewReader(r)
	var l *Ledger
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err == io.EOF {
			break
		}
		if err == nil && n == 1 {
			l, err = parseHeader(line)
		} else if err == nil {
			err = l.parse(line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		l.offset += int64(len(line)) + 1
	}
	if l == nil {
		return nil, errors.New("line 1: empty, want a ledger header")
	}
	return l, nil
}

// readLine returns the next line without its newline, io.EOF after the last.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, fmt.Errorf("longer than %d bytes", maxLine)
		case err == nil:
			return line[:len(line)-1], nil
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, errors.New("cut off: no newline at its end")
		default:
			return nil, err
		}
	}
}

func parseHeader(line []byte) (*Ledger, error) {
	body, _, err := unseal("", line)
	if err != nil {
		return nil, fmt.Errorf("not a ledger header: %w", err)
	}
	var h headerLine
	if err := strict(body, &h); err != nil {
		return nil, fmt.Errorf("not a ledger header: %w", err)
	}
	if h.Ledger != version {
		return nil, fmt.Errorf("ledger version %q, want %q", h.Ledger, version)
	}
	l, err := NewLedger(h.Noise)
	if err != nil {
		return nil, err
	}
	if again, _ := headerFor(h.Noise); !bytes.Equal(again[:len(again)-1], line) {
		return nil, errors.New("header not in canonical form")
	}
	return l, nil
}

func (l *Ledger) parse(line []byte) error {
	body, chain, err := unseal(l.chain, line)
	if err != nil {
		return err
	}
	switch {
	case bytes.HasPrefix(body, holdingKey):
		h, err := parseHolding(body)
		if err != nil {
			return err
		}
		l.held.raise(h)
	case bytes.HasPrefix(body, assumptionKey):
		a, err := parseAssumption(body)
		if err != nil {
			return err
		}
		l.public = append(l.public, a)
	default:
		e, err := parseEntry(body)
		if err != nil {
			return err
		}
		l.entries, l.lines = append(l.entries, e), append(l.lines, l.next)
	}
	l.next++
	l.chain = chain
	return nil
}
