package calculator

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/run"
)

// AskLedger returns the question about the account of a ledger. Its only number is delta.
func AskLedger() *Question {
	q := newQuestion(&Mechanism{Name: "ledger", Accountants: general}, "delta")
	q.allow("prior")
	return q
}

// LedgerAccount holds the account of a ledger.
type LedgerAccount struct {
	Path       string
	Noise      privacy.Noise
	Entries    int
	Delta      float64
	Guarantees []UnitGuarantee      // one for each unit
	Public     []privacy.Assumption // what is taken as public
	Remarks    []string             // what the guarantees rest on, except releases about their units
	Gap        Gap                  // where more was released than is counted, or may have been
}

// UnitGuarantee holds the guarantee of a ledger for one unit.
type UnitGuarantee struct {
	accountant.Result
	Protected *accountant.Result // if Result is infinite: the account of what is protected; nil: nothing is
	Risk      *Risk              // of an attack; of what is protected, if Protected is not nil. nil: not known
}

// Doubts returns sentences on what makes the guarantees doubtful: releases that are not counted yet, repeatable noise,
// and open things.
func (a *LedgerAccount) Doubts() (out []string) {
	if a.Gap.Why != "" {
		out = append(out, a.Gap.Why)
	}
	if a.Noise == privacy.Research {
		out = append(out, "research noise: it is of a key or a seed, or in floating point")
	}
	for _, g := range a.Guarantees {
		for _, u := range g.Unprotected {
			if line := "open: " + u.What; !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

// Ledger returns the account of a ledger. path is a ledger file or a run directory. unit is the unit asked for; ""
// means every unit that the ledger is about. key is the ledger key that the ledger was written under, nil without one.
func (q *Question) Ledger(path, unit string, key *privacy.Key) (*LedgerAccount, error) {
	path, err := ledgerPath(path)
	if err != nil {
		return nil, err
	}
	l, gap, err := readLedger(path, key)
	if err != nil {
		return nil, err
	}
	about := subjectsOf(l)
	units, err := about.choose(path, unit)
	if err != nil {
		return nil, err
	}
	a := &LedgerAccount{Path: path, Noise: l.Noise(), Entries: len(l.Entries()), Delta: q.get("delta"),
		Public: l.Assumptions(), Gap: gap}
	for _, u := range units {
		g, err := q.ledgerGuarantee(path, l, u)
		if err != nil {
			return nil, err
		}
		a.Guarantees = append(a.Guarantees, g)
	}
	for _, u := range units {
		a.Remarks = append(a.Remarks, about.remarks(u)...)
	}
	return a, nil
}

// UnitRisk holds the risk of an attack by a ledger for one unit.
type UnitRisk struct {
	Risk
	Alone bool // of the noise alone: more is open
}

// Risks returns what an attacker can reach by a ledger, for each unit that it is about. path is a ledger file or a run
// directory, whose ledger has no key.
func Risks(path string) (risks []UnitRisk, err error) {
	q := AskLedger()
	q.method = accountant.Contour
	if path, err = ledgerPath(path); err != nil {
		return nil, err
	}
	l, _, err := readLedger(path, nil)
	if err != nil {
		return nil, err
	}
	for _, u := range subjectsOf(l).list {
		t, err := q.ledgerTradeOff(path, l, l.Entries(), u)
		if err != nil {
			return nil, err
		}
		alone := false
		if covered := noisedAbout(l, u); len(t.Unprotected) > 0 && covered != nil {
			of, err := q.ledgerTradeOff(path, l, covered, u)
			if err != nil {
				return nil, err
			}
			if len(of.Unprotected) == 0 {
				t, alone = of, true
			}
		}
		risks = append(risks, UnitRisk{*riskOf(t, evenPrior), alone})
	}
	return risks, nil
}

// ledgerTradeOff returns the trade-off bound of entries of a ledger for one unit.
func (q *Question) ledgerTradeOff(path string, l *privacy.Ledger, entries []privacy.Entry,
	u privacy.Subject) (*accountant.TradeOff, error) {
	books, err := q.ledgerBooks(path, l, entries, u)
	if err != nil {
		return nil, err
	}
	t, err := books.TradeOff()
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", path, u.Unit, err)
	}
	return t, nil
}

// choose returns the unit asked for; for an empty one, all that the ledger is about.
func (s ledgerSubjects) choose(path, unit string) ([]privacy.Subject, error) {
	if unit == "" {
		return s.list, nil
	}
	asked := privacy.Unit(unit)
	if err := asked.Validate(); err != nil {
		return nil, run.Usagef(didYouMean(unit, privacy.Units()), "--unit is %q, want %s", clip(unit),
			either(privacy.Units()))
	}
	u, ok := s.subject(asked)
	if !ok {
		return nil, run.Usagef("it is about "+unitNames(s.list), "--unit is %s, but %s is not about it", unit, path)
	}
	return []privacy.Subject{u}, nil
}

func unitNames(units []privacy.Subject) string {
	var names []string
	for _, u := range units {
		names = append(names, string(u.Unit))
	}
	return strings.Join(names, ", ")
}

// noisedAbout returns the entries of a ledger that have noise, or nil if none of them is about a unit.
func noisedAbout(l *privacy.Ledger, u privacy.Subject) []privacy.Entry {
	entries := noised(l)
	if !slices.ContainsFunc(entries, func(e privacy.Entry) bool {
		return slices.ContainsFunc(privacy.Subjects(e.Event),
			func(s privacy.Subject) bool { return !s.Unit.Apart(u.Unit) })
	}) {
		return nil
	}
	return entries
}

// ledgerGuarantee accounts for one unit. If the result is infinite it also accounts for the protected releases alone.
func (q *Question) ledgerGuarantee(path string, l *privacy.Ledger, u privacy.Subject) (UnitGuarantee, error) {
	r, risk, err := q.ledgerUnit(path, l, l.Entries(), u)
	if err != nil || len(r.Unprotected) == 0 {
		return UnitGuarantee{r, nil, risk}, err
	}
	covered := noisedAbout(l, u)
	if covered == nil {
		return UnitGuarantee{r, nil, risk}, nil
	}
	p, part, err := q.ledgerUnit(path, l, covered, u)
	if err != nil || math.IsInf(p.Epsilon, 1) {
		return UnitGuarantee{r, nil, risk}, err
	}
	return UnitGuarantee{r, &p, part}, nil
}

// ledgerBooks charges entries of a ledger to an account for one unit.
func (q *Question) ledgerBooks(path string, l *privacy.Ledger, entries []privacy.Entry,
	u privacy.Subject) (*accountant.Account, error) {
	books, err := q.account(q.method, u)
	if err != nil {
		return nil, err
	}
	if err := accountant.ChargeLedger(books, entries, l.Holdings()...); err != nil {
		return nil, fmt.Errorf("%s: account of %s: %w", path, u.Unit, err)
	}
	return books, nil
}

// ledgerUnit accounts for one unit. The risk is nil if it is unknown, as a note says.
func (q *Question) ledgerUnit(path string, l *privacy.Ledger, entries []privacy.Entry,
	u privacy.Subject) (accountant.Result, *Risk, error) {
	books, err := q.ledgerBooks(path, l, entries, u)
	if err != nil {
		return accountant.Result{}, nil, err
	}
	r, err := books.Spent(q.get("delta"))
	if err == nil {
		err = sound(r)
	}
	if err != nil {
		return r, nil, fmt.Errorf("%s: account of %s: no guarantee: %w", path, u.Unit, err)
	}
	t, err := books.TradeOff()
	if stopped := q.stopped(); stopped != nil {
		return r, nil, stopped
	}
	if err != nil {
		r.Notes = append(r.Notes, fmt.Sprintf("the risk of an attack is not known: %v", err))
		return r, nil, nil
	}
	return r, riskOf(t, q.or("prior", evenPrior)), nil
}
