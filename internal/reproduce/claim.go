package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/config"
)

// Claim is a sentence of a paper that the results of a grid can be held against.
type Claim struct {
	ID    string `yaml:"id"`
	Text  string `yaml:"text"`
	Parts []Part `yaml:"parts"` // all must hold
}

// Part is one statement about lines, on every data set of the grid that has them.
type Part struct {
	// Says is what the part states:
	//
	//	rises   every line is higher at the end of its axis than at its beginning, and falls nowhere
	//	falls   the same downwards
	//	above   the first line is above the second, at every value that both have
	//	widens  the first line gains on the second between the ends of the axis
	//	peaks   every line is highest at the value At
	//	keeps   from the beginning to the end of the axis, or to the values At, every line loses at
	//	        most Share of what it was
	//	loses   it loses at least that
	Says   string      `yaml:"says"`
	Lines  []string    `yaml:"lines"`  // methods with their variants
	Metric string      `yaml:"metric"` // as the grid names it; empty: its first
	Data   []string    `yaml:"data"`   // empty: all
	At     []float64   `yaml:"at"`
	Share  float64     `yaml:"share"`
	Except []Exception `yaml:"except"` // of above
}

// Exception leaves a value of a data set out of a part.
type Exception struct {
	Data string  `yaml:"data"`
	At   float64 `yaml:"at"`
}

// statements lists what a part may say.
var statements = []string{"rises", "falls", "above", "widens", "peaks", "keeps", "loses"}

// checkClaim reports what is wrong with a claim.
func (g *Grid) checkClaim(v *config.Checker, i int) {
	c, at := &g.Claims[i], fmt.Sprintf("claims.%d", i)
	v.NotEmpty(at+".id", c.ID)
	v.NotEmpty(at+".text", c.Text)
	v.Check(len(c.Parts) > 0, at+".parts", "must name at least one")
	for j, p := range c.Parts {
		key := func(name string) string { return fmt.Sprintf("%s.parts.%d.%s", at, j, name) }
		if !v.OneOf(key("says"), p.Says, statements...) {
			continue
		}
		two := p.Says == "above" || p.Says == "widens"
		v.Check(len(p.Lines) > 0 && (!two || len(p.Lines) == 2), key("lines"), "%s", wantLines(two))
		for k, name := range p.Lines {
			known := slices.ContainsFunc(g.Rows, func(r Row) bool { return r.Label() == name })
			v.Check(known, fmt.Sprintf("%s.%d", key("lines"), k), "%q is not a row of the grid", name)
		}
		for k, name := range p.Data {
			known := slices.ContainsFunc(g.Data, func(d Data) bool { return d.Name == name })
			v.Check(known, fmt.Sprintf("%s.%d", key("data"), k), "%q is not among the grid's data", name)
		}
		for k, e := range p.Except {
			known := slices.ContainsFunc(g.Data, func(d Data) bool { return d.Name == e.Data })
			v.Check(known, fmt.Sprintf("%s.%d.data", key("except"), k), "%q is not among the grid's data", e.Data)
		}
		v.Check(len(p.Except) == 0 || p.Says == "above", key("except"), "belongs to above, not to %s", p.Says)
		v.Check(p.Says != "peaks" || len(p.At) == 1, key("at"), "must be one value: where the peak is")
		v.Check(len(p.At) == 0 || slices.Contains([]string{"peaks", "keeps", "loses"}, p.Says), key("at"), "belongs to peaks, keeps and loses, not to %s", p.Says)
		needs := p.Says == "keeps" || p.Says == "loses"
		v.Check(!needs || p.Share > 0 && p.Share < 1, key("share"), "must lie in (0,1), got %v", p.Share)
		v.Check(needs || p.Share == 0, key("share"), "belongs to keeps and loses, not to %s", p.Says)
		v.Check(p.Metric == "" || slices.ContainsFunc(g.Metrics, func(m Metric) bool { return m.Name == p.Metric }), key("metric"), "%q is not among the grid's metrics", p.Metric)
	}
}

func wantLines(two bool) string {
	if two {
		return "must name two lines, the upper one first"
	}
	return "must name at least one line"
}

// words writes what a part states.
func (p Part) words(metric string) string {
	list := strings.Join(p.Lines, ", ")
	switch p.Says {
	case "above":
		text := p.Lines[0] + " above " + p.Lines[1]
		for i, e := range p.Except {
			text += map[bool]string{true: ", except at ", false: " and "}[i == 0] + fmt.Sprintf("%v on %s", e.At, e.Data)
		}
		return text + " (" + metric + ")"
	case "widens":
		return p.Lines[0] + " gains on " + p.Lines[1] + " (" + metric + ")"
	case "peaks":
		return fmt.Sprintf("%s highest at %v (%s)", list, p.At[0], metric)
	case "keeps", "loses":
		where := "the last value"
		if len(p.At) > 0 {
			where = strings.ReplaceAll(strings.Trim(fmt.Sprint(p.At), "[]"), " ", " and ")
		}
		if p.Says == "keeps" {
			return fmt.Sprintf("%s keeps at least %.4g %% of its first value at %s (%s)", list, 100*(1-p.Share), where, metric)
		}
		return fmt.Sprintf("%s loses at least %.4g %% of its first value at %s (%s)", list, 100*p.Share, where, metric)
	}
	return list + " " + p.Says + " (" + metric + ")"
}
