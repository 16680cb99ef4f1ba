package calculator

import (
	"fmt"
	"io"
	"math"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/report"
)

// Drawing holds the values of a curve that was drawn.
type Drawing struct {
	Title   string // names what stays the same along the curve
	Out     string // the file
	Over    string // the axis: delta, noise, steps or fpr
	Axis    string // the number on the axis
	X       []float64
	Methods []accountant.Method
	Results [][]accountant.Result // by method, then by value on the axis
	Rates   [][]float64           // the same, true positive rates; nil, except over fpr
	privacy.Subject
	Asked Asked
}

// Text shows the values to a person.
func (d *Drawing) Text(w io.Writer) error { return d.page().Text(w) }

// MarshalJSON writes the values with every digit.
func (d *Drawing) MarshalJSON() ([]byte, error) { return d.page().MarshalJSON() }

func (d *Drawing) page() *page {
	p := &page{title: d.Title}
	p.add("out", d.Out, "written", d.Out)
	p.add("over", d.Over, "", "")
	axis := strings.ReplaceAll(d.Axis, "-", " ")
	points := make([]map[string]any, len(d.X))
	p.table = &report.Table{Name: "curve", Columns: []report.Column{{Name: axis}}}
	for _, m := range d.Methods {
		p.table.Columns = append(p.table.Columns, report.Column{Name: string(m)})
	}
	fallback := false
	for j, x := range d.X {
		eps := map[string]float64{}
		row := []any{short(x)}
		for i, m := range d.Methods {
			if d.Rates != nil {
				eps[string(m)] = d.Rates[i][j]
				row = append(row, RoundUp(d.Rates[i][j], 6))
				continue
			}
			r := d.Results[i][j]
			eps[string(m)] = r.Epsilon
			row = append(row, RoundUp(r.Epsilon, 6))
			fallback = fallback || r.Method != string(m)
		}
		points[j] = map[string]any{strings.ReplaceAll(d.Axis, "-", "_"): x, d.value(): eps}
		p.table.Add(row...)
	}
	p.add("points", points, "", "")
	p.echo(d.Asked)
	p.add("neighbouring", d.Neighbouring, "", "")
	p.add("unit", d.Unit, "", "")
	p.statement = fmt.Sprintf("Epsilon for %s one %s against %s, the other numbers fixed.", change(d.Neighbouring),
		noun(d.Unit), axis)
	if d.Rates != nil {
		p.statement = fmt.Sprintf("The largest true positive rate of an attacker against the false positive rate, "+
			"for %s one %s: an upper bound from the whole privacy curve.", change(d.Neighbouring), noun(d.Unit))
	}
	if fallback {
		p.warn("at some points the accountant asked for does not apply; the best other bound is drawn there")
	}
	return p
}

// value returns the JSON key of the drawn quantity.
func (d *Drawing) value() string {
	if d.Rates != nil {
		return "true_positive_rate"
	}
	return "epsilon"
}

// figure returns the drawing of the values.
func (d *Drawing) figure() report.Figure {
	units := map[string]string{
		"delta": "delta (probability)", "steps": "steps (number of releases)",
		"sigma":            "sigma (standard deviation of the noise)",
		"noise-multiplier": "noise multiplier (standard deviation / clipping norm)",
		"scale":            "scale of the noise",
		"fpr":              "false positive rate (outsiders taken for members)",
	}
	f := report.Figure{Title: d.Title, X: units[d.Axis], Y: "epsilon (nats)", LogX: true}
	least, most := math.Inf(1), 0.0
	for i, m := range d.Methods {
		// dashed, since it may lie on the exact line
		l := report.Line{Name: lineNames[m], X: d.X, Dashed: m == accountant.PLD}
		if d.Rates != nil {
			l.Y = d.Rates[i]
		}
		for _, r := range d.Results[i] {
			l.Y = append(l.Y, r.Epsilon)
			least, most = math.Min(least, r.Epsilon), math.Max(most, r.Epsilon)
		}
		f.Lines = append(f.Lines, l)
	}
	if d.Rates != nil {
		f.Y = "true positive rate (members found), at most"
		f.Lines = append(f.Lines, report.Line{Name: "guessing", X: d.X, Y: d.X, Dashed: true})
		return f
	}
	// A linear axis hides the small end if the values span so much.
	f.LogY = least > 0 && most/least > 20
	return f
}

// lineNames holds the names of accountants in a legend.
var lineNames = map[accountant.Method]string{
	accountant.Analytic: "analytic", accountant.Contour: "exact", accountant.RDP: "RDP bound",
	accountant.PLD: "PLD upper bound",
}
