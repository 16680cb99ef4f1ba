package protect

import (
	"slices"
	"strings"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
)

// Parallel names parts of the pairs that have no user in common. Randomized response of all of them under one epsilon
// is one event of the ledger, entered before the first part is answered, since each user is in one part only (parallel
// composition). Answering a part again is another event.
type Parallel struct {
	parts []string

	mu   sync.Mutex
	done map[privacy.Event][]string // by event: parts that it covers already
}

// NewParallel returns parts that have no user in common, given by their names (Options.Part).
func NewParallel(parts ...string) *Parallel {
	return &Parallel{parts: parts, done: map[privacy.Event][]string{}}
}

// answer calls f with the mechanism and the ledger for its release: the given ones or, for a part whose event is
// already in the ledger, a ledger that is not read.
func (p *Parallel) answer(part string, m local.Response, l *privacy.Ledger,
	f func(local.Response, *privacy.Ledger) error) error {
	if p == nil || !slices.Contains(p.parts, part) {
		return f(m, l)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	m.Purpose = "slate positions, " + strings.Join(p.parts, ", ")
	covered := p.done[m.Event()]
	if len(covered) == 0 || slices.Contains(covered, part) {
		if err := f(m, l); err != nil {
			return err
		}
		p.done[m.Event()] = []string{part}
		return nil
	}
	covering, err := privacy.NewLedger(l.Noise())
	if err != nil {
		return err
	}
	if err := f(m, covering); err != nil {
		return err
	}
	p.done[m.Event()] = append(covered, part)
	return nil
}
