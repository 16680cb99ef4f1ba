package privacy

import "fmt"

// underWay names the open period on file.
const underWay = "under way"

// Sync puts the open period on file as it stands, durably, so that a ledger read
// now holds every release that was recorded. The lines are written over when the
// period ends. A file read in the very moment of that may be refused as changed; it
// never says less.
func (l *Ledger) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	return l.sync()
}

func (l *Ledger) sync() error {
	if l.file == nil {
		return nil
	}
	p, err := l.period(underWay)
	if err == nil {
		err = l.place(p.text)
	}
	if err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		l.failed = fmt.Errorf("ledger: %w", err)
	}
	return l.failed
}

// place makes b what follows the lines that stand: it writes first and cuts what
// is left of longer lines then.
func (l *Ledger) place(b []byte) error {
	if _, err := l.file.WriteAt(b, l.offset); err != nil {
		return err
	}
	if l.ahead > int64(len(b)) {
		if err := l.file.Truncate(l.offset + int64(len(b))); err != nil {
			return err
		}
	}
	l.ahead = int64(len(b))
	return nil
}
