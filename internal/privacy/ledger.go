package privacy

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
)

// Ledger is the append-only list of what a run released. Identical releases of
// one period (an epoch, an evaluation) become one line with a count; lines of a
// period are sorted, so that the bytes do not depend on which worker recorded
// first. It is safe for concurrent use.
//
// A run that is killed goes back to its checkpoint: ResumeLedger cuts the file
// to the state stored there and counts on. Noise is keyed, so releases that are
// repeated after that are the same numbers and cost nothing more. The open
// period is on file as it stood at the last Sync or State: a run calls one of them
// before it keeps or shows anything, so that the file never says less than was shown.
//
// Declare states what is open before the first release.
type Ledger struct {
	mu      sync.Mutex
	noise   Noise
	file    *os.File // nil: in memory
	offset  int64    // bytes written
	chain   string
	entries []Entry // written lines
	lines   []int   // of the file, of each of them
	next    int     // line of the file that is written next
	pending map[string]*Entry
	held    holdings // stated, written or not
	holding holdings // of them, those to write with the open period
	perUnit map[string]int64
	failed  error // closed, or a write failed: nothing more is taken

	ahead    int64        // bytes on file after offset: the open period as it stood
	public   []Assumption // written
	resumed  bool         // from a checkpoint
	declared *Declaration // nil: nothing was declared, and nothing is refused for that
}

// errClosed is what a closed ledger answers.
var errClosed = errors.New("ledger: closed")

// LedgerState is what a checkpoint stores of a ledger.
type LedgerState struct {
	Offset  int64            `json:"offset"`
	Chain   string           `json:"chain"`
	Pending []string         `json:"pending"`  // marshalled entries of the open period
	PerUnit map[string]int64 `json:"per_unit"` // by purpose

	Holdings []Holding `json:"holdings,omitempty"` // stated in the open period
}

// NewLedger returns a ledger in memory.
func NewLedger(noise Noise) (*Ledger, error) {
	if err := noise.Validate(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	_, chain := headerFor(noise)
	return &Ledger{
		noise: noise, chain: chain, next: 2, pending: map[string]*Entry{}, perUnit: map[string]int64{}, held: holdings{}, holding: holdings{},
	}, nil
}

// CreateLedger starts a ledger file; it fails if one is there.
func CreateLedger(path string, noise Noise) (*Ledger, error) {
	l, err := NewLedger(noise)
	if err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	line, _ := headerFor(noise)
	if err := l.append(line); err != nil {
		l.file.Close()
		return nil, err
	}
	return l, nil
}

// ResumeLedger opens the ledger of an interrupted run, checks it up to the
// state, cuts off what was written after it and counts on from there.
func ResumeLedger(path string, st LedgerState) (*Ledger, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	l, err := resume(f, st)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("ledger: %s: %w", path, err)
	}
	return l, nil
}

func resume(f *os.File, st LedgerState) (*Ledger, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Offset < 0 || info.Size() < st.Offset {
		return nil, fmt.Errorf("it has %d bytes, the checkpoint was made at %d", info.Size(), st.Offset)
	}
	l, err := read(io.NewSectionReader(f, 0, st.Offset))
	if err != nil {
		return nil, err
	}
	if l.chain != st.Chain {
		return nil, errors.New("it is not the ledger that the checkpoint was made with")
	}
	for _, p := range st.Pending {
		e, err := parseEntry([]byte(p))
		if err != nil {
			return nil, fmt.Errorf("pending entry of the checkpoint: %w", err)
		}
		if e.Period != "" || e.PerUnit != 0 {
			return nil, fmt.Errorf("pending entry of the checkpoint: period %q and per_unit %d, want none", e.Period, e.PerUnit)
		}
		if err := l.record(e.Purpose, e.Event, e.Count); err != nil {
			return nil, err
		}
	}
	for p, n := range st.PerUnit {
		if err := l.bound(p, n); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	}
	for _, h := range st.Holdings {
		if err := l.hold(h); err != nil {
			return nil, fmt.Errorf("checkpoint: %w", err)
		}
	}
	l.file, l.offset, l.ahead, l.resumed = f, st.Offset, info.Size()-st.Offset, true
	if err := l.sync(); err != nil {
		return nil, err
	}
	return l, nil
}

