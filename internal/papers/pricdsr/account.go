package pricdsr

import (
	"fmt"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account holds the content of privacy.json: the guarantee of the released auxiliary rows, for which neighbours, and
// what nothing covers.
type Account struct {
	experiment.Account
	Mechanism string `json:"mechanism"` // empty: none
	Catalogue int    `json:"catalogue"` // m, items of the auxiliary domain
	Length    int    `json:"length"`
}

// account returns the account of a run's releases. items is the size of the auxiliary domain's catalogue.
func (c Config) account(items int) *Account {
	a := &Account{Catalogue: items, Length: c.Data.Length, Account: experiment.Unprotected(
		"target rows", "the model trains on the target domain and evaluates it in the clear")}
	a.Noise = string(privacy.Research)
	if c.Train.Selected() {
		a.Leave("selection", "validation rows of the target domain decide, in the clear, when training ends or which "+
			"epoch is reported")
	}
	switch c.Auxiliary.Kind {
	case AuxiliaryNone:
		return a
	case AuxiliaryReal:
		a.Leave("auxiliary rows", "the model reads the auxiliary domain as it is")
		return a
	case AuxiliaryPermuted:
		a.Leave("auxiliary rows", "the rows are those of other users, as they are: a control, not a protection")
		return a
	}
	m := c.sequence(items)
	a.Mechanism = c.Auxiliary.Mechanism
	if math.IsInf(m.Epsilon, 1) {
		a.Leave("auxiliary rows", "epsilon is infinite: every row is released as it is")
		return a
	}
	p := promiseOf(m)
	if c.Auxiliary.Kind == AuxiliaryPerturbed {
		a.Claimed = &p.claim
	}
	a.Units, a.Public = p.units, p.public
	if c.Auxiliary.Items > 0 {
		a.Public = append(a.Public,
			privacy.Assumption{What: "ids of items", Why: fmt.Sprintf("the catalogue is stated, 1 to %d", items)})
	}
	if len(a.Public) > 0 {
		a.Public = append(a.Public, privacy.Assumption{What: "what a run notes of its files",
			Why: "counts and check sums are of the rows as they are"})
	}
	if c.Auxiliary.Items > 0 {
		return a
	}
	a.Leave("catalogue", "the items that can be drawn are those of the auxiliary domain's table after its filters; "+
		"the guarantee holds given that list")
	return a
}

const (
	unitCell        = "cell"
	unitOrder       = "cell or order of two"
	unitInteraction = "interaction"
	unitUser        = "user"
)

// Show implements experiment.Privacy: it adds the account to a result.
func (a *Account) Show(d *report.Document) {
	if a.Claimed != nil {
		d.Facts = append(d.Facts,
			report.Fact{Label: "claimed epsilon", Value: fmt.Sprintf("%g", float64(a.Claimed.Eps)),
				Note: whose(a.Claimed.Theorem) + ", per " + a.Claimed.Unit + " of the auxiliary domain"})
	}
	a.ShowOpen(d)
	if len(a.Public) > 0 {
		d.Notes = append(d.Notes, "taken as public: "+a.PublicText())
	}
	if len(a.Units) > 0 {
		t := &report.Table{Name: "privacy",
			Title: fmt.Sprintf("What the released auxiliary rows guarantee (%s, %d items, %d columns)", a.Mechanism,
				a.Catalogue, a.Length),
			Columns: []report.Column{{Name: "protected"}, {Name: "neighbours"}, {Name: "epsilon", Format: "%.6g"}}}
		for _, u := range a.Units {
			t.Add(u.Unit, u.Neighbouring, float64(u.Total))
		}
		d.Tables = append(d.Tables, t)
	}
}
