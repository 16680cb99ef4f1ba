package privacy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"privrec/internal/privacy/chain"
)

// Reading holds the options for reading a ledger.
type Reading struct {
	Key        *Key // key under which the ledger was written; nil: none
	Unfinished bool // accept a ledger without a closing line, whose run has not ended
}

// File reads a ledger file to its end. It fails, naming the line, on a changed byte, a lost line, a cut last line and
// an unknown event. It also fails on a missing closing line, unless r.Unfinished is set or the version is privrec/1.
func (r Reading) File(path string) (*Ledger, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer f.Close()
	l, err := r.Parse(f)
	if err != nil {
		return nil, fmt.Errorf("ledger: %s: %w", path, err)
	}
	return l, nil
}

// ErrCut is returned for a ledger without a closing line.
var ErrCut = errors.New("no closing line: lines at its end were lost, or its run has not ended")

// Parse reads a ledger from a stream, with the checks of File. The returned ledger is in memory: more can be recorded,
// and nothing is written.
func (r Reading) Parse(in io.Reader) (*Ledger, error) {
	s := scanner{in: bufio.NewReader(in)}
	l, err := s.header(r.Key)
	if err != nil {
		return nil, err
	}
	for {
		x, err := s.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if x.end {
			l.seal, l.closed = Seal{x.count, x.chain}, true
			continue
		}
		l.take(x)
	}
	if !l.closed && !r.Unfinished && l.head.version != oldVersion {
		return nil, fmt.Errorf("line %d: %w", s.n+1, ErrCut)
	}
	return l, nil
}

// take adds a line that is already on file to the ledger.
func (l *Ledger) take(x line) {
	switch {
	case x.holding != nil:
		l.stated.raise(*x.holding)
	case x.public != nil:
		l.public = append(l.public, *x.public)
	default:
		l.entries, l.lines = append(l.entries, x.entry), append(l.lines, l.next)
		l.noisy += x.noisy()
	}
	l.next++
	l.offset += int64(len(x.text))
	l.chain = x.chain
}

// scanner reads a ledger line by line and checks the order of the lines. Its errors begin with the
// number of the line.
type scanner struct {
	in    *bufio.Reader
	n     int // lines read
	head  header
	chain string
	count int // entries
	open  bool
	end   bool
}

// header reads the first line and returns an empty ledger.
func (s *scanner) header(k *Key) (*Ledger, error) {
	text, err := chain.ReadLine(s.in)
	switch {
	case err == io.EOF:
		return nil, errors.New("line 1: empty, want a ledger header")
	case err == nil:
		s.head, err = parseHeader(k, text)
	}
	if err != nil {
		return nil, fmt.Errorf("line 1: %w", err)
	}
	s.n = 1
	l := newLedger(s.head)
	s.chain, l.offset = l.chain, int64(len(text))+1
	return l, nil
}

// next returns the next line, and io.EOF after the last.
func (s *scanner) next() (line, error) {
	text, err := chain.ReadLine(s.in)
	if err == io.EOF {
		return line{}, err
	}
	s.n++
	var x line
	if err == nil && s.end {
		err = errors.New("a line after the closing one")
	}
	if err == nil {
		x, err = s.head.parseLine(s.chain, text)
	}
	if err == nil {
		err = s.order(x)
	}
	if err != nil {
		return line{}, fmt.Errorf("line %d: %w", s.n, err)
	}
	s.chain, s.open, s.end = x.chain, x.open(), x.end
	return x, nil
}

func (s *scanner) order(x line) error {
	switch {
	case s.open && !x.open():
		return errors.New("a line after those of the open period")
	case x.end && x.count != s.count:
		return fmt.Errorf("the ledger is closed with %d entries, it has %d", x.count, s.count)
	case x.release():
		s.count++
	}
	return nil
}
