package exposure

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/metrics"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/protocol/slates"
	"privrec/internal/report"
)

// tables returns tables of the points of a sweep. Mechanisms are compared at equal accuracy in one metric; the others
// are in metrics.json.
func (f *Figures) tables(names []string, equal string) (list []*report.Table) {
	if len(f.Points) > 0 {
		t := &report.Table{Name: "protection",
			Title: "Protected slates: what they keep and what they leak (figures 8 to 13)", Columns: []report.Column{
				{Name: "mechanism"}, {Name: "ratio"}, {Name: "epsilon of a position"},
				{Name: "accuracy", Format: "%.4f"},
				{Name: "replaced", Format: "%.3f"}, {Name: "attacker"}}}
		for _, n := range names {
			t.Columns = append(t.Columns, report.Column{Name: n, Format: "%.2f"})
		}
		for _, p := range f.Points {
			for _, a := range p.Attackers {
				row := []any{p.Mechanism, nil, nil, float64(p.Accuracy), p.Replaced, a.Name}
				if p.Ratio > 0 {
					row[1] = p.Ratio
				}
				if p.Epsilon > 0 {
					row[2] = p.Epsilon
				}
				for _, n := range names {
					row = append(row, 100*a.Values[n])
				}
				t.Add(row...)
			}
		}
		for _, floor := range f.Floors {
			row := []any{floor.Name + f.FloorGuesses + " (floor)", nil, nil, nil, nil, nil}
			for _, n := range names {
				row = append(row, 100*floor.Values[n])
			}
			t.Add(row...)
		}
		t.Notes = append(t.Notes,
			"scores in percent; accuracy is the share of positions with an item that the user ever clicked: what was "+
				"never shown counts as never clicked")
		if math.IsNaN(float64(f.Accuracy)) {
			t.Notes = append(t.Notes, "the accuracy is not known: the data do not say what these users clicked")
		}
		if f.FloorGuesses == "" {
			t.Notes = append(t.Notes,
				"the floors popularity and random read no slate: an attacker below them has been misled, and does "+
					"better to guess what is popular")
		} else {
			t.Notes = append(t.Notes,
				"the floors here name more distinct items than the attackers, on slates as they are: the table of "+
					"leaks compares with as many")
		}
		list = append(list, t, f.leaks(equal))
	}
	if len(f.Equal) > 0 {
		t := &report.Table{Name: "equal-accuracy", Title: "What mechanisms leave where they keep the same accuracy",
			Columns: []report.Column{
				{Name: "accuracy", Format: "%.4f"}, {Name: "attacker"}, {Name: "metric"}, {Name: "mechanism"},
				{Name: "percent", Format: "%.2f"}}}
		for _, e := range f.Equal {
			if e.Metric != equal {
				continue
			}
			for _, m := range e.Mechanism {
				t.Add(e.Accuracy, e.Attacker, e.Metric, m.Name, 100*float64(m.Value))
			}
		}
		t.Notes = append(t.Notes, "values between two measured strengths are on the line between them")
		list = append(list, t)
	}
	if len(f.Slates) > 0 {
		t := &report.Table{Name: "slates", Title: "Slates of other lengths (figures 6 and 7)",
			Columns: []report.Column{{Name: "length"}, {Name: "row"}}}
		for _, n := range names {
			t.Columns = append(t.Columns, report.Column{Name: n, Format: "%.2f"})
		}
		for _, p := range f.Slates {
			for _, v := range p.Values {
				row := []any{p.Length, v.Name}
				for _, n := range names {
					row = append(row, 100*v.Values[n])
				}
				t.Add(row...)
			}
		}
		for _, p := range f.Slates {
			t.Notes = append(t.Notes, slates.UnequalNote(p.Gains)...)
		}
		list = append(list, t)
	}
	return list
}

