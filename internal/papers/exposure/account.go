package exposure

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account is privacy.json. An attack protects nobody: without bound is what it reads and
// what it reports; a protection of slates that has a guarantee is a unit of its own.
type Account struct {
	Mechanism string         `json:"mechanism"` // empty: none
	Noise     string         `json:"noise"`
	Units     []Unit         `json:"units"`
	Total     privacy.Number `json:"eps_total"` // of the run
	Unbounded []Open         `json:"unbounded"`
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

// account says what a run protects: nothing, or what its slates went through.
func (c Config) account() *Account {
	a := &Account{Noise: "none", Units: []Unit{}, Total: privacy.Number(math.Inf(1)), Unbounded: []Open{
		{"behaviours", "the attack trains on the clicks of other users in the clear and is measured on those of its victims"},
	}}
	p := c.Protect
	switch {
	case !p.On():
		a.Unbounded = append(a.Unbounded, Open{"slates", "they are attacked as they were shown: nothing is protected"})
	case p.Replace != ReplaceRR:
		a.Unbounded = append(a.Unbounded, Open{"slates", "replacing positions by sampled items has no guarantee: what is left of a slate is shown as it is"})
	default:
		a.Mechanism, a.Noise = "randomized response over the catalogue", string(privacy.Research)
		t := float64(c.Data.Slate)
		for _, u := range []struct {
			unit, neighbouring string
			eps                float64
		}{{"position", "the item at one position of one slate replaced", p.Epsilon}, {"slate", fmt.Sprintf("a slate of %d replaced", c.Data.Slate), t * p.Epsilon}} {
			a.Units = append(a.Units, Unit{Unit: u.unit, Neighbouring: u.neighbouring, Accounted: accounted{privacy.Number(u.eps)}, Total: privacy.Number(u.eps), Unbounded: []string{}})
		}
		a.Unbounded = append(a.Unbounded,
			Open{"overlap", "slates of one user share items: what several of them show adds up"},
			Open{"catalogue", "the items that can be drawn are those of the training pairs; the guarantee holds given that list"})
	}
	if c.Protect.Attacker == AttackerClean && c.Protect.On() {
		a.Unbounded = append(a.Unbounded, Open{"attacker", "trained on slates as they were: who trains on protected ones guesses better"})
	}
	return a
}

// record enters what no noise covers into the ledger.
func (a *Account) record(l *privacy.Ledger) error {
	for _, o := range a.Unbounded {
		if err := l.Record(o.What, privacy.Unprotected{What: o.What, Why: o.Why}, 1); err != nil {
			return err
		}
	}
	return nil
}

// show puts the account into a result.
func (a *Account) show(d *report.Document) {
	var open []string
	for _, o := range a.Unbounded {
		open = append(open, o.What)
	}
	d.Facts = append(d.Facts, report.Fact{Label: "accounted epsilon", Value: "inf", Note: "of the whole run, without bound: " + strings.Join(open, ", ")})
	if len(a.Units) > 0 {
		t := &report.Table{Name: "privacy", Title: "What the released slates guarantee (" + a.Mechanism + ")",
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
