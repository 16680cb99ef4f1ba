package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/config"
)

// statements lists what a part may say, and the keys that belong to some of them alone.
var (
	statements = []string{"rises", "falls", "above", "below", "ordered", "near", "reaches", "gains", "widens", "peaks",
		"dips", "keeps", "loses", "epsilon"}
	keysOf = map[string][]string{
		"at": {"peaks", "dips", "keeps", "loses"}, "share": {"keeps", "loses"},
		"by": {"above", "below", "near", "reaches", "gains"}, "ends": {"rises", "falls"},
		"most": {"above", "below", "ordered", "near"}, "except": {"above", "below"}, "claimed": {"epsilon"},
		"unit":   {"epsilon"},
		"before": {"epsilon"},
	}
)

// CheckForm reports what is wrong with a claim of the file of a grid, under the key at, whatever rows the grid has.
func CheckForm(v *config.Checker, at string, c *Claim, grid string) {
	v.Check(c.Grid == "" || c.Grid == grid, at+".grid", "must be left out in the file of a grid")
	v.Check(c.Lacks == "", at+".lacks", "belongs to a file of claims, not to a grid")
	c.form(v, at)
	for j := range c.Parts {
		c.Parts[j].form(v, fmt.Sprintf("%s.parts.%d", at, j))
	}
}

// Check reports what is wrong with a claim of a grid's own file, under the key at.
func Check(v *config.Checker, at string, c *Claim, g *Grid) {
	CheckForm(v, at, c, g.Name)
	c.Grid = g.Name
	c.refer(v, at, []*Grid{g})
}

// check reports what is wrong with a claim.
func (c *Claim) check(v *config.Checker, at string, grids []*Grid) {
	c.form(v, at)
	c.refer(v, at, grids)
}

// form reports what is wrong with a claim without its parts.
func (c *Claim) form(v *config.Checker, at string) {
	v.Check((len(c.Parts) > 0) != (c.Lacks != ""), at+".parts",
		"must name at least one, or lacks must say why none can be tested")
}

// refer reports what the parts of a claim get wrong about grids.
func (c *Claim) refer(v *config.Checker, at string, grids []*Grid) {
	if len(c.Parts) > 0 && find(grids, c.Grid) == nil {
		v.Check(false, at+".grid", "%q is not a grid of the paper; there are %s", c.Grid,
			strings.Join(names(grids), ", "))
		return
	}
	for j := range c.Parts {
		c.Parts[j].check(v, fmt.Sprintf("%s.parts.%d", at, j), c, grids)
	}
}

// check reports what is wrong with a part: first of itself, then with what it refers to.
func (p *Part) check(v *config.Checker, at string, c *Claim, grids []*Grid) {
	if p.form(v, at) {
		p.checkLines(v, func(name string) string { return at + "." + name }, c, grids)
	}
}