// leaks returns the gains of all points over floors with as many guesses, in one metric.
func (f *Figures) leaks(metric string) *report.Table {
	t := &report.Table{Name: "protection-leak", Title: "Leak of protected slates: " + metric +
		" less that of a floor that names as many distinct items for every pair, percent", Columns: []report.Column{
		{Name: "mechanism"}, {Name: "ratio"}, {Name: "epsilon of a position"}, {Name: "attacker"},
		{Name: "named", Format: "%.2f"}, {Name: "over"}, {Name: "attack", Format: "%.2f"},
		{Name: "floor", Format: "%.2f"}, {Name: "gain", Format: "%+.2f"}, {Name: "from", Format: "%+.2f"},
		{Name: "to", Format: "%+.2f"}, {Name: "more than the floor"}}}
	m, err := metrics.Parse(metric)
	if err != nil {
		return t
	}
	var all []slates.Gain
	for _, p := range f.Points {
		for _, a := range p.Attackers {
			all = append(all, a.Gains...)
			for _, g := range a.Gains {
				if g.Metric != metric {
					continue
				}
				row := []any{p.Mechanism, nil, nil, a.Name, a.Guesses[slates.Cutoff(m.K)], g.Over,
					100 * (g.Floor + g.Value), 100 * g.Floor, 100 * g.Value, 100 * g.Interval[0], 100 * g.Interval[1],
					g.Leaks()}
				if p.Ratio > 0 {
					row[1] = p.Ratio
				}
				if p.Epsilon > 0 {
					row[2] = p.Epsilon
				}
				t.Add(row...)
			}
		}
	}
	t.Notes = append(t.Notes,
		"floors see the slates that the attacker sees; what they count are training pairs as they were",
		"popularity reads no slate: an attacker below it has been misled, and does better to guess what is popular")
	t.Notes = append(t.Notes, slates.UnequalNote(all)...)
	return t
}

// plots returns figures 6 to 13, one for each way to select positions: scores and accuracy by ratio, scores by
// accuracy, and scores by the length of slates. It leaves out figures without a point: the accuracy is unknown if the
// data lack the users' clicks.
func (f *Figures) plots(names []string) (list []report.Figure) {
	var selects []string
	kinds := map[string][]string{} // mechanisms by how they select, first come first
	for _, p := range f.Points {
		if p.Ratio == 0 {
			continue
		}
		how, _, _ := strings.Cut(p.Mechanism, ", ")
		if kinds[how] == nil {
			selects = append(selects, how)
		}
		if !slices.Contains(kinds[how], p.Mechanism) {
			kinds[how] = append(kinds[how], p.Mechanism)
		}
	}
	for _, how := range selects {
		for _, n := range names {
			list = append(list, f.byRatio(how, n, kinds[how]))
		}
		list = append(list, f.gainByRatio(how, names[0], kinds[how]))
		list = append(list, f.accuracyByRatio(how, kinds[how]))
	}
	if len(selects) == 0 {
		selects = []string{protect.ReplaceRR}
	}
	for _, how := range selects {
		for _, n := range names {
			if g := f.byAccuracy(how, n, kinds[how]); len(g.Lines) > 0 {
				list = append(list, g)
			}
		}
	}
	if len(f.Slates) > 1 {
		for _, n := range names {
			list = append(list, f.lengths(n))
		}
	}
	return slices.DeleteFunc(list, func(g report.Figure) bool { return !g.Drawable() })
}

// byRatio returns a first panel of figures 8 to 13.
func (f *Figures) byRatio(how, name string, kinds []string) report.Figure {
	g := report.Figure{Title: fmt.Sprintf("%s by ratio, positions %s (figures 8 to 13)", name, how),
		X: "ratio of positions replaced", Y: name + " (percent)"}
	last := 0.0
	for a := range attackers(f.Points) {
		for _, kind := range kinds {
			l, _ := f.lines(kind, a, name)
			g.Lines, last = append(g.Lines, l), max(last, slices.Max(l.X))
		}
	}
	g.Lines = append(g.Lines, f.level(name, attack.FloorPopularity, 0, last))
	return g
}

// gainByRatio returns a figure of the gains over popularity with as many guesses.
func (f *Figures) gainByRatio(how, name string, kinds []string) report.Figure {
	g := report.Figure{Title: fmt.Sprintf("%s less that of popularity with as many guesses, by ratio, positions %s",
		name, how), X: "ratio of positions replaced", Y: name + " (points)"}
	last := 0.0
	for a := range attackers(f.Points) {
		for _, kind := range kinds {
			l := report.Line{}
			for _, p := range f.Points {
				if p.Mechanism != kind && !p.clean() {
					continue
				}
				l.Name = kind + ", " + p.Attackers[a].Name
				if x, ok := p.Attackers[a].Gain(attack.FloorPopularity, name); ok {
					l.X, l.Y, last = append(l.X, p.Ratio), append(l.Y, 100*x.Value), max(last, p.Ratio)
				}
			}
			g.Lines = append(g.Lines, l)
		}
	}
	g.Lines = append(g.Lines, report.Line{Name: "no more than popularity", X: []float64{0, last}, Y: []float64{0, 0},
		Dashed: true})
	return g
}

