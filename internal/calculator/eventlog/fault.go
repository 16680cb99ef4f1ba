package eventlog

import (
	"fmt"
	"slices"

	"privrec/internal/privacy"
)

// Effect is the effect of a fault on the account.
type Effect string

// The effects.
const (
	Corrected Effect = "corrected" // the account is of what the log shows, beside that of what is stated
	Opens     Effect = "open"      // no noise covers what the fault says, and epsilon is infinite
	Counted   Effect = "counted"   // the account is as stated, and the fault says what is wrong with it
)

// Fault describes a contradiction in a file, or something that a guarantee does not allow.
type Fault struct {
	Name    string `json:"name"`
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Field   string `json:"field,omitempty"`
	Event   string `json:"event,omitempty"`
	Message string `json:"message"`
	Effect  Effect `json:"effect"`
	Ask     string `json:"ask"` // what to ask those who trained the model
}

// String returns the fault as a line: its name, its place and the problem.
func (x Fault) String() string {
	at := x.File
	if x.Line > 0 {
		at += fmt.Sprintf(":%d", x.Line)
	}
	if x.Event != "" {
		return fmt.Sprintf("%s (%s, %s): %s", x.Name, x.Event, at, x.Message)
	}
	return fmt.Sprintf("%s (%s): %s", x.Name, at, x.Message)
}

// Account holds the releases of a file in the form that an accountant needs.
type Account struct {
	Stated    *privacy.Ledger // as the file states
	Relation  privacy.Neighbouring
	Meanings  []Meaning // what the log may mean, with what its faults change: the worst is charged
	Changed   bool      // a meaning is not what is stated
	Digits    bool      // what noise covers differs by no more than the digits that files leave out of their numbers
	Faults    []Fault
	Assumed   []string  // what the account takes to be so, and changes it
	Readings  []Reading // the file without one of these, where a reading without it has a form
	Questions []string  // what the file does not say
	Remarks   []string
}

// Meaning holds one interpretation of a file.
type Meaning struct {
	Ledger   *privacy.Ledger
	Relation privacy.Neighbouring
}

// Account returns the releases of a file, as stated and as its log shows them, with every fault that the file itself
// reveals. Faults are in the order of the file. delta is that of the guarantee; 0: that of the file.
func (f *File) Account(delta float64) (*Account, error) {
	a := &Account{Relation: f.relation()}
	stated, plans := f.plans(), f.plans()
	for i := range stated {
		if p := &stated[i]; p.training || p.event.SamplingRate != nil {
			(&search{file: f}).units(p)
		}
	}
	var err error
	if a.Stated, err = f.ledger(stated, nil); err != nil {
		return nil, err
	}
	s := &search{file: f, asked: delta}
	s.head()
	for _, g := range sharing(plans) {
		s.training(g)
	}
	for i := range plans {
		if !plans[i].training {
			s.release(&plans[i])
		}
	}
	for _, p := range s.extra {
		plans = append(plans, *p)
	}
	if a.Meanings, err = s.meanings(plans); err != nil {
		return nil, err
	}
	has := func(e Effect) bool { return slices.ContainsFunc(s.found, func(x Fault) bool { return x.Effect == e }) }
	a.Digits = !s.clip && !has(Corrected)
	a.Changed = has(Opens) || !a.Digits
	a.Faults, a.Remarks, a.Assumed = s.found, s.remarks, s.assumed
	for _, r := range s.readings {
		a.Readings = append(a.Readings, r.read(f))
	}
	slices.SortStableFunc(a.Faults, func(x, y Fault) int { return x.Line - y.Line })
	a.Questions = append(s.asks, f.questions()...)
	return a, nil
}

// search collects faults.
type search struct {
	file     *File
	asked    float64               // delta; 0: that of the file
	without  []privacy.Unprotected // what faults of the head leave open
	found    []Fault
	extra    []*plan // steps that no event counts
	clip     bool    // a release is charged as one about another unit than the event states
	assumed  []string
	readings []reading
	asks     []string
	remarks  []string
}

// assume records an assumption of the account, and the question to ask about it; empty if it is asked anyway.
func (s *search) assume(what, ask string) {
	s.assumed = append(s.assumed, what)
	if ask != "" {
		s.asks = append(s.asks, ask)
	}
}

// charged records that the account uses a number worse than the stated one, either within the digits that files leave
// out or for a reason that is no fault.
func (s *search) charged(p *plan, format string, args ...any) {
	s.remarks = append(s.remarks, "charged, "+p.name+": "+fmt.Sprintf(format, args...))
}

// fault records a fault of the head.
func (s *search) fault(name, field string, effect Effect, ask, format string, args ...any) {
	s.found = append(s.found, Fault{Name: name, File: s.file.path, Line: s.file.head.line(field), Field: field,
		Message: fmt.Sprintf(format, args...), Effect: effect, Ask: ask})
	if effect == Opens {
		s.without = append(s.without, privacy.Unprotected{What: openNames[name], Why: s.found[len(s.found)-1].Message})
	}
}

// openNames maps faults to names of what they leave open.
var openNames = map[string]string{
	"tuning-not-counted": "the choice of settings", "epoch-not-counted": "the choice of the epoch",
	"seed-published": "the noise, whose seed is published",
	"drawn-batch":    "the size of the drawn batches", "clip-from-data": "the clipping norm",
	"records-mixed":    "gradients that are not of one record",
	"clip-not-counted": "the clipping norm", "microbatches": "gradients that were averaged before they were clipped",
}
