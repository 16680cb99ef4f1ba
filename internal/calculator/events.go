package calculator

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/run"
)

// AskEvents returns the question about the account of a file of events. Its delta may be in the file.
func AskEvents() *Question {
	q := newQuestion(&Mechanism{Name: "events", Accountants: general})
	q.allow("delta", "prior")
	return q
}

// EventsAccount holds the account of a file of events, for the unit that the file names.
type EventsAccount struct {
	File    *eventlog.File
	Entries int
	UnitGuarantee
	Lower, Upper float64            // certified bracket of what noise covers; both 0: there is none
	Renyi        float64            // Rényi bound of what noise covers; 0: there is none
	Stated       *accountant.Result // as the file states, where its faults change the account
	Noise        privacy.Noise
	Public       []privacy.Assumption
	Faults       []eventlog.Fault
	Assumed      []string    // what the account takes to be so, and changes it
	Otherwise    []Otherwise // what it comes to where one of these does not hold and that costs more
	Questions    []string    // what the file does not say
	Remarks      []string    // what the account rests on
}

// Events returns the account of a file of events.
func (q *Question) Events(path string) (*EventsAccount, error) {
	f, err := eventlog.Read(path)
	if err != nil {
		return nil, err
	}
	return q.EventsOf(f)
}

// Otherwise holds the account of a file of events if one of its assumptions does not hold.
type Otherwise struct {
	If string // what is so instead
	UnitGuarantee
}

// EventsOf returns the account of the events of a file.
func (q *Question) EventsOf(f *eventlog.File) (*EventsAccount, error) {
	if err := q.eventsDelta(f); err != nil {
		return nil, err
	}
	log, err := f.Account(q.get("delta"))
	if err != nil {
		return nil, err
	}
	a, err := q.eventsAccount(f, log)
	if err != nil {
		return nil, err
	}
	for _, r := range log.Readings {
		log, err := r.File.Account(q.get("delta"))
		if err != nil {
			return nil, fmt.Errorf("if %s: %w", r.If, err)
		}
		other, err := q.eventsAccount(r.File, log)
		if err != nil {
			return nil, fmt.Errorf("if %s: %w", r.If, err)
		}
		if other.Epsilon > a.Epsilon*(1+1e-6) {
			a.Otherwise = append(a.Otherwise, Otherwise{r.If, other.UnitGuarantee})
		}
	}
	return a, nil
}

// eventsAccount returns the account of a file from its releases.
func (q *Question) eventsAccount(f *eventlog.File, log *eventlog.Account) (*EventsAccount, error) {
	m, err := q.worst(f, log.Meanings)
	if err != nil {
		return nil, err
	}
	l := m.Ledger
	a := &EventsAccount{File: f, Entries: len(f.Events), Noise: l.Noise(), Public: l.Assumptions(), Faults: log.Faults,
		Assumed: log.Assumed, Questions: log.Questions, Remarks: log.Remarks}
	about := privacy.Subject{Unit: f.Unit, Neighbouring: m.Relation}
	if err := q.eventsCovered(a, f, l, about); err != nil {
		return nil, err
	}
	if log.Changed {
		stated := privacy.Subject{Unit: f.Unit, Neighbouring: log.Relation}
		r, _, err := q.eventsUnit(f, log.Stated, log.Stated.Entries(), stated)
		if err != nil {
			return nil, err
		}
		a.Stated = &r
	}
	held := l
	if log.Digits {
		held = log.Stated
	}
	if err := q.claimed(a, f, l, held, about); err != nil {
		return nil, err
	}
	a.Remarks = append(a.Remarks, subjectsOf(l).remarks(about)...)
	return a, nil
}

// worst returns the most expensive interpretation of a file, by the releases with noise.
func (q *Question) worst(f *eventlog.File, all []eventlog.Meaning) (worst eventlog.Meaning, err error) {
	if len(all) == 1 {
		return all[0], nil
	}
	most := math.Inf(-1)
	for _, m := range all {
		entries := noised(m.Ledger)
		if len(entries) == 0 {
			return m, nil
		}
		r, _, err := q.eventsUnit(f, m.Ledger, entries, privacy.Subject{Unit: f.Unit, Neighbouring: m.Relation})
		if err != nil {
			return worst, err
		}
		if r.Epsilon > most {
			worst, most = m, r.Epsilon
		}
	}
	return worst, nil
}

