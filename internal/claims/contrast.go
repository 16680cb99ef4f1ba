package claims

import (
	"fmt"
	"slices"
	"strconv"
)

// term is a result with its factor in a sum.
type term struct {
	of     *Point
	data   string
	factor float64
}

// contrast is a sum of results that a part says is above 0. Where it is not strict, the part
// says only that it is not below. Where ratio is set, terms are pairs, and it is the mean over
// pairs of the first over the second, less 1, in percent.
type contrast struct {
	name   string
	metric string
	terms  []term
	strict bool
	ratio  bool
	less   float64 // a constant that is taken off, in percentage points
}

// stated is what a part states on one data set.
type stated struct {
	printed string // name of the data set
	metric  string // as the paper heads it
	list    []contrast
	why     error // why it cannot be stated there
}

// statements lists what a part states on each data set that has its lines; gains on all of
// them together.
func (p *Part) statements(c *Claim, grids []*Grid) (out []stated) {
	first := p.grid(0, c, grids)
	metric := p.Metric
	if metric == "" && len(first.Metrics) > 0 {
		metric = first.Metrics[0].Name
	}
	var together []term
	var where string
	for _, d := range first.Data {
		if len(p.Data) > 0 && !slices.Contains(p.Data, d.Name) {
			continue
		}
		var lines []*Line
		missing := ""
		for k, name := range p.Lines {
			var l *Line
			if name == Floor && k > 0 && lines[0] != nil {
				l = floor(lines[0], metric)
			} else {
				l = p.grid(k, c, grids).line(name, d.Name, p.Axis)
			}
			if l == nil && missing == "" {
				missing = name
			}
			lines = append(lines, l)
		}
		if p.Lines[0] == Floor && len(lines) > 1 && lines[1] != nil {
			lines[0], missing = floor(lines[1], metric), ""
		}
		if !slices.ContainsFunc(lines, func(l *Line) bool { return l != nil }) {
			continue // the grid has no such row on these data
		}
		s := stated{printed: printed(first.Data, d.Name), metric: printed(first.Metrics, metric)}
		switch {
		case missing != "":
			if len(p.Data) == 0 {
				continue // the paper has no such row on these data
			}
			s.why = fmt.Errorf("%s is not there", missing)
		case p.Says == "gains":
			for k := 0; k < len(lines); k += 2 {
				for _, q := range pairs(lines[k], lines[k+1]) {
					together = append(together, term{q[0], d.Name, 0}, term{q[1], d.Name, 0})
				}
			}
			where += ", " + s.printed
			continue
		default:
			s.list, s.why = p.contrasts(lines, metric)
		}
		out = append(out, s)
	}
	if len(together) > 0 {
		name := fmt.Sprintf("mean gain of %s over %s, less %s", p.Lines[0], p.Lines[1], percent(p.By))
		out = append(out, stated{printed: where[2:], metric: printed(first.Metrics, metric),
			list: []contrast{{name: name, metric: metric, terms: together, strict: true, ratio: true,
				less: 100 * p.By}}})
	}
	return out
}

