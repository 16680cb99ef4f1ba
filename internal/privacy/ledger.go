package privacy

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// Ledger is the append-only record of everything that a run released. Identical releases of one period (an epoch, an
// evaluation) share one line with a count. The lines of a period are sorted, so the bytes do not depend on which worker
// recorded first. A Ledger is safe for concurrent use.
//
// The open period is in memory until Flush. Show, Sync and State put it on file as provisional lines, which the lines
// of the period replace later. So a release is on file before anything computed from it is shown. Declare states what
// is unprotected before the first release.
//
// A run that was killed continues from its checkpoint: ResumeLedger restores the state stored there. Noise is keyed, so
// releases that are repeated have the same numbers and cost nothing more. The lines that the killed run wrote after its
// checkpoint stay until they are written again. Close writes a closing line, which shows that nothing is missing. Leave
// writes none.
type Ledger struct {
	mu        sync.Mutex
	head      header
	file      *os.File // nil: in memory
	offset    int64    // bytes of the final lines
	size      int64    // bytes on file
	dirty     bool     // some of these bytes may not be durable
	rest      []line   // lines on file after offset, to be replaced
	chain     string
	entries   []Entry // those of written lines
	lines     []int   // line number in the file of each entry
	next      int     // number of the next line of the file
	pending   map[string]*Entry
	stated    holdings // all stated so far
	unwritten holdings // holdings to write with the open period
	perUnit   map[string]int64
	seal      Seal
	closed    bool  // seal was read from a closing line
	failed    error // after an error every call fails: closed, or a write failed

	public   []Assumption       // assumptions that are written
	resumed  bool               // from a checkpoint
	declared *Declaration       // nil: nothing was declared, and every event is accepted
	left     map[string][]Entry // rest of a plan, by purpose; nil: no plan, and every event is accepted

	noisy int64                      // releases with noise in final lines
	told  int64                      // releases that tell was told of
	tell  func(releases int64) error // see Watch; nil: nobody
}

// errClosed is returned by a closed ledger.
var errClosed = errors.New("ledger: closed")

// NewLedger returns a ledger in memory.
func NewLedger(noise Noise) (*Ledger, error) {
	if err := noise.Validate(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	return newLedger(header{version, noise, nil}), nil
}

func newLedger(h header) *Ledger {
	_, chain := h.line()
	return &Ledger{head: h, chain: chain, next: 2, pending: map[string]*Entry{}, perUnit: map[string]int64{},
		stated: holdings{}, unwritten: holdings{}}
}

// CreateLedger creates a ledger file, under key k or without one if k is nil. It fails if the file exists.
func CreateLedger(path string, noise Noise, k *Key) (*Ledger, error) {
	if err := noise.Validate(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l := newLedger(header{version, noise, k})
	var err error
	if l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	first, _ := l.head.line()
	if err := l.write(first); err != nil {
		l.file.Close()
		return nil, err
	}
	l.offset = l.size
	return l, nil
}

// Closes reports whether the ledger's version requires a closing line, and a declaration before the first release. The
// version privrec/1 requires neither.
func (l *Ledger) Closes() bool { return l.head.version == version }

// Noise returns the noise that the ledger's header states.
func (l *Ledger) Noise() Noise { return l.head.noise }

// Record adds count releases of an event to the open period. It fails on a ledger that is closed or could not be
// written. If Record fails, the caller must not release the value.
func (l *Ledger) Record(purpose string, e Event, count int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if err := l.record(purpose, e, count); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

func (l *Ledger) record(purpose string, e Event, count int64) error {
	entry := Entry{Purpose: purpose, Count: count, Event: e}
	if err := entry.validate(); err != nil {
		return err
	}
	if err := l.declaredFor(e); err != nil {
		return err
	}
	b, err := MarshalEvent(e)
	if err != nil {
		return err
	}
	key := purpose + "\x00" + string(b)
	if p := l.pending[key]; p != nil && p.Count+count < p.Count {
		return fmt.Errorf("count of %s overflows", purpose)
	}
	if err := l.foreseen(entry); err != nil {
		return err
	}
	if p := l.pending[key]; p != nil {
		p.Count += count
		return nil
	}
	entry.Event = copied(e)
	l.pending[key] = &entry
	return nil
}

// Bound states that one unit takes part in at most perUnit of the releases for a purpose in each period, beginning with
// the open one.
func (l *Ledger) Bound(purpose string, perUnit int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	if err := l.bound(purpose, perUnit); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	return nil
}

func (l *Ledger) bound(purpose string, perUnit int64) error {
	if purpose == "" || perUnit < 1 {
		return fmt.Errorf("bound of %q is %d, want a purpose and at least 1", purpose, perUnit)
	}
	if err := label("purpose", purpose); err != nil {
		return err
	}
	l.perUnit[purpose] = perUnit
	return nil
}

// Flush closes the open period under the given name and writes its lines. If the name is not allowed it fails, and the
// period stays open.
func (l *Ledger) Flush(period string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.flush(period)
}

func (l *Ledger) flush(period string) error {
	if l.failed != nil {
		return l.failed
	}
	if err := label("period", period); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if period == underWay {
		return fmt.Errorf("ledger: the period %q is that of lines which are not final", period)
	}
	lines, err := l.period(l.unwritten.list(), l.open(period))
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := l.settle(lines); err != nil {
		return err
	}
	clear(l.pending)
	clear(l.unwritten)
	return nil
}

// period returns the lines of a period: first holdings, then releases.
func (l *Ledger) period(held []Holding, entries []Entry) ([]line, error) {
	s := sealing{key: l.head.key, chain: l.chain}
	for _, h := range held {
		body, err := h.marshal()
		if err := s.add(line{holding: &h}, body, err); err != nil {
			return nil, err
		}
	}
	for _, e := range entries {
		body, err := e.marshal()
		if err := s.add(line{entry: e}, body, err); err != nil {
			return nil, err
		}
	}
	return s.lines, nil
}

// open returns the entries of the open period, in the order in which they are written.
func (l *Ledger) open(period string) []Entry {
	keys := make([]string, 0, len(l.pending))
	for k := range l.pending {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, strings.Compare)
	entries := make([]Entry, len(keys))
	for i, k := range keys {
		entries[i] = *l.pending[k]
		entries[i].Period = period
		entries[i].PerUnit = l.perUnit[entries[i].Purpose]
	}
	return entries
}

// Entries returns copies of all recorded entries: those of written lines, then those of the open period.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append(slices.Clone(l.entries), l.open("")...)
	for i := range all {
		all[i].Event = copied(all[i].Event)
	}
	return all
}

// Seal returns the contents of the closing line. If the ledger has none yet, closed is false and s is the seal that it
// would have now.
func (l *Ledger) Seal() (s Seal, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.seal, true
	}
	return Seal{len(l.entries), l.chain}, false
}

// Close writes an open period under the name "end", then the closing line, and closes the file. Nothing can be recorded
// after it. A second Close does nothing.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == errClosed {
		return nil
	}
	var err error
	if len(l.pending)+len(l.unwritten) > 0 {
		err = l.flush("end")
	}
	if err == nil && l.failed == nil {
		err = l.end()
	}
	return errors.Join(err, l.shut())
}

// Leave closes the file of a run that has not ended. The open period stays provisional, and the ledger gets no closing
// line.
func (l *Ledger) Leave() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == errClosed {
		return nil
	}
	var err error
	if l.failed == nil {
		err = l.show()
	}
	return errors.Join(err, l.shut())
}

// shut syncs the file and closes it.
func (l *Ledger) shut() error {
	l.failed = errClosed
	if l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	return errors.Join(f.Sync(), f.Close())
}
