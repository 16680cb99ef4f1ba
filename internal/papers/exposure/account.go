package exposure

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Account holds the content of privacy.json. An attack protects nothing: its input and its results are unbounded. A
// protection of slates with a guarantee is a unit of its own, and each release of a sweep an entry.
type Account struct {
	experiment.Account
	Mechanism string    `json:"mechanism"`          // empty: none
	Releases  []Release `json:"releases,omitempty"` // of a sweep, what randomized response released
}

// Release describes the slates of some parts of the pairs under one setting of a sweep. Parts are
// disjoint: a position is released once by each setting.
type Release struct {
	Setting   string         `json:"setting"`
	Parts     []string       `json:"parts"`
	Unit      string         `json:"unit"`
	Eps       privacy.Number `json:"eps"`       // of one unit
	Positions int            `json:"positions"` // of a slate
	SlateEps  privacy.Number `json:"eps_slate"` // of a slate: all of its positions

	// Of all slates of one user, in all of the parts; left out where users are not known.
	UserEps privacy.Number `json:"eps_user,omitempty"`
}

// account returns the account of a run: of an attack that protects nothing, or of the protection of its slates. s
// counts the slates of one user.
func (c Config) account(s shares) *Account {
	a := &Account{Account: experiment.Unprotected("behaviours",
		"the attack trains on the clicks of other users in the clear and is measured on those of its victims")}
	p := c.Protect
	switch {
	case !p.On():
		why := "they are attacked as they were shown: nothing is protected"
		if len(c.Sweep.Ratios) > 0 {
			why += "; in the sweep also with positions replaced by sampled items, which has no guarantee"
		}
		a.Leave("slates", why)
		c.Sweep.account(a, c.Data.Slate, s)
	case p.Replace != protect.ReplaceRR:
		a.Leave("slates", "replacing positions by sampled items has no guarantee: what is left of a slate is shown "+
			"as it is")
	default:
		a.respond(s)
		for _, u := range responseUnits(p.Epsilon, c.Data.Slate, s) {
			u.Total = u.Accounted.Eps
			a.Units = append(a.Units, u)
		}
	}
	if c.Protect.Attacker == AttackerClean && c.Protect.On() {
		a.Leave("attacker", "trained on slates as they were: an attacker that trains on protected ones guesses better")
	}
	return a
}

// Units beside privacy.Position.
const (
	unitSlate = "slate"
	unitUser  = string(privacy.User)
	unitItem  = "item of a user" // an item wherever that user is shown it
)

// respond adds the randomized response of slates.
func (a *Account) respond(s shares) {
	a.Mechanism, a.Noise = "randomized response over the catalogue", string(privacy.Research)
	if s.Unknown != "" {
		a.Leave("overlap", "slates of one user share items: what several of them show adds up")
		a.Leave(unitUser, s.Unknown)
		a.Leave(unitItem, s.Unknown)
	}
	a.Leave("catalogue", "the items that can be drawn are those of the training pairs; the guarantee holds given "+
		"that list")
}

// responseUnits returns the guarantees of randomized response on every position of slates of t items, without totals. A
// unit of several positions has the sum of their epsilons (basic composition), which is tight for an attacker who may
// change all of them at once.
func responseUnits(epsilon float64, t int, s shares) []experiment.Unit {
	unit := func(name string, positions int, neighbouring string) experiment.Unit {
		return experiment.Unit{Unit: name, Neighbouring: neighbouring, Positions: positions,
			Accounted: experiment.Accounted{Eps: privacy.Number(float64(positions) * epsilon)}, Unbounded: []string{}}
	}
	units := []experiment.Unit{
		unit(string(privacy.Position), 1, "the item at one position of one slate replaced"),
		unit(unitSlate, t, fmt.Sprintf("a slate of %d replaced", t)),
	}
	if s.Unknown != "" {
		return units
	}
	item := fmt.Sprintf("an item replaced wherever one user is shown it: in %d positions at most, slates of a user "+
		"overlap", s.Item)
	if s.Item > s.Known {
		item = fmt.Sprintf("an item replaced wherever one user is shown it: in %d positions at most, slates of a "+
			"user overlap, all items without a token counted as one; of the others in %d", s.Item, s.Known)
	}
	return append(units,
		unit(unitUser, s.Slates*t,
			fmt.Sprintf("all slates of one user replaced: %d of %d at most in what is released, their epsilons added "+
				"up (basic composition)", s.Slates, t)),
		unit(unitItem, s.Item, item+", their epsilons added up (basic composition)"))
}

