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

// AskLedger returns the question of what a ledger amounts to, of which a delta is asked.
func AskLedger() *Question {
	return newQuestion(&Mechanism{Name: "ledger", Accountants: every}, "delta")
}

// Ledger answers what a ledger amounts to, a file or that of a run directory, for the unit
// that is asked for, or with an empty unit for each that the ledger is about. The key is the
// one that the ledger was written under, nil without one.
func (q *Question) Ledger(path, unit string, key *privacy.Key) (*Answer, error) {
	path, err := ledgerPath(path)
	if err != nil {
		return nil, err
	}
	books, part, err := readLedger(path, key)
	if err != nil {
		return nil, err
	}
	ans, err := q.ledger(path, books, unit)
	if err != nil {
		return nil, err
	}
	ans.atLeast(part)
	return ans, nil
}

// ledger answers for the unit asked for, or for each that the ledger is about.
func (q *Question) ledger(path string, l *privacy.Ledger, unit string) (*Answer, error) {
	about := subjectsOf(l)
	units := about.list
	if unit != "" {
		asked := privacy.Unit(unit)
		if err := asked.Validate(); err != nil {
			return nil, run.Usagef("", "--unit is %q, want edge, interaction, user, sample, feature, record, cell or position", clip(unit))
		}
		s, ok := about.subject(asked)
		if !ok {
			return nil, run.Usagef("it is about "+unitNames(units), "--unit is %s, and %s is not about it", unit, path)
		}
		units = []privacy.Subject{s}
	}
	var found []guarantee
	for _, u := range units {
		g, err := q.ledgerGuarantee(path, l, u)
		if err != nil {
			return nil, err
		}
		found = append(found, g)
	}
	ans := q.ledgerAnswer(path, l, found)
	for _, u := range units {
		about.remark(ans, u)
	}
	return ans, nil
}

// guarantee is a result, and beside an infinite one that of what is protected.
type guarantee struct {
	accountant.Result
	protected *accountant.Result // nil: everything is, or nothing
}

func (q *Question) ledgerGuarantee(path string, l *privacy.Ledger, u privacy.Subject) (guarantee, error) {
	entries := l.Entries()
	r, err := q.ledgerUnit(path, l, entries, u)
	if err != nil || len(r.Unprotected) == 0 {
		return guarantee{r, nil}, err
	}
	noised := slices.DeleteFunc(slices.Clone(entries), func(e privacy.Entry) bool {
		_, open := e.Event.(privacy.Unprotected)
		return open
	})
	if !slices.ContainsFunc(noised, func(e privacy.Entry) bool {
		return slices.ContainsFunc(privacy.Subjects(e.Event), func(s privacy.Subject) bool { return !s.Unit.Apart(u.Unit) })
	}) {
		return guarantee{r, nil}, nil
	}
	p, err := q.ledgerUnit(path, l, noised, u)
	if err != nil || math.IsInf(p.Epsilon, 1) {
		return guarantee{r, nil}, err
	}
	return guarantee{r, &p}, nil
}

// ledgerUnit accounts one unit.
func (q *Question) ledgerUnit(path string, l *privacy.Ledger, entries []privacy.Entry, u privacy.Subject) (accountant.Result, error) {
	books, err := accountant.New(q.method, u.Unit, u.Neighbouring)
	if err != nil {
		return accountant.Result{}, err
	}
	if err := accountant.ChargeLedger(books, entries, l.Holdings()...); err != nil {
		return accountant.Result{}, fmt.Errorf("%s: account of %s: %w", path, u.Unit, err)
	}
	r, err := books.Spent(q.get("delta"))
	if err == nil {
		err = sound(r)
	}
	if err != nil {
		return r, fmt.Errorf("%s: account of %s: no guarantee: %w", path, u.Unit, err)
	}
	return r, nil
}

// ledgerAnswer tells the guarantees: one at the top level, several as a list.
func (q *Question) ledgerAnswer(path string, l *privacy.Ledger, found []guarantee) *Answer {
	entries := l.Entries()
	releases := fmt.Sprintf("the run of %s", path)
	a := &Answer{title: fmt.Sprintf("%s: %s, %s", path, entryCount(len(entries)), l.Noise())}
	var all []*Answer
	for _, g := range found {
		one := &Answer{title: string(g.Unit), statement: statement(releases, g.Result)}
		one.guarantee(g.Result)
		if p := g.protected; p != nil {
			one.add("epsilon_protected", p.Epsilon, "of what is protected", roundUp(p.Epsilon, 6))
			one.statement += fmt.Sprintf(" What is protected, alone, would amount to epsilon %s.", roundUp(p.Epsilon, 4))
		}
		one.judge(g.Result)
		all = append(all, one)
	}
	if len(all) == 1 {
		a.fields = slices.Clone(all[0].fields)
		a.statement = all[0].statement
		a.warnings = all[0].warnings
	} else {
		for i, r := range found {
			shown := roundUp(r.Epsilon, 6) + ", " + r.Method + ", " + string(r.Neighbouring)
			if math.IsInf(r.Epsilon, 1) {
				shown = "infinite"
				if r.protected != nil {
					shown += ", of what is protected " + roundUp(r.protected.Epsilon, 6)
				}
			}
			a.add("", nil, "epsilon for one "+noun(r.Unit), shown)
			a.statement = strings.TrimSpace(a.statement + " " + all[i].statement)
			for _, w := range all[i].warnings {
				if !slices.Contains(a.warnings, w) {
					a.warnings = append(a.warnings, w)
				}
			}
		}
		a.add("delta", q.get("delta"), "delta", short(q.get("delta")))
	}
	a.add("guarantees", all, "", "")
	a.add("ledger", path, "", "")
	a.add("entries", len(entries), "", "")
	a.add("noise", l.Noise(), "", "")
	if public := l.Assumptions(); len(public) > 0 {
		a.add("taken_as_public", public, "", "")
		for _, p := range public {
			a.warn("takes as public: %s", p)
		}
	}
	if l.Noise() == privacy.Research {
		a.warn("the noise is research noise: seeded, or in floating point, so the guarantee holds on paper only")
	}
	return a
}

// entryCount is n with its noun.
func entryCount(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}

func unitNames(units []privacy.Subject) string {
	var names []string
	for _, u := range units {
		names = append(names, string(u.Unit))
	}
	return strings.Join(names, ", ")
}
