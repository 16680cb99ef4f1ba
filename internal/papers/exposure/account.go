package exposure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account is privacy.json. An attack protects nobody: without bound is what it reads and
// what it reports; a protection of slates that has a guarantee is a unit of its own,
// and each that a sweep releases an entry.
type Account struct {
	Mechanism string         `json:"mechanism"` // empty: none
	Noise     string         `json:"noise"`
	Units     []Unit         `json:"units"`
	Releases  []Release      `json:"releases,omitempty"` // of a sweep, what randomized response released
	Total     privacy.Number `json:"eps_total"`          // of the run
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

// Release is the slates of some parts of the pairs under one setting of a sweep. Parts are
// disjoint: a position is released once by each setting.
type Release struct {
	Setting   string         `json:"setting"`
	Parts     []string       `json:"parts"`
	Unit      string         `json:"unit"`
	Eps       privacy.Number `json:"eps"`       // of one unit
	Positions int            `json:"positions"` // of a slate
	SlateEps  privacy.Number `json:"eps_slate"` // of a slate: all of its positions
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
		why := "they are attacked as they were shown: nothing is protected"
		if len(c.Sweep.Ratios) > 0 {
			why += "; in the sweep also with positions replaced by sampled items, which has no guarantee"
		}
		a.Unbounded = append(a.Unbounded, Open{"slates", why})
		c.Sweep.account(a, c.Data.Slate)
	case p.Replace != ReplaceRR:
		a.Unbounded = append(a.Unbounded, Open{"slates", "replacing positions by sampled items has no guarantee: what is left of a slate is shown as it is"})
	default:
		a.respond()
		for _, u := range responseUnits(p.Epsilon, c.Data.Slate) {
			u.Total = u.Accounted.Eps
			a.Units = append(a.Units, u)
		}
	}
	if c.Protect.Attacker == AttackerClean && c.Protect.On() {
		a.Unbounded = append(a.Unbounded, Open{"attacker", "trained on slates as they were: who trains on protected ones guesses better"})
	}
	return a
}

// respond says that slates went through randomized response.
func (a *Account) respond() {
	a.Mechanism, a.Noise = "randomized response over the catalogue", string(privacy.Research)
	a.Unbounded = append(a.Unbounded,
		Open{"overlap", "slates of one user share items: what several of them show adds up"},
		Open{"catalogue", "the items that can be drawn are those of the training pairs; the guarantee holds given that list"})
}

// responseUnits are what answering every position of slates of t items guarantees, without
// totals.
func responseUnits(epsilon float64, t int) []Unit {
	return []Unit{
		{Unit: string(privacy.Position), Neighbouring: "the item at one position of one slate replaced", Accounted: accounted{privacy.Number(epsilon)}, Unbounded: []string{}},
		{Unit: "slate", Neighbouring: fmt.Sprintf("a slate of %d replaced", t), Accounted: accounted{privacy.Number(float64(t) * epsilon)}, Unbounded: []string{}},
	}
}

// account adds the releases of a sweep over slates of t items, and what their epsilons add
// up to: they are of the same slates. Those are attacked as they were too, so that no total
// is finite.
func (c SweepConfig) account(a *Account, t int) {
	if len(c.Epsilons) == 0 {
		return
	}
	parts := []string{"test"}
	if slices.Contains(c.Attackers, AttackerAdaptive) {
		parts = append(parts, "train", "valid")
	}
	sum := 0.0
	for _, s := range c.settings() {
		if s.Replace == ReplaceRR {
			a.Releases = append(a.Releases, Release{s.String(), parts, string(privacy.Position), privacy.Number(s.Epsilon), t, privacy.Number(float64(t) * s.Epsilon)})
			sum += s.Epsilon
		}
	}
	a.respond()
	for _, u := range responseUnits(sum, t) {
		if n := len(a.Releases); n > 1 {
			u.Neighbouring += fmt.Sprintf("; %d settings of the sweep together", n)
		}
		u.Total, u.Unbounded = privacy.Number(math.Inf(1)), []string{"slates"}
		a.Units = append(a.Units, u)
	}
}

// sweepTable shows the releases of a sweep.
func (a *Account) sweepTable() *report.Table {
	t := &report.Table{Name: "privacy", Title: "What randomized response released in the sweep: epsilon of each setting, and of all",
		Columns: []report.Column{{Name: "setting"}, {Name: "slates"}, {Name: "a position", Format: "%.6g"}, {Name: "a slate", Format: "%.6g"}}}
	for _, r := range a.Releases {
		t.Add(r.Setting, strings.Join(r.Parts, ", "), float64(r.Eps), float64(r.SlateEps))
	}
	if n := len(a.Releases); n > 1 {
		t.Add(fmt.Sprintf("all %d settings", n), nil, float64(a.Units[0].Accounted.Eps), float64(a.Units[1].Accounted.Eps))
	}
	t.Notes = append(t.Notes, "each is that of the protected slates by themselves: the same slates are attacked as they were beside them")
	return t
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
	switch {
	case len(a.Releases) > 0:
		d.Tables = append(d.Tables, a.sweepTable())
	case len(a.Units) > 0:
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
