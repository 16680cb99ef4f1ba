package epsilons

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// Answer holds a list of rows to show.
type Answer struct {
	Rows []Row
	// Run says that the rows belong to a run or a configuration, and not to papers' lists.
	Run bool
	// Markdown makes Text write Markdown.
	Markdown bool
}

// MarshalJSON writes the rows with every digit.
func (a *Answer) MarshalJSON() ([]byte, error) {
	return json.Marshal(answerForm{a.Rows})
}

// answerForm is an answer in JSON.
type answerForm struct {
	Rows []Row `json:"rows"`
}

// JSONForms returns the types that MarshalJSON writes.
func (*Answer) JSONForms() []any { return []any{answerForm{}} }

// Text shows the rows, a table for each paper or run.
func (a *Answer) Text(w io.Writer) error {
	if a.Markdown {
		return a.Document().Markdown(w)
	}
	return a.Document().Text(w)
}

// Document returns the rows as a report.
func (a *Answer) Document() *report.Document {
	d := &report.Document{Title: "Epsilon: claimed, and what the releases come to", Notes: slices.Clone(legend)}
	if a.Run {
		d.Notes = []string{legendOfRun}
	} else {
		d.Subtitle = a.summary()
	}
	for _, p := range a.papers() {
		var rows []Row
		for _, r := range a.Rows {
			if r.Paper == p {
				rows = append(rows, r)
			}
		}
		if a.Run {
			d.Tables = append(d.Tables, tableOfRun(p, rows))
			continue
		}
		d.Tables = append(d.Tables, Table(p, rows))
	}
	return d
}

// summary returns a line that counts the settings whose epsilon is above their claim.
func (a *Answer) summary() string {
	claims, more, open := 0, 0, 0
	for _, r := range a.Rows {
		if r.Claimed == nil || r.Released == nil {
			continue
		}
		claims++
		if whole := float64(r.Released.Whole); math.IsInf(whole, 1) {
			open++
		} else if whole > float64(*r.Claimed) {
			more++
		}
	}
	return fmt.Sprintf("%d settings; of %d that claim an epsilon, %d come to more as released, and %d to none, since "+
		"noise does not cover all that is released",
		len(a.Rows), claims, more, open)
}

// papers lists the papers of the rows, in their order.
func (a *Answer) papers() (names []string) {
	for _, r := range a.Rows {
		if !slices.Contains(names, r.Paper) {
			names = append(names, r.Paper)
		}
	}
	return names
}

// legend explains the columns.
var legend = []string{
	"as written: the noise that the paper describes, with every release that the unit is in, by the paper's own " +
		"formula where it has one; exact: the same noise and releases without that formula, with a certified bracket",
	"as released: the same for the authors' program; as repaired: with other noise or another mechanism, which the " +
		"cell names; -: there is none",
	"all of these are of what noise covers; where something is unprotected the epsilon of the whole run is infinite",
}

// legendOfRun explains the columns of a run's table.
const legendOfRun = "accounted: the exact epsilon of what noise covers, with a certified bracket where the ledger " +
	"has one; whole run: with what is unprotected; -: there is none"

// tableOfRun returns the table of a run, one line for each kind of neighbour.
func tableOfRun(name string, rows []Row) *report.Table {
	t := &report.Table{Name: "run", Title: name, Columns: []report.Column{{Name: "neighbours"},
		{Name: "delta", Format: "%g"}, {Name: "claimed"},
		{Name: "accounted"}, {Name: "bracket"}, {Name: "whole run"}, {Name: "unprotected"}}}
	why := reasons{to: t, said: map[string]bool{}}
	for _, r := range rows {
		claimed, exact, bracket, x := any("-"), any("-"), any("-"), r.Written
		if r.Claimed != nil {
			claimed = float64(*r.Claimed)
		}
		if x.Exact != nil {
			exact = float64(*x.Exact)
		}
		if x.Upper != nil {
			bracket = x.bracket()
		}
		t.Add(r.Setting, r.Delta, claimed, exact, bracket, float64(x.Whole), things(why.of(x)))
	}
	return t
}

