package privacy

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// LedgerState holds what a checkpoint stores about a ledger.
type LedgerState struct {
	Offset  int64            `json:"offset"` // bytes of the final lines
	Chain   string           `json:"chain"`
	Pending []string         `json:"pending"`  // marshalled entries of the open period
	PerUnit map[string]int64 `json:"per_unit"` // by purpose

	Holdings []Holding `json:"holdings,omitempty"` // stated in the open period
}

// Show writes the releases of the open period so far as provisional lines. Call it before showing anything computed
// from them.
func (l *Ledger) Show() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	return l.show()
}

// Sync writes like Show, and makes the file durable.
func (l *Ledger) Sync() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sync()
}

func (l *Ledger) sync() error {
	if l.failed != nil {
		return l.failed
	}
	if err := l.show(); err != nil {
		return err
	}
	return l.durable()
}

func (l *Ledger) durable() error {
	if l.file != nil && l.dirty {
		if err := l.file.Sync(); err != nil {
			l.failed = fmt.Errorf("ledger: %w", err)
			return l.failed
		}
		l.dirty = false
	}
	return nil
}

// State writes and syncs like Sync, and returns what a checkpoint needs to store. A checkpoint that is written
// afterwards never holds more than the file.
func (l *Ledger) State() (LedgerState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.sync(); err != nil {
		return LedgerState{}, err
	}
	st := LedgerState{Offset: l.offset, Chain: l.chain, Pending: []string{}, PerUnit: map[string]int64{},
		Holdings: l.unwritten.list()}
	for _, e := range l.open("") {
		e.PerUnit = 0 // stored by purpose, below
		b, err := e.marshal()
		if err != nil {
			return LedgerState{}, fmt.Errorf("ledger: %w", err)
		}
		st.Pending = append(st.Pending, string(b))
	}
	maps.Copy(st.PerUnit, l.perUnit)
	return st, nil
}

// show writes the open period as provisional lines, unless the lines on file already say as much. It never lowers the
// counts in provisional lines of an earlier run, which may have come further.
func (l *Ledger) show() error {
	if l.file == nil {
		return nil
	}
	held, entries := l.unwritten.list(), l.open(underWay)
	if l.says(held, entries) {
		return l.watched()
	}
	if !slices.ContainsFunc(l.rest, func(x line) bool { return x.end || x.release() && !x.open() }) {
		held, entries = l.atLeast(held, entries)
	}
	lines, err := l.period(held, entries)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	var text []byte
	for _, x := range lines {
		text = append(text, x.text...)
	}
	if err := l.write(text); err != nil {
		return err
	}
	l.rest = lines
	return l.watched()
}

// says reports whether the lines after the final ones already state all of these holdings and entries.
func (l *Ledger) says(held []Holding, entries []Entry) bool {
	for _, h := range held {
		if !slices.ContainsFunc(l.rest, func(x line) bool {
			return x.holding != nil && x.holding.Unit == h.Unit && x.holding.Of == h.Of && x.holding.Most >= h.Most
		}) {
			return false
		}
	}
	for _, e := range entries {
		if !slices.ContainsFunc(l.rest, func(x line) bool {
			return x.release() && alike(x.entry, e) && x.entry.Count >= e.Count &&
				looser(x.entry.PerUnit, e.PerUnit) == x.entry.PerUnit
		}) {
			return false
		}
	}
	return true
}

// alike reports whether two entries differ only in their counts and periods.
func alike(a, b Entry) bool { return a.Purpose == b.Purpose && reflect.DeepEqual(a.Event, b.Event) }

// looser returns the bound that allows more; 0 means no bound.
func looser(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// atLeast raises holdings and entries to the values of the provisional lines on file.
func (l *Ledger) atLeast(held []Holding, entries []Entry) ([]Holding, []Entry) {
	most := holdings{}
	for _, h := range held {
		most.raise(h)
	}
	for _, x := range l.rest {
		if x.holding != nil {
			most.raise(*x.holding)
		}
		if !x.open() {
			continue
		}
		i := slices.IndexFunc(entries, func(e Entry) bool { return alike(e, x.entry) })
		if i < 0 {
			entries = append(entries, x.entry)
			continue
		}
		entries[i].Count, entries[i].PerUnit = max(entries[i].Count, x.entry.Count),
			looser(entries[i].PerUnit, x.entry.PerUnit)
	}
	return most.list(), entries
}

// settle writes final lines. If an earlier run wrote the same lines already, it writes nothing, and the lines behind
// them stay.
func (l *Ledger) settle(lines []line) error {
	there := len(lines) <= len(l.rest)
	var text []byte
	for i, x := range lines {
		there = there && bytes.Equal(x.text, l.rest[i].text)
		text = append(text, x.text...)
	}
	if there {
		l.rest = l.rest[len(lines):]
	} else {
		if err := l.write(text); err != nil {
			return err
		}
		l.rest = nil
	}
	for _, x := range lines {
		l.take(x)
	}
	return l.watched()
}

// end writes the closing line, and cuts off what an earlier run left behind it.
func (l *Ledger) end() error {
	l.seal = Seal{len(l.entries), l.chain}
	size := l.offset
	if l.head.version == version {
		body, err := marshalEnd(len(l.entries))
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		text, check := l.head.key.form().Seal(l.chain, body)
		if len(l.rest) == 0 || !bytes.Equal(l.rest[0].text, text) {
			if err := l.write(text); err != nil {
				return err
			}
		}
		l.seal.Chain, l.closed, size = check, true, size+int64(len(text))
	}
	l.rest = nil
	return l.cut(size)
}

// write replaces everything on file behind the final lines. It cuts the file after writing, so that at every moment the
// file is either whole or visibly damaged.
func (l *Ledger) write(text []byte) error {
	if l.file == nil || len(text) == 0 && l.size == l.offset {
		return nil
	}
	l.dirty = true
	if _, err := l.file.WriteAt(text, l.offset); err != nil {
		l.failed = fmt.Errorf("ledger: %w", err)
		return l.failed
	}
	end := l.offset + int64(len(text))
	l.size = max(l.size, end)
	return l.cut(end)
}

// cut shortens the file to size, if it is longer.
func (l *Ledger) cut(size int64) error {
	if l.file == nil || l.size <= size {
		return nil
	}
	l.dirty = true
	if err := l.file.Truncate(size); err != nil {
		l.failed = fmt.Errorf("ledger: %w", err)
		return l.failed
	}
	l.size = size
	return nil
}