// noised returns the entries of a ledger that have noise.
func noised(l *privacy.Ledger) []privacy.Entry {
	return slices.DeleteFunc(l.Entries(), func(e privacy.Entry) bool {
		_, open := privacy.AsUnprotected(e.Event)
		return open
	})
}

// eventsDelta sets delta to that of the file if it was not given.
func (q *Question) eventsDelta(f *eventlog.File) error {
	if q.given("delta") {
		return nil
	}
	delta := 0.0
	if f.Delta != nil {
		delta = *f.Delta
	} else if f.Claim != nil {
		delta = f.Claim.Delta
	}
	if delta == 0 {
		return run.Usagef("state delta in the file, or give --delta, well below one over the number of "+string(f.Unit)+
			"s", "%s has no delta", f.Path())
	}
	if err := q.numbers["delta"].Set(short(delta)); err != nil {
		return fmt.Errorf("%s: %w", f.Path(), err)
	}
	return nil
}

// eventsCovered accounts for one unit: for everything and, if something is open, for the releases with noise. For these
// it also computes a bracket and the Rényi bound.
func (q *Question) eventsCovered(a *EventsAccount, f *eventlog.File, l *privacy.Ledger, u privacy.Subject) error {
	entries := l.Entries()
	r, risk, err := q.eventsUnit(f, l, entries, u)
	if err != nil {
		return err
	}
	a.UnitGuarantee = UnitGuarantee{r, nil, risk}
	if len(r.Unprotected) > 0 {
		if entries = noised(l); len(entries) == 0 {
			return nil
		}
		p, part, err := q.eventsUnit(f, l, entries, u)
		if err != nil || math.IsInf(p.Epsilon, 1) {
			return err
		}
		a.Protected, a.Risk = &p, part
	}
	if f.Tuning != nil && f.Tuning.Counted == "random-runs" {
		a.Renyi = a.covered().Epsilon
		return nil
	}
	for _, m := range []accountant.Method{accountant.PLD, accountant.RDP} {
		as := *q
		as.method = m
		r, _, err := as.eventsUnit(f, l, entries, u)
		if err != nil || math.IsInf(r.Epsilon, 1) {
			continue // this method has no form for these releases, which another one had
		}
		if m == accountant.PLD {
			a.Lower, a.Upper = r.Lower, r.Epsilon
		} else {
			a.Renyi = r.Epsilon
		}
	}
	return nil
}

// covered returns the account of the releases with noise.
func (a *EventsAccount) covered() accountant.Result {
	if a.Protected != nil {
		return *a.Protected
	}
	return a.Result
}

// eventsUnit accounts for one unit by the releases of a ledger. The risk is nil if it is unknown.
func (q *Question) eventsUnit(f *eventlog.File, l *privacy.Ledger, entries []privacy.Entry,
	u privacy.Subject) (accountant.Result, *Risk, error) {
	fail := func(r accountant.Result, err error) (accountant.Result, *Risk, error) {
		return r, nil, fmt.Errorf("%s: account of %s: %w", f.Path(), u.Unit, err)
	}
	books, err := q.eventsBooks(q.method, l, entries, u)
	if err != nil {
		return fail(accountant.Result{}, err)
	}
	var r accountant.Result
	if t := f.Tuning; t != nil && t.Counted == "random-runs" {
		law, err := rdp.SelectionFor(*t.Eta, *t.Mean)
		if err != nil {
			return fail(r, err)
		}
		one, err := q.eventsBooks(accountant.RDP, l, entries, u)
		if err != nil {
			return fail(r, err)
		}
		if r, err = accountant.Best([]*accountant.Account{one}, law, nil, q.get("delta")); err != nil {
			return fail(r, err)
		}
		r.Notes = append(r.Notes,
			"the risk of an attack is not known: there is no trade-off curve of the best of several runs")
		return r, nil, sound(r)
	}
	if r, err = books.Spent(q.get("delta")); err == nil {
		err = sound(r)
	}
	if err != nil {
		return fail(r, err)
	}
	t, err := books.TradeOff()
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the risk of an attack is not known: %v", err))
		return r, nil, nil
	}
	return r, riskOf(t, q.or("prior", evenPrior)), nil
}