// reasons collects, each once, the reasons why things are open, to show below a table.
type reasons struct {
	to   *report.Table
	said map[string]bool
}

// of returns the names of what readings leave open.
func (w reasons) of(readings ...*Reading) (names []string) {
	for _, x := range readings {
		if x == nil {
			continue
		}
		for _, o := range x.Open {
			if !slices.Contains(names, o.What) {
				names = append(names, o.What)
			}
			if text := "unprotected, " + experiment.Thing(o.What) + ": " + o.Why; !w.said[text] {
				w.said[text] = true
				w.to.Notes = append(w.to.Notes, text)
			}
		}
	}
	return names
}

// Table returns the table of a paper, one line for each setting. Below it stands what is unprotected, and why.
func Table(paper string, rows []Row) *report.Table {
	t := &report.Table{Name: paper, Title: paper, Columns: []report.Column{{Name: "setting"}, {Name: "unit"},
		{Name: "delta", Format: "%g"}, {Name: "claimed"},
		{Name: "as written"}, {Name: "exact"}, {Name: "bracket"}, {Name: "as released"}, {Name: "as repaired"},
		{Name: "whole run"}, {Name: "unprotected"}}}
	why := reasons{to: t, said: map[string]bool{}}
	for _, r := range rows {
		var claimed any = "-"
		if r.Claimed != nil {
			claimed = float64(*r.Claimed)
		}
		exact, bracket, whole := any("-"), any("-"), any("-")
		if x := r.first(); x != nil {
			whole = float64(x.Whole)
			if x.Exact != nil && x.Upper != nil {
				exact, bracket = float64(*x.Exact), x.bracket()
			}
		}
		t.Add(r.Setting, fmt.Sprintf("%s, %s", r.Unit, r.Neighbouring), r.Delta, claimed, shown(r.Written), exact,
			bracket, shown(r.Released), repaired(r.Repaired), whole, things(why.of(r.Written, r.Released)))
	}
	return t
}

// first returns the first reading that a row has.
func (r Row) first() *Reading {
	for _, x := range []*Reading{r.Written, r.Released, r.Repaired} {
		if x != nil {
			return x
		}
	}
	return nil
}

// things returns words for what is open.
func things(names []string) string {
	words := make([]string, len(names))
	for i, n := range names {
		words[i] = experiment.Thing(n)
	}
	return strings.Join(words, "; ")
}

// shown returns a reading as the value of a cell.
func shown(r *Reading) any {
	if r == nil {
		return "-"
	}
	return float64(r.Shown())
}

// repaired returns a repaired reading as the value of a cell, with the noise that it needs.
func repaired(r *Reading) any {
	if r == nil {
		return "-"
	}
	text := fmt.Sprintf("%.4g", float64(r.Shown()))
	if math.IsInf(float64(r.Shown()), 1) {
		text = "infinity"
	}
	if r.Noise == "" {
		return text
	}
	first, _, _ := strings.Cut(r.Noise, ", ")
	return text + " (" + first + ")"
}

// bracket returns what is proved about the exact epsilon as text.
func (r *Reading) bracket() string {
	if r.Lower == nil {
		return fmt.Sprintf("at most %.4g", float64(*r.Upper))
	}
	return span(*r.Lower, *r.Upper)
}

// span returns a bracket as text, with as many digits as distinguish its ends, at least four.
func span(lo, hi privacy.Number) string {
	for digits := 4; digits < 9; digits++ {
		a, b := fmt.Sprintf("%.*g", digits, float64(lo)), fmt.Sprintf("%.*g", digits, float64(hi))
		if a != b || lo == hi {
			return "[" + a + ", " + b + "]"
		}
	}
	return fmt.Sprintf("[%.9g, %.9g]", float64(lo), float64(hi))
}
