package matrix

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// lay lays out the document and the heat map of a matrix.
func (m *Matrix) lay(out *Made, o roster.Options) {
	size := map[string]grid.Size{"smoke": m.Sizes.Smoke, "quick": m.Sizes.Quick, "full": m.Sizes.Full}[o.Size]
	d := &report.Document{Title: m.Title, Subtitle: fmt.Sprintf("size %s: %s", o.Size, size.About),
		Conclusion: m.conclusion(out), Level: worst(out.Cells)}
	if len(o.Sets) > 0 {
		d.Notes = append(d.Notes, "changed in every run: "+strings.Join(o.Sets, ", "))
	}
	d.Notes = append(d.Notes, run.Remade)
	d.Facts = m.facts(out)
	out.heat = m.heat(out)
	d.Heats = []report.Heat{out.heat}
	d.Tables = append(d.Tables, m.table(out), m.attacks(out))
	for k := range m.Attacks {
		d.Tables = append(d.Tables, m.details(out, k))
	}
	d.Notes = append(d.Notes, Meaning)
	if len(size.Seeds) > 1 {
		d.Notes = append(d.Notes,
			fmt.Sprintf("gains are means over %d seeds; an interval goes from the lowest to the highest end of the "+
				"intervals of the seeds", len(size.Seeds)))
	}
	if len(m.HoldOut) > 0 {
		d.Notes = append(d.Notes, "kept from every model that it can be kept from, to be asked about: "+
			strings.Join(m.HoldOut, ", "))
	}
	for i := range m.Rows {
		if r := &m.Rows[i]; r.About != "" {
			d.Notes = append(d.Notes, r.label()+": "+r.About)
		}
		for _, x := range m.Rows[i].Attack {
			d.Notes = append(d.Notes, fmt.Sprintf("%s: attack %s with %s", m.Rows[i].label(), x.Name,
				strings.Join(x.Set, ", ")))
		}
	}
	d.Notes = append(d.Notes, m.Notes...)
	out.Document = d
}

// worst returns the weakest level of evidence of any cell.
func worst(cells [][]Cell) (level dataset.Level) {
	for _, row := range cells {
		for _, c := range row {
			if c.Level != "" {
				level = max(level, dataset.Level(c.Level[0]))
			}
		}
	}
	return level
}

// count counts cells by their words; "" counts those without a number.
func count(cells [][]Cell) map[string]int {
	n := map[string]int{}
	for _, row := range cells {
		for _, c := range row {
			n[c.Verdict]++
		}
	}
	return n
}

// conclusion says in a sentence what comes out.
func (m *Matrix) conclusion(out *Made) string {
	n := count(out.Cells)
	return fmt.Sprintf("of %d attacks %d find more than the best floor, %d find nothing beyond it where they do "+
		"without the defence, %d find nothing beyond it, and %d less than it",
		n[Leaks]+n[NotTold]+n[Protected]+n[BelowIt], n[Leaks], n[Protected], n[NotTold], n[BelowIt])
}

// facts counts what the matrix holds.
func (m *Matrix) facts(out *Made) []report.Fact {
	names := func(f func(Row) string) (list []string) {
		for _, r := range m.Rows {
			if x := f(r); x != None && !slices.Contains(list, x) {
				list = append(list, x)
			}
		}
		return list
	}
	models, defences := names(func(r Row) string { return r.Model }), names(func(r Row) string { return r.Defence })
	var attacks []string
	for _, a := range m.Attacks {
		attacks = append(attacks, a.Heading)
	}
	n := count(out.Cells)
	return []report.Fact{
		{Label: "models", Value: fmt.Sprint(len(models)), Note: strings.Join(models, "; ")},
		{Label: "defences", Value: fmt.Sprint(len(defences)), Note: cmp.Or(strings.Join(defences, "; "), None)},
		{Label: "attacks", Value: fmt.Sprint(len(attacks)), Note: strings.Join(attacks, ", ")},
		{Label: "cells with a number", Value: fmt.Sprint(n[Leaks] + n[NotTold] + n[Protected] + n[BelowIt]),
			Note: fmt.Sprintf("%d leak, %d protected, %d not told from the floor, %d below it; %d without a number "+
				"say why", n[Leaks], n[Protected], n[NotTold], n[BelowIt], n[""])},
	}
}

