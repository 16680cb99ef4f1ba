package results

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/report"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/phrase"
)

// drawn reports whether the grid is drawn.
func drawn(g *grid.Grid) bool { return g.Figure != 0 || len(g.Axes) > 0 }

// chartsOf draws a chart of every metric.
func chartsOf(g *grid.Grid, name string, lines []*line) []report.Chart {
	var out []report.Chart
	for i, m := range g.Metrics {
		c := report.Chart{Title: g.Title + ", " + m.Printed, File: name, Caption: caption(g, lines, i)}
		if len(g.Metrics) > 1 {
			c.File += "-" + fileWord(m.Name)
		}
		c.Strips = stripsOf(g, lines, i)
		if len(c.Strips) > 0 {
			out = append(out, c)
		}
	}
	return out
}

// fileWord writes a metric for the name of a file, as in "recall20".
func fileWord(metric string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		case r == ' ':
			return '-'
		}
		return -1
	}, metric), "-")
}

// stripsOf makes a strip for every panel that rows name on every data set. Strips of one panel
// with the same curves become one.
func stripsOf(g *grid.Grid, lines []*line, metric int) []report.Strip {
	type key struct {
		panel string
		data  *grid.Data
	}
	var keys []key
	panel := func(l *line) string { return l.rows[0].entry.Row.Panel }
	for _, l := range lines {
		k := key{panel(l), l.data}
		if (l.axis != nil || len(g.Axes) == 0) && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	var out []report.Strip
	var data []*grid.Data
	for _, k := range keys {
		of := slices.DeleteFunc(slices.Clone(lines), func(l *line) bool {
			return l.data != k.data || panel(l) != k.panel && (l.axis != nil || panel(l) != "")
		})
		if s := stripOf(g, of, metric); len(s.Panels) > 0 {
			s.Title = k.panel
			if len(g.Data) > 1 {
				s.Title = strings.Trim(s.Title+", "+k.data.Printed, ", ")
			}
			out, data = append(out, s), append(data, k.data)
		}
	}
	for i := range out { // results on the same data are compared by height
		for j := range out {
			if data[i] == data[j] {
				widen(out[i].Panels, out[j].Panels)
			}
		}
	}
	return joined(out)
}

// widen makes panels as high as those of another strip.
func widen(panels, others []report.Panel) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range others {
		for _, l := range p.Levels {
			lo, hi = min(lo, l.Y), max(hi, l.Y)
		}
		for _, c := range p.Curves {
			for i, y := range c.Y {
				for _, v := range []float64{y, c.Band[i][0], c.Band[i][1], c.Bars[i][0], c.Bars[i][1]} {
					if !math.IsNaN(v) {
						lo, hi = min(lo, v), max(hi, v)
					}
				}
			}
		}
	}
	for i := range panels {
		r := &panels[i].YRange
		if *r == [2]float64{} {
			*r = [2]float64{lo, hi}
		}
		*r = [2]float64{min(r[0], lo), max(r[1], hi)}
	}
}

// joined makes one strip of several that have one panel each and the same curves.
func joined(strips []report.Strip) []report.Strip {
	names := func(s report.Strip) (out []string) {
		for _, c := range s.Panels[0].Curves {
			out = append(out, c.Name)
		}
		return out
	}
	for _, s := range strips {
		if len(s.Panels) != 1 || !slices.Equal(names(s), names(strips[0])) {
			return strips
		}
	}
	if len(strips) < 2 {
		return strips
	}
	one := report.Strip{}
	for _, s := range strips {
		p := s.Panels[0]
		p.Title = s.Title
		one.Panels = append(one.Panels, p)
	}
	return []report.Strip{one}
}

// stripOf makes the panels of some lines: one for each of their axes, and one for its accounted
// epsilon. Results without an axis are levels, or points over their names where no line has one.
func stripOf(g *grid.Grid, lines []*line, metric int) (s report.Strip) {
	levels := floorLevels(g, lines, metric)
	var words []string
	alone := curve{Curve: report.Curve{Name: g.Metrics[metric].Printed, Apart: true}}
	for _, l := range lines {
		if l.axis != nil || len(l.rows[0].results) == 0 {
			continue
		}
		if len(g.Axes) > 0 {
			if mean := l.rows[0].mean(metric); !math.IsNaN(mean) {
				levels = append(levels, report.Level{Name: l.name, Y: mean})
			}
			continue
		}
		alone.add(float64(len(words)), l.rows[0], metric)
		words = append(words, l.name)
	}
	y := g.Metrics[metric].Printed + " (percent)"
	if len(alone.X) > 0 {
		return report.Strip{Panels: []report.Panel{{Y: y, Words: words, Levels: levels,
			Curves: []report.Curve{alone.Curve}}}}
	}
	for i := range g.Axes {
		a := &g.Axes[i]
		p := report.Panel{X: a.Below(), Y: y, LogX: a.Log, Levels: levels}
		q := report.Panel{X: "accounted epsilon", Y: y, LogX: true, Levels: levels}
		for _, l := range lines {
			if l.axis != a {
				continue
			}
			over, accounted := curve{Curve: report.Curve{Name: l.name}}, curve{Curve: report.Curve{Name: l.name}}
			for _, m := range l.rows {
				over.add(m.value(), m, metric)
				accounted.add(orNaN(m.cells[0].AccountedEpsilon), m, metric)
				if !slices.Contains(p.Ticks, m.value()) {
					p.Ticks = append(p.Ticks, m.value())
				}
			}
			p.Curves, q.Curves = append(p.Curves, over.Curve), append(q.Curves, accounted.sorted())
		}
		slices.Sort(p.Ticks)
		if !some(p.Curves) {
			continue
		}
		p.XRange = [2]float64{p.Ticks[0], p.Ticks[len(p.Ticks)-1]}
		s.Panels = append(s.Panels, p)
		if a.Accounted && some(q.Curves) {
			if a.Log {
				q.XRange = p.XRange
			}
			if a.Log && inRange(q.Curves, p.XRange) {
				q.Ticks = p.Ticks
			}
			s.Panels = append(s.Panels, q)
		}
	}
	return s
}

