package epsilons

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"privrec/internal/calculator"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// OfRun returns the rows of a finished run: the claims and the account in its privacy.json, with a certified bracket of
// its ledger if that is about the same unit and relation. key is the key that the ledger was written under, nil without
// one.
func OfRun(dir string, key *privacy.Key) ([]Row, error) {
	m, err := run.ReadManifest(dir)
	if err != nil {
		return nil, &dataset.Error{File: dir, Msg: "is no run directory", Err: err,
			Hint: "name the directory of a finished run"}
	}
	if m.Status != run.StatusDone {
		return nil, &dataset.Error{File: dir,
			Msg:  fmt.Sprintf("the run is %s, not done: its account is written when it ends", m.Status),
			Hint: "privrec account ledger " + dir + " accounts for what it released so far"}
	}
	a, err := experiment.ReadAccount(dir)
	if err != nil {
		return nil, err
	}
	if a == nil {
		return nil, &dataset.Error{File: dir, Msg: "the run wrote no account",
			Hint: "this task states nothing about privacy"}
	}
	rows := OfAccount(m.Task+", "+dir, a)
	if _, err := os.Stat(filepath.Join(dir, run.LedgerName)); err != nil {
		if os.IsNotExist(err) {
			return rows, nil
		}
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	for i := range rows {
		if err := rows[i].certify(dir, key); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// Planned returns the rows of an account that run.Task.PlannedAccount returned.
func Planned(name string, account any) ([]Row, error) {
	b, err := json.Marshal(account)
	if err != nil {
		return nil, fmt.Errorf("%s: its account: %w", name, err)
	}
	var a experiment.Account
	if err := json.Unmarshal(b, &a); err != nil {
		return nil, fmt.Errorf("%s: its account: %w", name, err)
	}
	return OfAccount(name+", planned", &a), nil
}

// units maps the names of units in accounts that have names of their own.
var units = map[string]privacy.Unit{
	"edge-unit": privacy.Edge, "delete": privacy.Interaction, "substitute": privacy.Interaction,
	"cell or order of two": privacy.Cell, "slate": privacy.User, "item of a user": privacy.User,
	"training triple": privacy.Sample,
}

// OfAccount returns the rows of an account: one for each kind of neighbour, one for user features, and one for the
// whole run if something is open that concerns none of them.
func OfAccount(name string, a *experiment.Account) (rows []Row) {
	row := func(setting, unit, neighbours string, delta float64, r *Reading) *Row {
		u, ok := units[unit]
		if !ok {
			u = privacy.Unit(unit)
		}
		if u.Validate() != nil {
			u = privacy.Record
		}
		n := privacy.Neighbouring(neighbours)
		if n.Validate() != nil {
			n = privacy.Replace // in words of its own
		}
		if r.Open == nil {
			r.Open = []experiment.Open{}
		}
		rows = append(rows, Row{Paper: name, Setting: setting, Unit: u, Neighbouring: n, Delta: delta, Written: r})
		return &rows[len(rows)-1]
	}
	claim := func(r *Row, is bool) {
		if c := a.Claimed; c != nil && is {
			r.Claimed, r.Place = &c.Eps, c.Theorem
		}
	}
	for _, u := range a.Units {
		eps := u.Accounted.Eps
		r := &Reading{Exact: &eps, Whole: u.Total}
		for _, o := range a.Unbounded {
			if slices.Contains(u.Unbounded, o.What) {
				r.Open = append(r.Open, o)
			}
		}
		claim(row(u.Unit+": "+u.Neighbouring, u.Unit, u.Neighbouring, u.Delta, r), a.Claimed != nil &&
			a.Claimed.Unit == u.Unit)
	}
	// What is open may be about other data than any unit.
	apart := slices.ContainsFunc(a.Unbounded, func(o experiment.Open) bool {
		return !slices.ContainsFunc(a.Units,
			func(u experiment.Unit) bool { return slices.Contains(u.Unbounded, o.What) })
	})
	if len(a.Units) == 0 || apart {
		delta, unit := 0.0, string(privacy.Record)
		if a.Claimed != nil {
			delta, unit = a.Claimed.Delta, a.Claimed.Unit
		}
		claim(row("the whole run", unit, "", delta, &Reading{Whole: a.Total, Open: a.Unbounded}), len(a.Units) == 0)
	}
	if f := a.Features; f != nil {
		eps := f.Eps1
		r := row(fmt.Sprintf("user features, local: %d of %d", f.K, f.N), string(privacy.Feature),
			string(privacy.Replace), 0, &Reading{Exact: &eps, Whole: f.Total, Open: f.Unbounded})
		r.Claimed = &f.Eps1
	}
	return rows
}

// certify adds the certified bracket of a run's ledger for the unit of a row if the row's number lies in it. Otherwise
// the account may count other neighbours than the ledger names.
func (r *Row) certify(dir string, key *privacy.Key) error {
	x := r.Written
	if x.Exact == nil || r.Delta == 0 {
		return nil
	}
	q := calculator.AskLedger()
	q.Accountant = "pld"
	for _, n := range q.Numbers() {
		if err := n.Set(strconv.FormatFloat(r.Delta, 'g', -1, 64)); err != nil {
			return err
		}
	}
	if err := q.Check(); err != nil {
		return err
	}
	of, err := q.Ledger(dir, "", key)
	if err != nil {
		return err
	}
	for _, g := range of.Guarantees {
		spent := g.Result
		if g.Protected != nil {
			spent = *g.Protected
		}
		const slack = 1e-6 // of an account against its ledger
		exact := float64(*x.Exact)
		if spent.Unit == r.Unit && spent.Neighbouring == r.Neighbouring && spent.Lower > 0 &&
			exact >= spent.Lower*(1-slack) && exact <= spent.Epsilon*(1+slack) {
			x.Lower, x.Upper = number(spent.Lower), number(spent.Epsilon)
		}
	}
	return nil
}
