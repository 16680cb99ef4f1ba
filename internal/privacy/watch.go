package privacy

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Watch calls tell with the number of noisy releases on file whenever it exceeds told and has grown. The lines are
// durable before the call, and Show, Sync, State and Flush return after it, so nothing computed from a release is shown
// before tell knows of it. An error of tell stays in the ledger, which then refuses all further releases.
func (l *Ledger) Watch(told int64, tell func(releases int64) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told, l.tell = told, tell
}

// watched calls tell if the file has releases that it was not told of.
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

// Extent tells how far the ledger of a stopped run has come.
type Extent struct {
	Noise    Noise    // from its header; "" if the header is not whole
	Releases int64    // number of releases with noise
	Checks   []string // checksums of its lines, the header's first
}

// Has reports whether the ledger has a line with this checksum. Every ledger has "".
func (x Extent) Has(check string) bool { return check == "" || slices.Contains(x.Checks, check) }

// Extent reads a ledger file up to its last whole line. It returns the zero Extent for a file that is missing or was
// cut in its first line, and fails on a ledger of another key.
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
		if err != nil { // the end, or a damaged line, which a resumed run cuts off
			return x, nil
		}
		x.Checks = append(x.Checks, at.chain)
		x.Releases += at.noisy()
	}
}
