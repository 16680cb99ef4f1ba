package reproduce

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/report"
)

// CauseCodes lists the codes of the causes of a difference.
func CauseCodes() []string {
	return []string{"data", "split", "metric definition", "unstated setting", "program differs from text",
		"chosen on test", "copied row", "mechanism as specified", "budget of epochs", "other"}
}

// NoCause stands in place of a cause's sentence where a number differs and no cause is known. No
// cause is made up.
const NoCause = "no cause known"

// CauseFile is a file of causes, for the tables and figures of one paper.
type CauseFile struct {
	Paper  string   `yaml:"paper" limit:"filled"`
	Causes []*Cause `yaml:"causes"`
}

// Cause says why printed numbers differ from ours. Grid, Data, Method, Setting and Metric say which;
// a "*" in them stands for any text, and an empty list for everything. The first entry of a file
// that fits a number counts.
type Cause struct {
	Grid    string   `yaml:"grid" limit:"filled"`
	Data    []string `yaml:"data"` // as registered
	Method  []string `yaml:"method"`
	Setting []string `yaml:"setting"`
	Metric  []string `yaml:"metric"`
	// Ours is above or below: the entry is for numbers of ours that are so, compared with the
	// printed ones. Empty: both.
	Ours string `yaml:"ours" limit:"|above|below"`
	Code string `yaml:"code"`
	Says string `yaml:"says" limit:"filled"` // a sentence
	// Never says that the printed number cannot be reproduced, whatever is run; the sentence says
	// why.
	Never bool   `yaml:"not_reproducible"`
	Shown *Shown `yaml:"shown_by"` // nil: no configuration switches the cause on and off
}

// Shown names the result that shows a cause, on the same data: a row of the same grid without the
// cause or with it, or another evaluation of the same runs.
type Shown struct {
	Method     string `yaml:"method"`
	Setting    string `yaml:"setting"`
	Evaluation string `yaml:"evaluation"` // the end of its name; then no method
}

// Explain gives grids the causes of their papers from a tree: the files of the folder "causes" named
// after papers. It fails on a file that is not right.
func Explain(tree fs.FS, grids ...*Grid) error { return explain(tree, grids, false) }

// explain is Explain. With whole, where the grids are all there are, it also fails on an entry that
// fits none of their numbers, and on a file of a paper that has no grid.
func explain(tree fs.FS, grids []*Grid, whole bool) error {
	names, err := fs.Glob(tree, "causes/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return fmt.Errorf("causes: %w", err)
		}
		f, doc, err := config.Parse(builtIn+name, text, nil, CauseFile{})
		if err != nil {
			return err
		}
		of := slices.DeleteFunc(slices.Clone(grids), func(g *Grid) bool { return g.Paper != f.Paper })
		if err := f.check(doc, of, whole); err != nil {
			return err
		}
		for _, g := range of {
			g.causes = f.Causes
		}
	}
	return nil
}

// check reports every problem of a file by its line.
func (f *CauseFile) check(doc *config.Document, grids []*Grid, whole bool) error {
	v := config.NewChecker(doc)
	v.Declared(f)
	v.Check(!whole || len(grids) > 0, "paper", "no table or figure of a paper called %q", f.Paper)
	for i, c := range f.Causes {
		at := fmt.Sprintf("causes.%d", i)
		v.OneOf(at+".code", c.Code, CauseCodes()...)
		if s := c.Shown; s != nil {
			v.Check((s.Evaluation == "") != (s.Method == ""), at+".shown_by",
				"must name either a method or an evaluation")
			v.Check(s.Setting == "" || s.Method != "", at+".shown_by.setting", "must not be there without a method")
		}
		if !whole {
			continue
		}
		fits, shown := false, c.Shown == nil || c.Shown.Method == ""
		for _, g := range grids {
			for k := range g.Rows {
				r := &g.Rows[k]
				for j := range g.Metrics {
					fits = fits || r.printed(j) != nil && c.fits(g.Name, r, g.Metrics[j].Name)
				}
				if glob(c.Grid, g.Name) && c.Shown != nil && r.Method == c.Shown.Method &&
					r.Variant == c.Shown.Setting {
					shown = true
				}
			}
		}
		v.Check(fits, at, "fits no printed number of any table or figure of %s", f.Paper)
		v.Check(shown, at+".shown_by", "no such row in the grid")
	}
	return v.Err()
}

// fits reports whether the cause is about the number of a metric in a row of a grid.
func (c *Cause) fits(grid string, r *Row, metric string) bool {
	setting := r.Variant
	if r.point != nil {
		setting = r.point.setting
	}
	return glob(c.Grid, grid) && anyGlob(c.Data, r.Data) && anyGlob(c.Method, r.Method) &&
		anyGlob(c.Setting, setting) && anyGlob(c.Metric, metric)
}

// anyGlob reports whether a pattern of a list fits, or there are none.
func anyGlob(patterns []string, s string) bool {
	return len(patterns) == 0 || slices.ContainsFunc(patterns, func(p string) bool { return glob(p, s) })
}

// glob reports whether a pattern fits all of s. A "*" in it stands for any text.
func glob(pattern, s string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return s == head
	}
	if !strings.HasPrefix(s, head) {
		return false
	}
	for s = s[len(head):]; ; s = s[1:] {
		if glob(rest, s) {
			return true
		}
		if s == "" {
			return false
		}
	}
}

