package claims

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/config"
)

// Paper is the claims of one paper, as a file holds them.
type Paper struct {
	Name   string   `yaml:"paper" limit:"filled"`
	About  []string `yaml:"notes"` // how the sentences were turned into tests
	Claims []Claim  `yaml:"claims"`
}

// Claim states a sentence of a paper, in our words, that results can support or contradict.
type Claim struct {
	ID    string `yaml:"id" limit:"filled"`
	Text  string `yaml:"text" limit:"filled"`
	Where string `yaml:"where"` // section, table or figure of the paper that states it
	// grid whose lines the parts compare; left out in the file of a grid, which means that grid
	Grid  string `yaml:"grid"`
	Parts []Part `yaml:"parts"` // statements that must all hold
	Lacks string `yaml:"lacks"` // why no grid can test the claim; it has no parts then
}

// Part makes one statement about lines, on every data set of the grid that has them.
type Part struct {
	// Says names the statement:
	//
	//	rises    every line is higher at the end of its axis than at its beginning, and falls nowhere
	//	falls    the same downwards
	//	above    the first line is above every other, at every value that both have; with By it is
	//	         more than that share above (below zero: it may be that share below)
	//	below    the first line is below every other; with By by more than that share of the other
	//	reaches  every line is above the share By
	//	ordered  every line is above the one after it
	//	near     the first line and every other differ by less than the share By of the other
	//	gains    the mean over data sets of the first line's relative gain over the second, of the
	//	         third's over the fourth and so on, is above By
	//	widens   the first line gains on the second between the ends of the axis
	//	peaks    every line is highest at the value At
	//	dips     every line is lowest there
	//	keeps    from the beginning to the end of the axis, or to the values At, every line loses at
	//	         most Share of what it was
	//	loses    it loses at least that
	//	epsilon  what the runs account for one Unit is at most the epsilon that is claimed
	Says string `yaml:"says"`
	// methods with their variants; floor stands for the highest floor of the first line
	Lines  []string  `yaml:"lines"`
	Grids  []string  `yaml:"grids"`  // grids that have the lines; empty: the claim's
	Axis   string    `yaml:"axis"`   // axis of the lines, needed where the grid has several
	Metric string    `yaml:"metric"` // metric, as the grid names it; empty: its first
	Data   []string  `yaml:"data"`   // data sets that the part is about; empty: all
	At     []float64 `yaml:"at"`
	Share  float64   `yaml:"share"`
	By     float64   `yaml:"by"`
	Ends   bool      `yaml:"ends"` // for says: rises or falls. Compare only the first value with the last
	// for says: above, below, ordered or near. More than half of the differences are enough
	Most   bool        `yaml:"most"`
	P      float64     `yaml:"p"`      // level of significance that the claim states for the differences; 0: 0.05
	Except []Exception `yaml:"except"` // values left out; for says: above or below
	// Claimed is the claimed epsilon; 0: the one that the runs state. unit is a unit of the account.
	Claimed float64 `yaml:"claimed"`
	Unit    string  `yaml:"unit"`
	// for says: epsilon. All noise is drawn before the training, so its length changes nothing
	Before bool `yaml:"before"`
}

// Exception leaves a value of a data set out of a part.
type Exception struct {
	Data string  `yaml:"data"`
	At   float64 `yaml:"at"`
}

// Floor names the highest floor of the first line's runs in a part.
const Floor = "floor"

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

// grid returns the grid of a line, or nil.
func (p *Part) grid(line int, c *Claim, grids []*Grid) *Grid {
	if len(p.Grids) > 0 {
		return find(grids, p.Grids[line])
	}
	return find(grids, c.Grid)
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

// listed writes words as in "a, b and c".
func listed(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

// About reports whether a line of a claim is of a grid.
func (c *Claim) About(grid string) bool {
	return len(c.Parts) > 0 && slices.ContainsFunc(c.Parts, func(p Part) bool {
		return len(p.Grids) == 0 && c.Grid == grid || slices.Contains(p.Grids, grid)
	})
}

// Of reports whether all lines of a claim are of one grid.
func (c *Claim) Of(grid string) bool {
	return c.Grid == grid && !slices.ContainsFunc(c.Parts, func(p Part) bool {
		return slices.ContainsFunc(p.Grids, func(g string) bool { return g != grid })
	})
}

// Lines lists the lines of a grid that the parts of a claim name, each once.
func (c *Claim) Lines(grid string) (out []string) {
	for _, p := range c.Parts {
		for k, name := range p.Lines {
			of := c.Grid
			if len(p.Grids) > 0 {
				of = p.Grids[k]
			}
			if of == grid && name != Floor && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}
