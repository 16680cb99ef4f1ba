package pricdsr

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
)

// Account is privacy.json: what the released auxiliary rows guarantee, for which
// neighbours, and what nothing covers.
type Account struct {
	Mechanism string         `json:"mechanism"` // empty: none
	Noise     string         `json:"noise"`
	Catalogue int            `json:"catalogue"` // m, items of the auxiliary domain
	Length    int            `json:"length"`
	Claimed   *Claim         `json:"claimed"` // null: nothing is claimed
	Units     []Unit         `json:"units"`
	Total     privacy.Number `json:"eps_total"` // of the run: infinity unless unbounded is empty
	Unbounded []Open         `json:"unbounded"`
}

// Claim is what the paper states.
type Claim struct {
	Eps     privacy.Number `json:"eps"`
	Unit    string         `json:"unit"`
	Theorem string         `json:"theorem"`
}

// Unit is the guarantee for one kind of neighbour.
type Unit struct {
	Unit         string         `json:"unit"`
	Neighbouring string         `json:"neighbouring"`
	Delta        float64        `json:"delta"`
	Accounted    accounted      `json:"accounted"`
	Total        privacy.Number `json:"eps_total"`
	Unbounded    []string       `json:"unbounded"`
}

type accounted struct {
	Eps privacy.Number `json:"eps_exact"`
}

// Open is something that no noise covers.
type Open struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// account says what a run released. items is the auxiliary domain's catalogue.
func (c Config) account(items int) *Account {
	a := &Account{Noise: string(privacy.Research), Catalogue: items, Length: c.Data.Length, Units: []Unit{}, Total: privacy.Number(math.Inf(1)),
		Unbounded: []Open{{"target rows", "the model trains on the target domain and evaluates it in the clear"}}}
	if c.Train.Selected() {
		a.Unbounded = append(a.Unbounded, Open{"selection", "validation rows of the target domain decide, in the clear, when training ends or which epoch is reported"})
	}
	switch c.Auxiliary.Kind {
	case AuxiliaryNone:
		return a
	case AuxiliaryReal:
		a.Unbounded = append(a.Unbounded, Open{"auxiliary rows", "the model reads the auxiliary domain as it is"})
		return a
	case AuxiliaryPermuted:
		a.Unbounded = append(a.Unbounded, Open{"auxiliary rows", "the rows are those of other users, as they are: a control, not a protection"})
		return a
	}
	m := c.sequence(items)
	a.Mechanism = c.Auxiliary.Mechanism
	if math.IsInf(m.Epsilon, 1) {
		a.Unbounded = append(a.Unbounded, Open{"auxiliary rows", "epsilon is infinite: every row is released as it is"})
		return a
	}
	if c.Auxiliary.Kind == AuxiliaryPerturbed {
		a.Claimed = &Claim{Eps: privacy.Number(m.Epsilon), Unit: unitOrder, Theorem: "theorem 1"}
	}
	value, order := m.Epsilon, m.Epsilon
	if m.Variant != sequence.SDPFixed {
		order = 2 * m.Epsilon // theorem 1 is false for M; independent cells change twice
	}
	a.Units = []Unit{
		{Unit: unitCell, Neighbouring: "the item of one cell of an auxiliary row, or padding, replaced", Accounted: accounted{privacy.Number(value)}, Total: privacy.Number(value), Unbounded: []string{}},
		{Unit: unitOrder, Neighbouring: "that, or two cells of a row exchanged (definition 2)", Accounted: accounted{privacy.Number(order)}, Total: privacy.Number(order), Unbounded: []string{}},
		{Unit: unitUser, Neighbouring: "an auxiliary row replaced", Accounted: accounted{privacy.Number(m.Epsilon * float64(m.Length))}, Total: privacy.Number(m.Epsilon * float64(m.Length)), Unbounded: []string{}},
	}
	a.Unbounded = append(a.Unbounded, Open{"catalogue", "the items that can be drawn are those of the auxiliary domain's table after its filters; the guarantee holds given that list"})
	return a
}

const (
	unitCell  = "cell"
	unitOrder = "cell or order of two"
	unitUser  = "user"
)

// declaration is what no noise covers, for the ledger.
func (a *Account) declaration() (d privacy.Declaration) {
	for _, o := range a.Unbounded {
		d.Open = append(d.Open, privacy.Unprotected{What: o.What, Why: o.Why})
	}
	return d
}

// Show implements crossdomain.Account: it puts the account into a result.
func (a *Account) Show(d *report.Document) {
	if a.Claimed != nil {
		d.Facts = append(d.Facts, report.Fact{Label: "claimed epsilon", Value: fmt.Sprintf("%g", float64(a.Claimed.Eps)), Note: "the paper's " + a.Claimed.Theorem + ", per " + a.Claimed.Unit + " of the auxiliary domain"})
	}
	var open []string
	for _, o := range a.Unbounded {
		open = append(open, o.What)
	}
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: "inf", Note: "of the whole run, without bound: " + strings.Join(open, ", ")})
	if len(a.Units) > 0 {
		t := &report.Table{Name: "privacy", Title: fmt.Sprintf("What the released auxiliary rows guarantee (%s, %d items, %d columns)", a.Mechanism, a.Catalogue, a.Length),
			Columns: []report.Column{{Name: "protected"}, {Name: "neighbours"}, {Name: "epsilon", Format: "%.6g"}}}
		for _, u := range a.Units {
			t.Add(u.Unit, u.Neighbouring, float64(u.Total))
		}
		d.Tables = append(d.Tables, t)
	}
	for _, o := range a.Unbounded {
		d.Notes = append(d.Notes, o.What+": "+o.Why)
	}
}