// eventsBooks charges the entries of a ledger. If one unit holds several of the units that a release is about, under
// the same relation, the release costs a group of them, each sampled by itself.
func (q *Question) eventsBooks(m accountant.Method, l *privacy.Ledger, entries []privacy.Entry,
	u privacy.Subject) (*accountant.Account, error) {
	books, err := accountant.New(m, u.Unit, u.Neighbouring)
	if err != nil {
		return nil, err
	}
	var rest []privacy.Entry
	for _, e := range entries {
		size := groupOf(e, l.Holdings(), u)
		if size == 0 {
			rest = append(rest, e)
		} else if err := accountant.ChargeGroup(books, e.Event, e.Count, size); err != nil {
			return nil, err
		}
	}
	return books, accountant.ChargeLedger(books, rest, l.Holdings()...)
}

// groupOf returns how many units of a release the account's unit holds, if the release is of Poisson samples of these
// under the account's relation; 0 for other entries.
func groupOf(e privacy.Entry, held []privacy.Holding, u privacy.Subject) int64 {
	form := e.Event.Form()
	if form.Way != privacy.OnSample || form.Method != privacy.Poisson || e.PerUnit != 0 ||
		u.Neighbouring == privacy.Replace {
		return 0
	}
	about, ok := privacy.About(form.Event)
	if !ok || about.Unit == u.Unit || !u.Unit.Contains(about.Unit) || about.Neighbouring != u.Neighbouring {
		return 0
	}
	for _, h := range held {
		if h.Unit == u.Unit && h.Of == about.Unit {
			return h.Most
		}
	}
	return 0
}

// claimTolerance is the relative amount by which a claimed epsilon may be below the accounted one, since claims are
// printed with few digits.
const claimTolerance = 0.005

// claimed compares the claim of a file with the account of the releases with noise, at the claim's delta. A claim
// without delta is compared at the delta of the file; without any delta epsilon is larger still. The ledger held
// contains the releases to compare with, and l those that are charged.
func (q *Question) claimed(a *EventsAccount, f *eventlog.File, l, held *privacy.Ledger, u privacy.Subject) error {
	c := f.Claim
	if c == nil || c.Unit != "" && c.Unit != f.Unit {
		return nil
	}
	spent, delta := a.covered(), c.Delta
	if delta == 0 {
		delta = q.get("delta")
	}
	if (held != l || c.Delta != 0 && c.Delta != spent.Delta) && !math.IsInf(spent.Epsilon, 1) {
		at := *q
		at.numbers = map[string]*Number{"delta": newNumber("delta")}
		if err := at.numbers["delta"].Set(short(delta)); err != nil {
			return fmt.Errorf("%s: claim.delta: %w", f.Path(), err)
		}
		var err error
		if spent, _, err = at.eventsUnit(f, held, noised(held), u); err != nil {
			return err
		}
	}
	if math.IsInf(spent.Epsilon, 1) || c.Epsilon >= spent.Epsilon*(1-claimTolerance) {
		return nil
	}
	a.Faults = append(a.Faults, eventlog.Fault{
		Name: "claim-below-account", File: f.Path(), Line: f.ClaimLine(), Field: "claim.epsilon",
		Effect: eventlog.Counted,
		Message: fmt.Sprintf("the claimed epsilon is %s, and the releases of the file come to %s at delta %s",
			near(c.Epsilon, 6), RoundUp(spent.Epsilon, 6), short(delta)),
		Ask: "With which program, sampling and number of steps was the claimed epsilon computed?",
	})
	return nil
}
