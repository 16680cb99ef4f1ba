package cli

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/run"
)

// accountLedger prices what a run recorded.
func (a *App) accountLedger() *cobra.Command {
	q := &question{of: &calculator{name: "ledger", accountants: every}}
	var unit, key string
	c := &cobra.Command{
		Use:   "ledger FILE|RUN --delta d [--ledger-key FILE]",
		Short: "what the ledger of a run amounts to",
		Long: `Composes everything that a ledger (ledger.jsonl of a run directory) lists, for each
unit that it is about. A user contains their edges, cells and all else: noise about
users is charged to an edge, and a user is accounted as a group of as many cells as
the ledger says that one user holds. What is unprotected, or of a cost that is not
known for a unit, makes its epsilon infinite. Feature vectors alone are other data
than edges, interactions, cells and positions, and are left out of their accounts. A
ledger with an unknown event, a cut last line or a changed byte is refused.

A finished ledger ends in a line that closes it, which the manifest of its run
repeats: one that lost lines is refused. Of a run directory whose run is not done the
releases so far are accounted, and the answer says "at least". Lines that were lost or
changed by accident are found without a key; only a ledger that was written under one,
with the same --ledger-key, cannot be rewritten on purpose.`,
		Args: wants("a ledger file or a run directory"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := q.check(c); err != nil {
				return err
			}
			k, err := ledgerKey(key)
			if err != nil {
				return err
			}
			path, err := ledgerPath(args[0])
			if err != nil {
				return err
			}
			books, part, err := readLedger(path, k)
			if err != nil {
				return err
			}
			ans, err := q.ledger(path, books, unit)
			if err != nil {
				return err
			}
			ans.atLeast(part)
			return run.Show(a.Stdout, q.json, ans)
		},
	}
	q.flags(c, "delta")
	q.accountantFlag(c)
	c.Flags().StringVar(&unit, "unit", "", "account this unit alone: edge, interaction, user, sample, feature, record, cell, position")
	c.Flags().StringVar(&key, "ledger-key", "", "file of the key that the ledger was written under")
	return c
}

// ledger answers for the unit asked for, or for each that the ledger is about.
func (q *question) ledger(path string, l *privacy.Ledger, unit string) (*answer, error) {
	about := subjectsOf(l)
	units := about.list
	if unit != "" {
		asked := privacy.Unit(unit)
		if err := asked.Validate(); err != nil {
			return nil, usagef("", "--unit is %q, want edge, interaction, user, sample, feature, record, cell or position", clip(unit))
		}
		s, ok := about.subject(asked)
		if !ok {
			return nil, usagef("it is about "+unitNames(units), "--unit is %s, and %s is not about it", unit, path)
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

func (q *question) ledgerGuarantee(path string, l *privacy.Ledger, u privacy.Subject) (guarantee, error) {
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
func (q *question) ledgerUnit(path string, l *privacy.Ledger, entries []privacy.Entry, u privacy.Subject) (accountant.Result, error) {
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
func (q *question) ledgerAnswer(path string, l *privacy.Ledger, found []guarantee) *answer {
	entries := l.Entries()
	releases := fmt.Sprintf("the run of %s", path)
	a := &answer{title: fmt.Sprintf("%s: %s, %s", path, entryCount(len(entries)), l.Noise())}
	var all []*answer
	for _, g := range found {
		one := &answer{title: string(g.Unit), statement: statement(releases, g.Result)}
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
	return join(names)
}