// contrasts lists what a part states of lines of one data set. It fails where a value is not
// there.
func (p *Part) contrasts(lines []*Line, metric string) (out []contrast, err error) {
	add := func(name string, strict bool, terms ...term) {
		for i := range terms {
			terms[i].data = lines[0].Data
		}
		out = append(out, contrast{name: name, metric: metric, terms: terms, strict: strict})
	}
	step := func(l *Line, from, to *Point, up, strict bool) {
		if !up {
			from, to = to, from
		}
		add(fmt.Sprintf("%s at %v less at %v", l.Name, to.Value, from.Value), strict, term{of: to, factor: 1},
			term{of: from, factor: -1})
	}
	switch p.Says {
	case "rises", "falls":
		for _, l := range lines {
			last := len(l.Points) - 1
			if last < 1 {
				return nil, fmt.Errorf("%s has one value", l.Name)
			}
			step(l, l.Points[0], l.Points[last], p.Says == "rises", true)
			for i := 1; i <= last && last > 1 && !p.Ends; i++ {
				step(l, l.Points[i-1], l.Points[i], p.Says == "rises", false)
			}
		}
	case "reaches":
		for _, l := range lines {
			for _, m := range l.Points {
				out = append(out, contrast{name: fmt.Sprintf("%s less %s", m.Label, percent(p.By)), metric: metric,
					terms: []term{{m, l.Data, 1}}, strict: true, less: 100 * p.By})
			}
		}
	case "above", "below", "ordered", "near":
		for k := 1; k < len(lines); k++ {
			upper := lines[0]
			if p.Says == "ordered" {
				upper = lines[k-1]
			}
			kept := slices.DeleteFunc(pairs(upper, lines[k]), func(q [2]*Point) bool {
				return slices.ContainsFunc(p.Except,
					func(e Exception) bool { return e.Data == upper.Data && e.At == where(upper, q).Value })
			})
			if len(kept) == 0 {
				return nil, fmt.Errorf("%s and %s have no value in common", upper.Name, lines[k].Name)
			}
			for _, q := range kept {
				p.pair(add, upper, lines[k], q)
			}
		}
	case "widens":
		kept := pairs(lines[0], lines[1])
		if len(kept) < 2 {
			return nil, fmt.Errorf("%s and %s have one value in common", lines[0].Name, lines[1].Name)
		}
		a, b := kept[0], kept[len(kept)-1]
		add(fmt.Sprintf("%s less %s, at %v less at %v", lines[0].Name, lines[1].Name, where(lines[0], b).Value,
			where(lines[0], a).Value), true,
			term{of: b[0], factor: 1}, term{of: b[1], factor: -1}, term{of: a[0], factor: -1},
			term{of: a[1], factor: 1})
	case "peaks", "dips":
		for _, l := range lines {
			top := l.at(p.At[0])
			if top == nil {
				return nil, fmt.Errorf("%s has no value %v", l.Name, p.At[0])
			}
			for _, m := range l.Points {
				if m != top {
					step(l, m, top, p.Says == "peaks", true)
				}
			}
		}
	case "keeps", "loses":
		for _, l := range lines {
			at := p.At
			if len(at) == 0 {
				at = []float64{l.Points[len(l.Points)-1].Value}
			}
			for _, v := range at {
				m := l.at(v)
				if m == nil || m == l.Points[0] {
					return nil, fmt.Errorf("%s has no value %v after its first", l.Name, v)
				}
				name, up := fmt.Sprintf("%s at %v less %g times at %v", l.Name, v, 1-p.Share, l.Points[0].Value), 1.0
				if p.Says == "loses" {
					name, up = fmt.Sprintf("%s at %v times %g less at %v", l.Name, l.Points[0].Value, 1-p.Share, v), -1
				}
				add(name, true, term{of: m, factor: up}, term{of: l.Points[0], factor: -up * (1 - p.Share)})
			}
		}
	}
	return out, nil
}

// pair adds what above, below, ordered and near state of two points.
func (p *Part) pair(add func(string, bool, ...term), upper, lower *Line, q [2]*Point) {
	at := ""
	if upper.Axis != "" || lower.Axis != "" {
		at = fmt.Sprintf(" at %v", where(upper, q).Value)
	}
	times := func(f float64, l *Line) string {
		if f == 1 {
			return l.Name
		}
		return strconv.FormatFloat(f, 'g', 5, 64) + " times " + l.Name
	}
	if p.Says == "below" {
		add(times(1-p.By, lower)+" less "+upper.Name+at, true, term{of: q[1], factor: 1 - p.By},
			term{of: q[0], factor: -1})
		return
	}
	if p.Says != "near" {
		add(upper.Name+" less "+times(1+p.By, lower)+at, true, term{of: q[0], factor: 1},
			term{of: q[1], factor: -(1 + p.By)})
		return
	}
	add(upper.Name+" less "+times(1-p.By, lower)+at, true, term{of: q[0], factor: 1},
		term{of: q[1], factor: -(1 - p.By)})
	add(times(1+p.By, lower)+" less "+upper.Name+at, true, term{of: q[1], factor: 1 + p.By}, term{of: q[0], factor: -1})
}

// pairs pairs the points of two lines. A single result is paired with every point of the other.
func pairs(a, b *Line) (out [][2]*Point) {
	for _, m := range a.Points {
		for _, n := range b.Points {
			if a.Axis == "" || b.Axis == "" || m.Value == n.Value {
				out = append(out, [2]*Point{m, n})
			}
		}
	}
	return out
}

// where returns the point of a pair that has a value on an axis; a is the line of the first.
func where(a *Line, pair [2]*Point) *Point {
	if a.Axis == "" {
		return pair[1]
	}
	return pair[0]
}
