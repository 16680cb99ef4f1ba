package lint

import (
	"slices"

	"privrec/internal/printed"
)

// Rule is one kind of check.
type Rule struct {
	ID    string `json:"id"`
	About string `json:"about"` // what it compares

	find func(p *paper, all []*paper) []Finding
}

// Rules returns all rules, in the order in which their findings are shown.
func Rules() []Rule {
	return []Rule{
		{"conflict", "one setting is printed in two places with the same numbers", conflicts},
		{"copied", "a row that should have been measured does not equal a row of an earlier publication", copied},
		{"repeated", "no two rows of a table are equal", repeated},
		{"same-input", "results of a method that saw the same data agree up to their spread", sameInput},
		{"gain", "improvements in percent follow from the numbers that they compare", gains},
		{"sentence", "a number in a sentence agrees with the table that it is about", sentences},
		{"p-value", "a stated p-value can be reached with the stated number of runs", significance},
		{"mixed-columns", "users times mean length gives the interactions", mixedColumns},
		{"density", "interactions by users times items give the density", density},
		{"counts", "one data set with the same users and items has the same interactions everywhere", counts},
		{"range", "a share lies between 0 and 1, a percentage between 0 and 100, a count is a whole number", ranges},
		{"misprint", "a number is printed in full", misprints},
		{"order", "recall, hit rate and reciprocal rank do not fall with a longer list", order},
		{"bounds", "metrics of one list keep to the order that their definitions force on them", bounds},
		{"one-item", "metrics of lists with one relevant item rise together as its position allows", oneItem},
		{"best-mark", "a row marked as the best is the best of its column", bestMark},
		{grimID, "a mean of zeros and ones over n cases and s runs is a share of n times s", grim},
		{oneRunID, "means over several runs are finer than shares of the cases of one", oneRun},
		{twinID, "a private method is not better than the same without noise by more than chance", twins},
	}
}

// Check runs all rules on some files. Rules that compare papers see the others too.
func Check(files, others []*printed.File) Report {
	var all, mine []*paper
	for _, f := range files {
		p := newPaper(f)
		all, mine = append(all, p), append(mine, p)
	}
	for _, f := range others {
		all = append(all, newPaper(f))
	}
	r := Report{Rules: Rules(), Findings: []Finding{}}
	for _, p := range mine {
		c := Checked{Paper: p.file.Paper, File: p.file.Name()}
		for _, t := range p.tables {
			for _, row := range t.rows {
				c.Numbers += len(row.values)
			}
		}
		for _, rule := range r.Rules {
			found := rule.find(p, all)
			for i := range found {
				found[i].Rule, found[i].Paper, found[i].File = rule.ID, p.file.Paper, p.file.Name()
			}
			c.Findings += len(found)
			r.Findings = append(r.Findings, found...)
		}
		c.Decided = decided(p)
		r.Checked = append(r.Checked, c)
	}
	return r
}

// paper is a file, table by table and row by row.
type paper struct {
	file   *printed.File
	tables []*table
}

type table struct {
	*printed.Block
	year int
	rows []*row
}

// row is a row of a table, or an improvement, with its numbers; dashes are left out.
type row struct {
	*printed.Row
	data, taken, method, place string
	improvement                bool
	line                       int
	values                     []printed.Value
}

func newPaper(f *printed.File) *paper {
	p := &paper{file: f}
	at := map[string]*table{}
	for i := range f.Blocks {
		b := &f.Blocks[i]
		t := &table{Block: b, year: b.Year}
		if t.year == 0 {
			t.year = f.Year
		}
		p.tables = append(p.tables, t)
		at[b.Name()] = t
	}
	for _, v := range f.Values() {
		t := at[v.Block]
		source := t.Rows
		if v.Improvement {
			source = t.Improvements
		}
		if v.At == 0 {
			t.rows = append(t.rows, &row{
				Row: &source[v.Row], data: v.Data, taken: v.Taken, method: v.Method, place: v.RowPlace(),
				improvement: v.Improvement, line: v.Line,
			})
		}
		if r := t.rows[len(t.rows)-1]; v.Number.Value != nil {
			r.values = append(r.values, v)
		}
	}
	return p
}

// index returns the place of a table among the blocks of the file.
func (p *paper) index(t *table) int { return slices.Index(p.tables, t) }

// table returns the table of a number.
func (p *paper) table(n int) *table {
	i := slices.IndexFunc(p.tables, func(t *table) bool { return t.Table == n && n > 0 })
	if i < 0 {
		return nil
	}
	return p.tables[i]
}

// is returns the number of a row whose metric is called so, as "Recall@20" or "users".
func (r *row) is(metric string) *printed.Value {
	for i := range r.values {
		if r.values[i].Metric.Is == metric {
			return &r.values[i]
		}
	}
	return nil
}

// in returns the number of a row in a column.
func (r *row) in(column string) *printed.Value {
	for i := range r.values {
		if r.values[i].Column == column {
			return &r.values[i]
		}
	}
	return nil
}
