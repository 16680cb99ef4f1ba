package lint

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"privrec/internal/printed"
)

// ranges finds numbers that are not what their unit says.
func ranges(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		for _, r := range t.rows {
			for _, v := range r.values {
				x, text := *v.Number.Value, ""
				switch {
				case v.Improvement:
				case v.Metric.Unit == printed.Share && (x < 0 || x > 1):
					text = "is no share between 0 and 1"
				case v.Metric.Unit == printed.Percent && (x < 0 || x > 100):
					text = "is no percentage between 0 and 100"
				case v.Metric.Unit == printed.Count && (x < 0 || x != math.Trunc(x)):
					text = "is no whole number"
				}
				if text != "" {
					out = append(out, Finding{Severity: Error, Place: v.Place(), Line: v.Line,
						Evidence: []Evidence{show(v)}, Text: v.Number.Text + " " + text})
				}
			}
		}
	}
	return out
}

// misprints finds numbers that have to be read as others than they are printed.
func misprints(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		for _, r := range t.rows {
			for _, v := range r.values {
				if v.Number.Slip {
					out = append(out, Finding{
						Severity: Note, Place: v.Place(), Line: v.Line, Evidence: []Evidence{show(v)},
						Text: fmt.Sprintf("%s is printed, which must be %s", v.Number.Text,
							digits(*v.Number.Value, v.Number.Digits)),
					})
				}
			}
		}
	}
	return out
}

// bestMark finds rows that are marked as the best of a data set and a column, and are not.
func bestMark(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		f := Finding{Severity: Note, Place: t.Name()}
		var says []string
		for _, r := range t.rows {
			if !r.Best {
				continue
			}
			for _, v := range r.values {
				for _, o := range t.rows {
					w := o.in(v.Column)
					if o == r || w == nil || o.data != r.data || o.Best {
						continue
					}
					better := exact(*w).above(exact(v))
					if v.Metric.Lower {
						better = exact(v).above(exact(*w))
					}
					if better {
						if f.Line == 0 {
							f.Line = r.line
						}
						says = append(says, fmt.Sprintf("%s on %s is %s, and %s has %s", v.Column, v.Data,
							v.Number.Text, o.method+" ("+o.Setting.String()+")", w.Number.Text))
						f.Evidence = append(f.Evidence, show(v), show(*w))
					}
				}
			}
		}
		if len(says) > 0 {
			f.Text = "numbers in bold type are not the best of their column: " + join(says)
			out = append(out, f)
		}
	}
	return out
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