// inRange reports whether the finite points of curves lie in a range, but for rounding.
func inRange(curves []report.Curve, r [2]float64) bool {
	return !slices.ContainsFunc(curves, func(c report.Curve) bool {
		return slices.ContainsFunc(c.X,
			func(x float64) bool { return !math.IsInf(x, 1) && (x < 0.99*r[0] || x > 1.01*r[1]) })
	})
}

// some reports whether curves have a point.
func some(curves []report.Curve) bool {
	return slices.ContainsFunc(curves, func(c report.Curve) bool { return len(c.X) > 0 })
}

// curve collects the points of a line.
type curve struct{ report.Curve }

// add adds a row with results, at x, unless x or the mean is no number: what could not be measured
// has no point.
func (c *curve) add(x float64, m *summary, metric int) {
	cell, u := &m.cells[metric], m.users[metric]
	if math.IsNaN(x) || cell.Ours == nil {
		return
	}
	c.X, c.Y = append(c.X, x), append(c.Y, m.mean(metric))
	c.Band = append(c.Band, [2]float64{u.lo, u.hi})
	c.Bars = append(c.Bars, [2]float64{cell.inPercent(cell.Low), cell.inPercent(cell.High)})
}

// sorted returns the curve in the order of x.
func (c *curve) sorted() report.Curve {
	order := make([]int, len(c.X))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.X[a], c.X[b]) })
	out := report.Curve{Name: c.Name}
	for _, i := range order {
		out.X, out.Y = append(out.X, c.X[i]), append(out.Y, c.Y[i])
		out.Band, out.Bars = append(out.Band, c.Band[i]), append(out.Bars, c.Bars[i])
	}
	return out
}

// floorLevels returns the floors of lines: of each the mean over the runs. Floors of no more
// than rounding apart are one.
func floorLevels(g *grid.Grid, lines []*line, metric int) (out []report.Level) {
	names, values := floorValues(lines, metric)
	for _, n := range names {
		sum := 0.0
		for _, v := range values[n] {
			sum += v
		}
		out = append(out, report.Level{Name: n, Y: sum / float64(len(values[n]))})
	}
	return out
}

// floorValues lists the floors of lines by name, and the values of each, one for each result.
func floorValues(lines []*line, metric int) (names []string, values map[string][]float64) {
	values = map[string][]float64{}
	for _, l := range lines {
		for _, m := range l.rows {
			for _, r := range m.results {
				for _, n := range r.Order {
					names = phrase.AppendNew(names, n)
				}
			}
			c := &m.cells[metric]
			for n := range c.Floors {
				values[n] = append(values[n], c.floor(n))
			}
		}
	}
	names = slices.DeleteFunc(names, func(n string) bool { return len(values[n]) == 0 }) // a statistic has no floor
	return names, values
}

// caption says what a chart shows beside its lines.
func caption(g *grid.Grid, lines []*line, metric int) string {
	var parts []string
	has := func(is func(*summary) bool) bool {
		return slices.ContainsFunc(lines, func(l *line) bool { return slices.ContainsFunc(l.rows, is) })
	}
	if has(func(m *summary) bool { return !math.IsNaN(m.users[metric].lo) }) {
		parts = append(parts, fmt.Sprintf("shaded: %.0f %% interval over users", 100*confidence))
	}
	if has(func(m *summary) bool { return m.cells[metric].Low != nil }) {
		parts = append(parts, fmt.Sprintf("bars: %.0f %% interval over seeds", 100*confidence))
	}
	if slices.ContainsFunc(g.Axes, func(a grid.Axis) bool { return a.Accounted }) && has(func(m *summary) bool {
		return m.axis() != nil && math.IsInf(orNaN(m.cells[0].AccountedEpsilon), 1)
	}) {
		parts = append(parts, "∞: no finite epsilon accounts for what was released")
	}
	for i := range g.Data {
		d := &g.Data[i]
		names, values := floorValues(slices.DeleteFunc(slices.Clone(lines), func(l *line) bool { return l.data != d }),
			metric)
		for _, n := range names {
			if lo, hi := slices.Min(values[n]), slices.Max(values[n]); hi-lo > 0.05 {
				parts = append(parts, fmt.Sprintf("%s on %s lies from %s to %s, by what is ranked", n, d.Printed,
					decimals(lo, ""), decimals(hi, "")))
			}
		}
	}
	level := ""
	for _, l := range lines {
		for _, m := range l.rows {
			level = max(level, m.cells[metric].Level)
		}
	}
	if level != "" {
		parts = append(parts, "evidence level "+level)
	}
	return strings.Join(parts, "; ")
}