// heat draws the cells.
func (m *Matrix) heat(out *Made) report.Heat {
	h := report.Heat{Title: m.Title + ": gain of attacks over their best floor, points", Head: "model (defence)",
		Beside: "accounted epsilon", File: out.Name,
		Above: "leaks: share of what is left above the floor", Below: "below the floor",
		Pale: "not told from the floor, or protected",
		Caption: "In a cell the gain over the best floor that sees no model, in points of the metric of its column, " +
			"and its 95 % interval. The colour is the share of what an attack could find at most beyond that floor."}
	if m.Utility != "" {
		h.Beside += "; " + m.Utility
	}
	for _, a := range m.Attacks {
		h.Columns = append(h.Columns, a.Heading+": "+a.Metric)
	}
	for i := range out.Models {
		row := report.HeatRow{Label: m.Rows[i].label(), Beside: out.Models[i].beside()}
		if m.Rows[i].Defence == None {
			row.Label = m.Rows[i].Model
		}
		for k := range out.Cells[i] {
			c := &out.Cells[i][k]
			if c.Gain == nil {
				row.Cells = append(row.Cells, report.HeatCell{Text: c.Why, Empty: true})
				continue
			}
			row.Cells = append(row.Cells, report.HeatCell{Text: signed(*c.Gain) + " " + short[c.Verdict],
				Under: c.interval(), Shade: c.shade()})
		}
		h.Rows = append(h.Rows, row)
	}
	h.Files = []report.Link{{Text: "SVG", To: out.Name + ".svg"}, {Text: "PNG", To: out.Name + ".png"},
		{Text: "CSV", To: out.Name + ".csv"}, {Text: "JSON", To: out.Name + ".json"}}
	return h
}

// short has the words of the heat map.
var short = map[string]string{Leaks: Leaks, NotTold: "not told", Protected: Protected, BelowIt: "below"}

// interval writes the interval of the gain.
func (c *Cell) interval() string { return signed(*c.Low) + " to " + signed(*c.High) }

// text writes a cell of the table.
func (c *Cell) text() string {
	if c.Gain == nil {
		return "- (" + c.Why + ")"
	}
	return fmt.Sprintf("%s (%s) %s", signed(*c.Gain), c.interval(), c.Verdict)
}

// table shows all cells.
func (m *Matrix) table(out *Made) *report.Table {
	t := &report.Table{Name: "matrix", Title: "Gain over the best floor, points, with its 95 % interval",
		Columns: report.Columns("", "model", "defence", "accounted epsilon")}
	if m.Utility != "" {
		t.Columns = append(t.Columns, report.Column{Name: m.Utility + ", percent, and its highest floor"})
	}
	for _, a := range m.Attacks {
		t.Columns = append(t.Columns, report.Column{Name: a.Heading + ": " + a.Metric})
	}
	for i := range out.Models {
		x := &out.Models[i]
		cells := []any{x.Model, x.Defence, x.epsilon()}
		if m.Utility != "" {
			text := "-"
			if x.Utility != nil {
				text = fmt.Sprintf("%s (%s)", points(*x.Utility), points(*x.Floor))
			}
			cells = append(cells, text)
		}
		for k := range out.Cells[i] {
			cells = append(cells, out.Cells[i][k].text())
		}
		t.Add(cells...)
	}
	return t
}

// attacks says of each column what the attacker sees and may do.
func (m *Matrix) attacks(out *Made) *report.Table {
	t := &report.Table{Name: "attacks", Title: "The attacks",
		Columns: report.Columns("", "attack", "what it wants, and sees", "which attack", "metric", "sees",
			"guess budget", "asked about")}
	for k, a := range m.Attacks {
		var sees, budget, asked []string
		ways := []string{a.Row}
		add := func(list []string, x string) []string {
			if x == "" || slices.Contains(list, x) {
				return list
			}
			return append(list, x)
		}
		for i := range out.Cells {
			c := &out.Cells[i][k]
			sees, budget, asked = add(sees, c.Sees), add(budget, c.Budget), add(asked, c.About)
			if c.Row != a.Row {
				ways = add(ways, c.Row+" of models of sequences")
			}
		}
		if len(asked) > 2 {
			asked = append(asked[:1], "other numbers in other rows")
		}
		t.Add(a.Heading, a.About, strings.Join(ways, "; "), a.Metric, strings.Join(sees, "; "),
			strings.Join(budget, "; "), strings.Join(asked, "; "))
	}
	return t
}

// details shows the cells of one attack, beside their floors.
func (m *Matrix) details(out *Made, k int) *report.Table {
	a := &m.Attacks[k]
	t := &report.Table{Name: a.Name, Title: strings.ToUpper(a.Heading[:1]) + a.Heading[1:] + ": " + a.Metric +
		", percent",
		Columns: []report.Column{{Name: "model"}, {Name: "defence"}, {Name: "attack", Format: "%.1f"},
			{Name: "best floor"}, {Name: "floor", Format: "%.1f"}, {Name: "gain", Format: "%+.1f"},
			{Name: "95 % interval"}, {Name: "says"}, {Name: "level"}}}
	for i := range out.Cells {
		c := &out.Cells[i][k]
		if c.Gain == nil {
			t.Add(c.Model, c.Defence, nil, "-", nil, nil, "-", c.Why, "-")
			continue
		}
		t.Add(c.Model, c.Defence, 100**c.Value, c.Over, 100**c.Floor, 100**c.Gain, c.interval(), c.Verdict, c.Level)
	}
	return t
}