// account adds the releases of a sweep over slates of t items, and the sum of their epsilons, since they are of the
// same slates. s counts the slates of one user. Unprotected slates are attacked too, so no total is finite.
func (c SweepConfig) account(a *Account, t int, s shares) {
	if len(c.Epsilons) == 0 {
		return
	}
	parts := []string{"test"}
	if slices.Contains(c.Attackers, AttackerAdaptive) {
		parts = append(parts, "train", "valid")
	}
	sum := 0.0
	for _, x := range c.settings() {
		if x.Replace == protect.ReplaceRR {
			a.Releases = append(a.Releases, Release{x.String(), parts, string(privacy.Position),
				privacy.Number(x.Epsilon), t, privacy.Number(float64(t) * x.Epsilon),
				privacy.Number(float64(s.Slates*t) * x.Epsilon)})
			sum += x.Epsilon
		}
	}
	a.respond(s)
	for _, u := range responseUnits(sum, t, s) {
		if n := len(a.Releases); n > 1 {
			u.Neighbouring += fmt.Sprintf("; %d settings of the sweep together", n)
		}
		u.Total, u.Unbounded = privacy.Number(math.Inf(1)), []string{"slates"}
		a.Units = append(a.Units, u)
	}
}

// article returns the name of a unit with its article.
func article(u experiment.Unit) string {
	if strings.HasPrefix(u.Unit, "i") {
		return "an " + u.Unit
	}
	return "a " + u.Unit
}

// sweepTable returns a table of the releases of a sweep.
func (a *Account) sweepTable() *report.Table {
	t := &report.Table{Name: "privacy",
		Title:   "What randomized response released in the sweep: epsilon of each setting, and of all",
		Columns: []report.Column{{Name: "setting"}, {Name: "slates"}}}
	for _, u := range a.Units {
		t.Columns = append(t.Columns, report.Column{Name: article(u), Format: "%.6g"})
	}
	row := func(name string, parts any, eps float64) {
		cells := []any{name, parts}
		for _, u := range a.Units {
			cells = append(cells, float64(u.Positions)*eps)
		}
		t.Add(cells...)
	}
	for _, r := range a.Releases {
		row(r.Setting, strings.Join(r.Parts, ", "), float64(r.Eps))
	}
	if n := len(a.Releases); n > 1 {
		row(fmt.Sprintf("all %d settings", n), nil, float64(a.Units[0].Accounted.Eps))
	}
	t.Notes = append(t.Notes,
		"each is that of the protected slates by themselves: the same slates are attacked as they were beside them")
	for _, u := range a.Units {
		t.Notes = append(t.Notes, article(u)+": "+u.Neighbouring)
	}
	return t
}

// hold records the largest number of positions of one user. That number is data, and shown: the number of slates of
// each user is not protected, only their items are.
func (a *Account) hold(l *privacy.Ledger) error {
	for _, u := range a.Units {
		if u.Unit != unitUser || u.Positions < 1 {
			continue
		}
		if err := l.Hold(privacy.Holding{Unit: privacy.User, Of: privacy.Position,
			Most: int64(u.Positions)}); err != nil {
			return err
		}
	}
	return nil
}

// show adds the account to a result.
func (a *Account) show(d *report.Document) {
	a.ShowOpen(d)
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
}