// Noise returns the mark of the ledger's header.
func (l *Ledger) Noise() Noise { return l.noise }

// Record adds count releases of an event to the open period. It fails on a
// ledger that is closed or that could not be written: what is not taken here
// must not be released.
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
	if p := l.pending[key]; p != nil {
		if p.Count+count < p.Count {
			return fmt.Errorf("count of %s overflows", purpose)
		}
		p.Count += count
		return nil
	}
	entry.Event = copied(e)
	l.pending[key] = &entry
	return nil
}

// Bound declares that one unit takes part in at most perUnit of the releases
// that a purpose makes in each period from the open one on.
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

// Flush closes the open period under the given name and writes its lines. A name
// that cannot be written is refused, and the period stays open.
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
	p, err := l.period(period)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := l.write(p); err != nil {
		return err
	}
	clear(l.pending)
	clear(l.holding)
	return nil
}

// write appends lines for good.
func (l *Ledger) write(p period) error {
	if err := l.append(p.text); err != nil {
		l.failed = err
		return err
	}
	l.chain = p.chain
	l.public = append(l.public, p.public...)
	l.next += p.stated
	for _, e := range p.entries {
		l.entries, l.lines = append(l.entries, e), append(l.lines, l.next)
		l.next++
	}
	return nil
}

// period is the open period as the file will have it.
type period struct {
	text    []byte
	chain   string
	stated  int // lines of statements, before those of the entries
	public  []Assumption
	entries []Entry
}

// add seals a marshalled line.
func (p *period) add(body []byte, err error) error {
	if err != nil {
		return err
	}
	var line []byte
	line, p.chain = seal(p.chain, body)
	p.text = append(p.text, line...)
	return nil
}

func (l *Ledger) period(name string) (period, error) {
	p := period{chain: l.chain, entries: l.open(name)}
	for _, h := range l.holding.list() {
		if err := p.add(h.marshal()); err != nil {
			return period{}, err
		}
		p.stated++
	}
	for _, e := range p.entries {
		if err := p.add(e.marshal()); err != nil {
			return period{}, err
		}
	}
	return p, nil
}

// open returns the entries of the open period in their order on file.
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

func (l *Ledger) append(b []byte) error {
	if l.file != nil {
		if err := l.place(b); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	l.offset, l.ahead = l.offset+int64(len(b)), 0
	return nil
}

// State puts everything recorded on file, durably, and returns what a checkpoint needs.
func (l *Ledger) State() (LedgerState, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return LedgerState{}, l.failed
	}
	if err := l.sync(); err != nil {
		return LedgerState{}, err
	}
	st := LedgerState{Offset: l.offset, Chain: l.chain, Pending: []string{}, PerUnit: map[string]int64{}, Holdings: l.holding.list()}
	for _, e := range l.open("") {
		e.PerUnit = 0 // kept by purpose, below
		b, err := e.marshal()
		if err != nil {
			return LedgerState{}, fmt.Errorf("ledger: %w", err)
		}
		st.Pending = append(st.Pending, string(b))
	}
	for p, n := range l.perUnit {
		st.PerUnit[p] = n
	}
	return st, nil
}

// Entries returns everything recorded: written lines, then the open period. They
// are copies.
func (l *Ledger) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := append(slices.Clone(l.entries), l.open("")...)
	for i := range all {
		all[i].Event = copied(all[i].Event)
	}
	return all
}

// Close writes an open period under the name "end" and closes the file. Nothing
// can be recorded after it; closing again does nothing.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed == errClosed {
		return nil
	}
	var err error
	if len(l.pending)+len(l.holding) > 0 {
		err = l.flush("end")
	}
	l.failed = errClosed
	if l.file == nil {
		return err
	}
	f := l.file
	l.file = nil
	return errors.Join(err, f.Sync(), f.Close())
}