// explainCell enters the cause of a difference, and of a number that cannot be reproduced. A number
// of ours that agrees needs none, and generated data show nothing.
func (g *Grid) explainCell(c *Cell, s *summary, rows []*summary, metric int) error {
	if c.Printed == nil || c.StandIn || c.Status == Match || c.Status == WithinNoise {
		return nil
	}
	for _, e := range g.causes {
		if !e.fits(g.Name, s.entry.row, c.Metric) || c.Status == "" && !e.Never {
			continue
		}
		if c.Status == Differs && e.Ours != "" && (e.Ours == "above") != (*c.Ours > *c.Printed) {
			continue
		}
		c.Cause, c.Why = e.Code, e.Says
		if e.Never {
			c.Status = NotReproducible
		}
		if e.Shown == nil {
			return nil
		}
		var err error
		c.Evidence, err = g.shown(e.Shown, c, s, rows, metric)
		return err
	}
	if c.Status == Differs {
		c.Why = NoCause
	}
	return nil
}

// shown says which result shows a cause, and what it is beside ours and the printed number.
func (g *Grid) shown(by *Shown, c *Cell, s *summary, rows []*summary, metric int) (string, error) {
	name, mean, n := "", 0.0, 0
	if by.Evaluation != "" {
		name = by.Evaluation
		for _, r := range s.results {
			e, err := choose(r.evaluations, by.Evaluation)
			if err != nil {
				continue // the row's method has no such evaluation
			}
			if v, ok := e.Values[g.Metrics[metric].Measure.String()]; ok {
				mean, n = mean+g.scale()*v, n+1
			}
		}
		mean /= float64(max(n, 1))
	} else {
		at := slices.IndexFunc(rows, func(o *summary) bool {
			return o.entry.data == s.entry.data && o.entry.row.Method == by.Method && o.entry.row.Variant == by.Setting
		})
		if at < 0 {
			return "", nil // the grid has no such row on these data
		}
		o := rows[at]
		if name = o.entry.row.Label(); o == s {
			return "", errors.New("causes: " + name + " is shown by itself")
		}
		mean, n = o.columns[metric].mean, len(o.results)
	}
	if n == 0 {
		return name + ": not run", nil
	}
	ours := ""
	if c.Ours != nil {
		ours = inText(c.Unit, c.inPercent(c.Ours), "") + " here, "
	}
	return fmt.Sprintf("%s%s with %s (%s), %s printed", ours, inText(c.Unit, mean, ""), name, plural(n, "seed"),
		inText(c.Unit, c.inPercent(c.Printed), "")), nil
}

// causeTable makes the table of causes: a line for the numbers of a row that share one. It returns
// nil where no number needs a cause.
func (g *Grid) causeTable(rows []*summary) *report.Table {
	t := &report.Table{Name: "causes", Title: "Why numbers differ, as far as it is known",
		Columns: report.Columns("", "method", "data", "metrics", "status", "cause", "sentence", "shown by")}
	for _, s := range rows {
		var keys []string
		metrics, first, shown := map[string][]string{}, map[string]*Cell{}, map[string][]string{}
		for i := range s.cells {
			c := &s.cells[i]
			if c.Status != Differs && c.Status != NotReproducible {
				continue
			}
			k := c.Status + c.Cause + c.Why
			if keys = appendNew(keys, k); first[k] == nil {
				first[k] = c
			}
			metrics[k] = append(metrics[k], c.Heading)
			if c.Evidence != "" {
				shown[k] = append(shown[k], c.Heading+": "+c.Evidence)
			}
		}
		for _, k := range keys {
			c := first[k]
			t.Add(s.entry.row.Label(), s.entry.data.Printed, strings.Join(metrics[k], ", "), c.Status, c.Cause, c.Why,
				strings.Join(shown[k], "; "))
		}
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

// Standings counts printed numbers by their status.
type Standings struct {
	Printed         int            `json:"printed"` // with and without ours, each once
	Match           int            `json:"match"`
	WithinNoise     int            `json:"within_noise"`
	Differs         int            `json:"differs"`
	NoCause         int            `json:"differs_without_known_cause"`
	NotReproducible int            `json:"not_reproducible"`
	Silent          map[string]int `json:"nothing_said"` // by reason
}

// CountStatuses counts printed numbers by the status of their first cell: one that stands beside
// several results of ours counts once.
func CountStatuses(cells []Cell) Standings {
	out := Standings{Silent: map[string]int{}}
	for i := range cells {
		c := &cells[i]
		if c.Printed == nil || c.Again {
			continue
		}
		out.Printed++
		switch c.Status {
		case Match:
			out.Match++
		case WithinNoise:
			out.WithinNoise++
		case Differs:
			out.Differs++
			if c.Cause == "" {
				out.NoCause++
			}
		case NotReproducible:
			out.NotReproducible++
		default:
			reason, _, _ := strings.Cut(c.Why, ":")
			out.Silent[reason]++
		}
	}
	return out
}

// String writes the counts in a sentence.
func (n Standings) String() string {
	text := fmt.Sprintf("of %s, %d match, %d are within noise, %d differ", plural(n.Printed, "printed number"), n.Match,
		n.WithinNoise, n.Differs)
	if n.NoCause > 0 {
		text += fmt.Sprintf(" (%d without a known cause)", n.NoCause)
	}
	text += fmt.Sprintf(", %d cannot be reproduced", n.NotReproducible)
	var reasons []string
	for reason := range n.Silent {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	total := 0
	for i, r := range reasons {
		total += n.Silent[r]
		reasons[i] = fmt.Sprintf("%s %d", r, n.Silent[r])
	}
	if total > 0 {
		text += fmt.Sprintf("; nothing can be said of %d (%s)", total, strings.Join(reasons, ", "))
	}
	return text
}
