package pages

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/reproduce/phrase"
	"privrec/internal/reproduce/roster"
)

// guarantee is what the runs of a method on one data set come to for one unit.
type guarantee struct {
	method, data, unit, neighbours string
	delta                          float64
	claimed, accounted, noise      float64 // NaN: there is none
	open                           []string
	runs                           int
}

// wholeRun is what an account without units is about.
const wholeRun = "whole run"

// guarantees lists what the runs of a paper come to, the worst of equal methods, data, units and
// claims. Methods that neither claim nor add anything are counted only.
func (p *paper) guarantees() (list []guarantee, bare []string, reasons []experiment.Open) {
	for _, f := range p.runs {
		a, name := f.account, f.methodIn(p)
		if a == nil {
			continue
		}
		if a.Noise == experiment.Unknown { // the sentence above says that nothing is known
			continue
		}
		if a.Claimed == nil && len(a.Units) == 0 && a.Features == nil {
			bare = phrase.AppendNew(bare, name)
			continue
		}
		for _, o := range a.Unbounded {
			reasons = phrase.AppendNew(reasons, o)
		}
		base := guarantee{method: name, data: f.outcome.Data.Name, claimed: math.NaN(), noise: math.NaN(), runs: 1}
		for _, u := range a.Units {
			g := base
			g.unit, g.neighbours, g.delta, g.accounted, g.noise, g.open = u.Unit, u.Neighbouring, u.Delta,
				float64(u.Total), float64(u.Accounted.Eps), u.Unbounded
			if a.Claimed != nil && a.Claimed.Unit == u.Unit {
				g.claimed = float64(a.Claimed.Eps)
			}
			list = worst(list, g)
		}
		if len(a.Units) == 0 && (a.Claimed != nil || a.Features == nil) {
			g := base
			g.unit, g.accounted, g.open = wholeRun, float64(a.Total), experiment.Names(a.Unbounded)
			if a.Claimed != nil {
				g.claimed = float64(a.Claimed.Eps)
			}
			list = worst(list, g)
		}
		if u := a.Features; u != nil {
			g := base
			g.unit, g.claimed, g.accounted, g.open = "user features, local", float64(u.Eps1), float64(u.Total),
				experiment.Names(u.Unbounded)
			for _, o := range u.Unbounded {
				reasons = phrase.AppendNew(reasons, o)
			}
			list = worst(list, g)
		}
	}
	slices.SortStableFunc(list, func(a, b guarantee) int {
		return cmp.Or(report.Natural(a.method, b.method), report.Natural(a.data, b.data),
			cmp.Compare(a.claimed, b.claimed))
	})
	slices.SortFunc(bare, report.Natural)
	return list, bare, reasons
}

// worst adds a guarantee to a list, or takes the worse of two about the same.
func worst(list []guarantee, g guarantee) []guarantee {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	for i := range list {
		w := &list[i]
		if w.method == g.method && w.data == g.data && w.unit == g.unit && w.neighbours == g.neighbours &&
			w.delta == g.delta && same(w.claimed, g.claimed) {
			w.accounted, w.noise, w.runs = max(w.accounted, g.accounted), max(w.noise, g.noise), w.runs+1
			for _, o := range g.open {
				w.open = phrase.AppendNew(w.open, o)
			}
			return list
		}
	}
	return append(list, g)
}

// methodIn returns the method that a run stands for in a paper.
func (f *finished) methodIn(p *paper) string {
	for _, u := range f.of {
		if u.paper == p {
			return u.method
		}
	}
	return f.outcome.Method
}

// itself returns the finished runs of the paper's own method, or all where no method has its name.
func (p *paper) itself() (out []*finished) {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' {
				return r
			}
			return -1
		}, strings.ToLower(s))
	}
	isOwn := func(method string) bool { return strings.HasPrefix(letters(method), letters(p.name)) }
	for _, f := range p.runs {
		if isOwn(f.methodIn(p)) {
			out = append(out, f)
		}
	}
	for _, m := range p.made {
		if slices.ContainsFunc(m.Runs, func(r roster.Run) bool { return isOwn(r.Method) }) {
			return out
		}
	}
	return p.runs
}

