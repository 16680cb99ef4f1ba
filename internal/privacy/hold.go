package privacy

import "fmt"

// Hold states a holding. Its line is written before the releases of the open period. If the same pair of units is
// stated several times, the largest value counts.
func (l *Ledger) Hold(h Holding) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if err := l.hold(h); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

func (l *Ledger) hold(h Holding) error {
	if err := h.Validate(); err != nil {
		return err
	}
	if l.stated.raise(h) {
		l.unwritten.raise(h)
	}
	return nil
}

// Holdings returns the stated holdings, the largest for each pair of units, sorted by the units.
func (l *Ledger) Holdings() []Holding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stated.list()
}

// Line returns the line number in the file, from 1, of entry i of Entries; 0 if the entry is not on file.
func (l *Ledger) Line(i int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i < 0 || i >= len(l.lines) {
		return 0
	}
	return l.lines[i]
}
