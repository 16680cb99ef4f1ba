package privacy

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Watch calls tell with the number of releases with noise that the ledger's file lists, whenever that is above told
// and grows. The lines are durable before. Show, Sync, State and Flush return after tell has, so that nothing made
// from a release is shown before tell knows of it. An error of tell stays in the ledger, which then refuses all
// further releases.
func (l *Ledger) Watch(told int64, tell func(releases int64) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told, l.tell = told, tell
}

// watched tells of the releases on file that were not told of yet.
func (l *Ledger) watched() error {
	if l.tell == nil || l.file == nil {
		return nil
	}
	n := l.noisy
	for _, x := range l.rest {
		n += x.noisy()
	}
	if n <= l.told {
		return nil
	}
	if err := l.durable(); err != nil {
		return err
	}
	if err := l.tell(n); err != nil {
		l.failed = fmt.Errorf("ledger: %w", err)
		return l.failed
	}
	l.told = n
	return nil
}

// Extent is how far the ledger of a run that was stopped has come.
type Extent struct {
	Noise    Noise    // of its header; "" where that is not whole
	Releases int64    // with noise
	Checks   []string // of its lines, the first that of the header
}

// Has reports whether a ledger has a line with a check; every ledger has "".
func (x Extent) Has(check string) bool { return check == "" || slices.Contains(x.Checks, check) }

// Extent reads a ledger file as far as its lines are whole, to one that a kill cut. It returns the zero Extent for
// a file that is missing or was cut in its first line, and fails on a ledger of another key.
func (r Reading) Extent(path string) (x Extent, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return x, fmt.Errorf("ledger: %w", err)
	}
	defer f.Close()
	if err := r.Key.Opens(path); err != nil {
		return x, err
	}
	s := scanner{in: bufio.NewReader(f)}
	l, err := s.header(r.Key)
	if err != nil {
		return x, nil
	}
	x.Noise, x.Checks = l.head.noise, append(x.Checks, l.chain)
	for {
		at, err := s.next()
		if err != nil { // the end, or what a run that goes on cuts off
			return x, nil
		}
		x.Checks = append(x.Checks, at.chain)
		x.Releases += at.noisy()
	}
}