// form reports what is wrong with a part, whatever it refers to.
func (p *Part) form(v *config.Checker, at string) bool {
	key := func(name string) string { return at + "." + name }
	if !v.OneOf(key("says"), p.Says, statements...) {
		return false
	}
	given := map[string]bool{"at": len(p.At) > 0, "share": p.Share != 0, "by": p.By != 0, "ends": p.Ends,
		"most": p.Most, "except": len(p.Except) > 0, "claimed": p.Claimed != 0, "unit": p.Unit != "",
		"before": p.Before}
	ok := true
	for _, name := range []string{"at", "share", "by", "ends", "most", "except", "claimed", "unit", "before"} {
		ok = v.CheckAs(!given[name] || slices.Contains(keysOf[name], p.Says), key(name), "belongs to "+
			listed(keysOf[name])+" alone", "belongs to %s, not to %s", listed(keysOf[name]), p.Says) && ok
	}
	most := map[string]int{"widens": 2}[p.Says]
	least := max(1, most)
	if slices.Contains([]string{"above", "below", "ordered", "near", "gains"}, p.Says) {
		least = 2
	}
	ok = v.CheckAs(len(p.Lines) >= least && (most == 0 || len(p.Lines) == most), key("lines"),
		"must name as many lines as the statement is about", "%s", wantLines(least, most)) && ok
	ok = v.Check(p.Says != "gains" || len(p.Lines)%2 == 0, key("lines"),
		"must be pairs, the upper one first, got %d lines", len(p.Lines)) && ok
	ok = v.Check(len(p.Grids) == 0 || len(p.Grids) == len(p.Lines), key("grids"),
		"must name one for each line, got %d for %d", len(p.Grids), len(p.Lines)) && ok
	ok = v.Check(p.Says != "peaks" && p.Says != "dips" || len(p.At) == 1, key("at"),
		"must be one value: where the peak is") && ok
	needs := slices.Contains(keysOf["share"], p.Says)
	ok = v.Check(!needs || p.Share > 0 && p.Share < 1, key("share"), "must lie in (0,1), got %v", p.Share) && ok
	ok = v.Check(p.Says != "near" || p.By > 0 && p.By < 1, key("by"), "must lie in (0,1), got %v", p.By) && ok
	ok = v.Limited(config.Limit{Lo: -1, Hi: math.NaN(), OpenLo: true}, p.By > -1, key("by"), "must be above -1, got %v",
		p.By) && ok
	ok = v.Limited(config.Limit{Lo: 0, Hi: 1, OpenHi: true}, p.P >= 0 && p.P < 1, key("p"), "must lie in [0,1), got %v",
		p.P) && ok
	ok = v.Limited(config.RangeLimit(0, math.NaN()), p.Claimed >= 0, key("claimed"), "must not be negative, got %v",
		p.Claimed) && ok
	ok = v.Check(p.Says != "epsilon" || p.Unit != "", key("unit"), "must name a unit of privacy, as in edge") && ok
	return ok
}

// checkLines reports lines, data, metrics and values that the grids do not have.
func (p *Part) checkLines(v *config.Checker, key func(string) string, c *Claim, grids []*Grid) {
	ok := true
	for k := range p.Lines {
		g := p.grid(k, c, grids)
		if g == nil {
			v.Check(false, key(fmt.Sprintf("grids.%d", k)), "%q is not a grid of the paper; there are %s", p.Grids[k],
				strings.Join(names(grids), ", "))
			return
		}
		if p.Lines[k] != Floor {
			known := slices.ContainsFunc(g.Lines, func(l *Line) bool { return l.Name == p.Lines[k] })
			ok = v.Check(known, key(fmt.Sprintf("lines.%d", k)), "%q is not a row of the grid", p.Lines[k]) && ok
		}
		if p.Says != "epsilon" {
			ok = v.Check(p.Metric == "" ||
				slices.ContainsFunc(g.Metrics, func(m Name) bool { return m.Name == p.Metric }), key("metric"),
				"%q is not among the grid's metrics", p.Metric) && ok
		}
	}
	g := p.grid(0, c, grids)
	has := func(name string) bool {
		return slices.ContainsFunc(g.Data, func(d Name) bool { return d.Name == name })
	}
	for k, name := range p.Data {
		ok = v.Check(has(name), key(fmt.Sprintf("data.%d", k)), "%q is not among the grid's data", name) && ok
	}
	for k, e := range p.Except {
		ok = v.Check(has(e.Data), key(fmt.Sprintf("except.%d.data", k)), "%q is not among the grid's data", e.Data) &&
			ok
	}
	if !ok || p.Says == "epsilon" {
		return
	}
	stated := p.statements(c, grids)
	v.Check(len(stated) > 0, key("lines"), "no data set has all of them")
	for _, s := range stated {
		v.Check(s.why == nil, key("lines"), "on %s: %v", s.printed, s.why)
	}
}

func wantLines(least, most int) string {
	switch {
	case most == 2:
		return "must name two lines, the upper one first"
	case least == 2:
		return "must name two lines or more, the upper one first"
	}
	return "must name at least one line"
}
