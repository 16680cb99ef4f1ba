package experiment

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// Protected makes the account of a method with noise, before anything is composed. It claims
// nothing and leaves nothing open. taken is what a finite total takes as public.
func Protected(taken ...privacy.Assumption) Account {
	return Account{Version: Version, Noise: string(privacy.Research), Units: []Unit{}, Unbounded: []Open{}, Public: taken}
}

// Compose enters the guarantee at delta for one kind of neighbour. Its epsilon is the exact
// one of what noise covers in the ledger. It is infinite where the account leaves anything
// open. A ledger without noise adds only what is open. Call Leave before it.
func (a *Account) Compose(l *privacy.Ledger, of privacy.Subject, delta float64) error {
	acc, err := accountant.New(accountant.Contour, of.Unit, of.Neighbouring)
	if err != nil {
		return err
	}
	spent, err := accountant.Covered(acc, l.Entries(), delta)
	if err != nil {
		return err
	}
	if math.IsInf(spent.Epsilon, 1) {
		return fmt.Errorf("account: nothing bounds what the noise in the ledger costs one %s (%s): %v", of.Unit, of.Neighbouring, spent.Unprotected)
	}
	if spent.Epsilon == 0 {
		if len(a.Unbounded) == 0 {
			return fmt.Errorf("account: the ledger has no noise for one %s, and nothing is declared open", of.Unit)
		}
		a.Total = privacy.Number(math.Inf(1))
		return nil
	}
	a.Add(string(of.Unit), string(of.Neighbouring), delta, privacy.Number(spent.Epsilon))
	return nil
}

// Show puts the account into a result: what is claimed, the total, a guarantee for every kind
// of neighbour, what is open and what is taken as public.
func (a *Account) Show(d *report.Document) {
	if c := a.Claimed; c != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "claimed epsilon", Value: c.Eps.String(),
			Note: fmt.Sprintf("%s, at delta %g, for one %s", c.Theorem, c.Delta, c.Unit)})
	}
	if len(a.Unbounded) > 0 {
		a.ShowOpen(d)
	} else {
		d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: a.Total.String(), Note: "the worst unit, over all releases of the run"})
	}
	if len(a.Units) > 0 {
		t := &report.Table{Name: "account", Title: "What the noise of the run guarantees",
			Columns: []report.Column{{Name: "unit"}, {Name: "neighbours"}, {Name: "delta", Format: "%g"}, {Name: "epsilon", Format: "%.5g"}}}
		for _, u := range a.Units {
			t.Add(u.Unit, u.Neighbouring, u.Delta, float64(u.Accounted.Eps))
		}
		d.Tables = append(d.Tables, t)
	}
	if len(a.Public) > 0 {
		d.Notes = append(d.Notes, "taken as public: "+a.PublicText())
	}
}
