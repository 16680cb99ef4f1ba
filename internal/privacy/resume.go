package privacy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
)

// ResumeLedger opens the ledger of an interrupted run, under key k or without one if k is nil. It verifies the file up
// to the state of the checkpoint and continues from there. Later lines stay until they are written again; damaged ones
// among them are cut off.
func ResumeLedger(path string, st LedgerState, k *Key) (*Ledger, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l, err := resume(f, st, k)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("ledger: %s: %w", path, err)
	}
	return l, nil
}

// RestartLedger opens the ledger of a run that was stopped before its first checkpoint, and begins again. All its lines
// stay until they are written again. It fails if the header differs.
func RestartLedger(path string, noise Noise, k *Key) (*Ledger, error) {
	first, chain := header{version, noise, k}.line()
	return ResumeLedger(path, LedgerState{Offset: int64(len(first)), Chain: chain}, k)
}

// Covers returns an error if a ledger file lacks something that it held when a checkpoint was made: it was cut, or it
// is another ledger.
func (r Reading) Covers(path string, st LedgerState) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer f.Close()
	if _, _, err := settledIn(f, st, r.Key); err != nil {
		return fmt.Errorf("ledger: %s: %w", path, err)
	}
	return nil
}

// settledIn reads a file up to the position of a checkpoint.
func settledIn(f *os.File, st LedgerState, k *Key) (*Ledger, *scanner, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if st.Offset < 0 || info.Size() < st.Offset {
		return nil, nil, fmt.Errorf("it has %d bytes, the checkpoint was made at %d", info.Size(), st.Offset)
	}
	s := &scanner{in: bufio.NewReader(io.NewSectionReader(f, 0, st.Offset))}
	l, err := s.settled(k)
	if err != nil {
		return nil, nil, err
	}
	if l.chain != st.Chain {
		return nil, nil, errors.New("it is not the ledger that the checkpoint was made with")
	}
	l.size = info.Size()
	return l, s, nil
}

func resume(f *os.File, st LedgerState, k *Key) (*Ledger, error) {
	l, s, err := settledIn(f, st, k)
	if err != nil {
		return nil, err
	}
	if err := l.restore(st); err != nil {
		return nil, err
	}
	s.in = bufio.NewReader(io.NewSectionReader(f, st.Offset, l.size-st.Offset))
	for {
		x, err := s.next()
		if err != nil { // the end, or a line cut by a kill
			break
		}
		l.rest = append(l.rest, x)
	}
	l.file, l.dirty, l.resumed = f, true, true
	if err := l.show(); err != nil { // the file must hold what the checkpoint holds
		return nil, err
	}
	end := l.offset
	for _, x := range l.rest {
		end += int64(len(x.text))
	}
	return l, l.cut(end)
}

// settled reads a ledger up to a checkpoint. It fails on provisional lines, which could be replaced.
func (s *scanner) settled(k *Key) (*Ledger, error) {
	l, err := s.header(k)
	if err != nil {
		return nil, err
	}
	for {
		x, err := s.next()
		if err == io.EOF {
			return l, nil
		}
		if err == nil && (x.open() || x.end) {
			err = fmt.Errorf("line %d: a line that must be the last, before the checkpoint's place", s.n)
		}
		if err != nil {
			return nil, err
		}
		l.take(x)
	}
}

// restore puts back the open period that a checkpoint stored.
func (l *Ledger) restore(st LedgerState) error {
	for _, p := range st.Pending {
		e, err := parseEntry([]byte(p))
		if err != nil {
			return fmt.Errorf("pending entry of the checkpoint: %w", err)
		}
		if e.Period != "" || e.PerUnit != 0 {
			return fmt.Errorf("pending entry of the checkpoint: period %q and per_unit %d, want none", e.Period,
				e.PerUnit)
		}
		if err := l.record(e.Purpose, e.Event, e.Count); err != nil {
			return err
		}
	}
	for p, n := range st.PerUnit {
		if err := l.bound(p, n); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	for _, h := range st.Holdings {
		if err := l.hold(h); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

// Keep takes over the releases that a stopped attempt listed after the checkpoint, and returns how many those are. It
// is for noise without a seed: such a release cannot be repeated, so it stays spent and the caller must not make it up.
// Keyed noise needs no Keep, because it repeats the same numbers and so writes the same lines. Call Keep before
// anything is recorded. It flushes them under the given period, unless the open period already has releases.
func (l *Ledger) Keep(period string) (lost int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return 0, l.failed
	}
	var seen []Entry
	for _, x := range l.rest {
		if !x.release() {
			continue
		}
		if _, open := AsUnprotected(x.entry.Event); open {
			continue
		}
		if i := slices.IndexFunc(seen, func(e Entry) bool { return alike(e, x.entry) }); i >= 0 {
			seen[i].Count += x.entry.Count
			continue
		}
		seen = append(seen, x.entry)
	}
	fresh := len(l.pending) == 0
	for _, p := range l.open("") { // those of the checkpoint, which are among the lines too
		for i := range seen {
			if alike(seen[i], p) {
				seen[i].Count -= p.Count
			}
		}
	}
	for _, e := range seen {
		if e.Count <= 0 {
			continue
		}
		if err := l.record(e.Purpose, e.Event, e.Count); err != nil {
			return lost, fmt.Errorf("ledger: releases of an attempt that was stopped: %w", err)
		}
		lost += e.Count
	}
	if lost == 0 {
		return 0, nil
	}
	if fresh {
		return lost, l.flush(period)
	}
	return lost, l.show()
}