// accuracyByRatio returns the last panel of figures 8 to 13.
func (f *Figures) accuracyByRatio(how string, kinds []string) report.Figure {
	g := report.Figure{Title: fmt.Sprintf("Recommendation accuracy by ratio, positions %s (figures 8 to 13)", how),
		X: "ratio of positions replaced", Y: "share of positions clicked"}
	for _, kind := range kinds {
		l := report.Line{Name: kind}
		for _, p := range f.Points {
			if p.Mechanism == kind || p.clean() {
				l.X, l.Y = append(l.X, p.Ratio), append(l.Y, float64(p.Accuracy))
			}
		}
		g.Lines = append(g.Lines, l)
	}
	return g
}

// byAccuracy returns a figure that compares mechanisms, and randomized response, at the same accuracy.
func (f *Figures) byAccuracy(how, name string, kinds []string) report.Figure {
	g := report.Figure{Title: fmt.Sprintf("%s by accuracy kept, positions %s", name, how), X: "recommendation accuracy",
		Y: name + " (percent)"}
	for a := range attackers(f.Points) {
		for _, kind := range append(slices.Clone(kinds), protect.ReplaceRR) {
			if _, l := f.lines(kind, a, name); len(l.X) > 1 {
				g.Lines = append(g.Lines, l)
			}
		}
	}
	return g
}

// clean reports whether a point replaces nothing.
func (p FigurePoint) clean() bool { return p.Ratio == 0 && p.Epsilon == 0 }

// attackers returns the attackers of the points.
func attackers(points []FigurePoint) []Attacker {
	if len(points) == 0 {
		return nil
	}
	return points[0].Attackers
}

// lines returns the curve of one mechanism and one attacker, by ratio and by accuracy.
func (f *Figures) lines(kind string, attacker int, name string) (byRatio, byAccuracy report.Line) {
	type at struct{ ratio, accuracy, value float64 }
	var all []at
	who := ""
	for _, p := range f.Points {
		if p.Mechanism == kind || p.clean() {
			v := p.Attackers[attacker]
			who = v.Name
			all = append(all, at{p.Ratio, float64(p.Accuracy), 100 * v.Values[name]})
		}
	}
	byRatio.Name, byAccuracy.Name = kind+", "+who, kind+", "+who
	for _, a := range all {
		byRatio.X, byRatio.Y = append(byRatio.X, a.ratio), append(byRatio.Y, a.value)
	}
	slices.SortStableFunc(all, func(a, b at) int { return cmp.Compare(a.accuracy, b.accuracy) })
	for _, a := range all {
		byAccuracy.X, byAccuracy.Y = append(byAccuracy.X, a.accuracy), append(byAccuracy.Y, a.value)
	}
	return byRatio, byAccuracy
}

// level returns a floor as a line from one end to the other.
func (f *Figures) level(name, floor string, from, to float64) report.Line {
	l := report.Line{Name: floor + f.FloorGuesses + " (floor)", Dashed: true}
	for _, v := range f.Floors {
		if v.Name == floor {
			l.X, l.Y = []float64{from, to}, []float64{100 * v.Values[name], 100 * v.Values[name]}
		}
	}
	return l
}

// lengths returns figures 6 and 7.
func (f *Figures) lengths(name string) report.Figure {
	out := report.Figure{Title: name + " by the length of slates (figures 6 and 7)", X: "items of a slate", Y: name +
		" (percent)"}
	for _, p := range f.Slates {
		for i, v := range p.Values {
			if i == len(out.Lines) {
				out.Lines = append(out.Lines, report.Line{Name: v.Name})
			}
			l := &out.Lines[i]
			l.X, l.Y = append(l.X, float64(p.Length)), append(l.Y, 100*v.Values[name])
		}
	}
	return out
}