// privacySentence says what the runs of the paper's own method that claim an epsilon bear out, all
// of them together.
func (p *paper) privacySentence() string {
	least, most, finite, exceeds := math.Inf(1), math.Inf(-1), 0, 0
	var open []string
	claims := 0
	for _, f := range p.itself() {
		a := f.account
		if a == nil || a.Claimed == nil || math.IsInf(float64(a.Claimed.Eps), 1) {
			continue
		}
		eps := float64(a.Claimed.Eps)
		claims, least, most = claims+1, min(least, eps), max(most, eps)
		if math.IsInf(float64(a.Total), 1) {
			for _, o := range a.Unbounded {
				open = phrase.AppendNew(open, o.What)
			}
			continue
		}
		finite++
		if float64(a.Total) > eps*(1+1e-9) {
			exceeds++
		}
	}
	if claims == 0 {
		if len(p.runs) == 0 {
			return "no run is finished, so nothing is known of its privacy"
		}
		if len(p.itself()) == 0 {
			return "no run of its own method is finished, so nothing is known of its privacy"
		}
		return "no finished run claims an epsilon"
	}
	text := "claimed " + number(least)
	if most > least {
		text += " to " + number(most)
	}
	these := map[bool]string{true: "this run gives", false: "these runs give"}[claims == 1]
	if finite == 0 {
		text += "; " + these + " no guarantee"
		if len(open) > 0 {
			text += ": nothing protects " + experiment.Things(open)
		}
		return text
	}
	if finite < claims {
		text += fmt.Sprintf("; %d of %d runs give no guarantee, as nothing protects %s in them, and %d have a finite "+
			"account", claims-finite, claims, experiment.Things(open), finite)
	} else {
		text += "; " + map[bool]string{true: "this run has", false: "these runs have"}[claims == 1] +
			" a finite account"
	}
	switch {
	case exceeds > 0 && claims == 1:
		text += ", above the claim for some unit"
	case exceeds > 0:
		text += fmt.Sprintf(", %d of them above the claim for some unit", exceeds)
	}
	return text
}

// panel makes the part about privacy: the claim, what is accounted, of the noise alone, and what
// is open, for every unit.
func (p *paper) panel() report.Section {
	list, bare, reasons := p.guarantees()
	s := report.Section{ID: "privacy", Title: "Privacy: claimed, accounted, of the noise alone"}
	s.Parts = append(s.Parts, report.Prose{capital(p.privacySentence()) + "."})
	if len(list) > 0 {
		t := &report.Table{Name: "privacy", Title: "Epsilon by method and unit, of the worst seed", Sorts: true,
			Columns: report.Columns("%.4g",
				"method", "of one", "claimed", "accounted", "stands", "of the noise alone", "not protected", "data",
				"delta", "runs")}
		for _, g := range list {
			unit := g.unit
			if g.neighbours != "" {
				unit += ", " + g.neighbours
			}
			t.Add(g.method, unit, large(g.claimed), large(g.accounted), g.verdict(), large(g.noise),
				places(g.open, reasons), g.data, some(g.delta), g.runs)
		}
		t.Notes = []string{
			"accounted: of all releases of the run, infinite where anything about the unit leaves without noise; of " +
				"the noise alone: what would remain if nothing else left; not protected: the numbers of the list below",
		}
		s.Parts = append(s.Parts, t)
	}
	if len(bare) > 0 {
		s.Parts = append(s.Parts,
			report.Prose{fmt.Sprintf("Without any protection, and without a claim: %s.", strings.Join(bare, ", "))})
	}
	if len(reasons) > 0 {
		var list report.Steps
		for _, o := range reasons {
			list = append(list, experiment.Thing(o.What)+": "+o.Why)
		}
		s.Parts = append(s.Parts, report.Section{ID: "open", Title: "Not protected, and why",
			Parts: []report.Part{list}})
	}
	return s
}

// verdict sets the account against the claim.
func (g guarantee) verdict() any {
	switch {
	case math.IsInf(g.accounted, 1):
		return report.Tag{Text: "no guarantee", Kind: report.Bad}
	case math.IsNaN(g.claimed):
		return report.Tag{Text: "not claimed", Kind: report.Neutral}
	case g.accounted > g.claimed*(1+1e-9):
		return report.Tag{Text: "above the claim", Kind: report.Bad}
	}
	return report.Tag{Text: "as claimed", Kind: report.Good}
}

// places lists the places of open things in a list of reasons, from 1.
func places(open []string, reasons []experiment.Open) string {
	var list []string
	for i, r := range reasons {
		if slices.Contains(open, r.What) {
			list = append(list, fmt.Sprint(i+1))
		}
	}
	return strings.Join(list, ", ")
}
