package lint

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/printed"
)

// ratio is a cell of a method beside that of the method that it is compared with.
type ratio struct {
	own, base interval
	lower     bool
	evidence  []Evidence
}

// gain is the relative gain over the base: (own - base) / base, or its negative where lower is
// better.
func (r ratio) gain() interval { return relative(r.own, r.base, r.lower) }

func relative(own, base interval, lower bool) interval {
	x := own.over(base)
	if lower {
		return interval{1 - x.high, 1 - x.low}
	}
	return interval{x.low - 1, x.high - 1}
}

// gains recomputes the improvements of tables and of sentences from the numbers that they
// compare.
func gains(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		for _, r := range t.rows {
			if r.improvement {
				out = append(out, improvement(t, r)...)
			}
		}
	}
	for i, s := range p.file.Sentences {
		if s.Gain != nil {
			if f, bad := meanGain(p, s); bad {
				f.Line = p.file.Line(fmt.Sprintf("sentences.%d", i))
				out = append(out, f)
			}
		}
	}
	return out
}

// improvement checks one row of improvements.
func improvement(t *table, r *row) []Finding {
	var out []Finding
	for _, v := range r.values {
		cells, bounded := ratios(t, printed.Gain{Method: r.method, Over: r.Over, Metrics: []string{v.Column},
			Data: []string{r.data}, Setting: r.Setting})
		if len(cells) != 1 || !bounded {
			continue
		}
		if got := cells[0].gain(); !got.meets(exact(v)) {
			out = append(out, Finding{
				Severity: Error, Place: v.Place(), Line: v.Line, Evidence: append(cells[0].evidence, show(v)),
				Text: fmt.Sprintf("an improvement of %s over %s of %s percent is printed, but the two numbers give "+
					"%s percent", r.method, r.Over, v.Number.Text, percents(got)),
			})
		}
	}
	return out
}

// percents shows what a share may be, in percent.
func percents(x interval) string { return span(x.low*100, x.high*100, 2) }

// ratios lists the cells of a table that a gain is about. bounded is false if one of them may be
// zero, so that the gain may be anything.
func ratios(t *table, g printed.Gain) (out []ratio, bounded bool) {
	bounded = true
	for _, a := range t.rows {
		if a.improvement || a.method != g.Method || !within(g.Setting, a.Setting) || len(g.Data) > 0 &&
			!slices.Contains(g.Data, a.data) {
			continue
		}
		i := slices.IndexFunc(t.rows, func(b *row) bool {
			return !b.improvement && b.method == g.Over && b.data == a.data && b.Setting.String() == a.Setting.String()
		})
		if i < 0 {
			continue
		}
		for _, v := range a.values {
			w := t.rows[i].in(v.Column)
			if w == nil || len(g.Metrics) > 0 && !slices.Contains(g.Metrics, v.Column) {
				continue
			}
			bounded = bounded && exact(*w).low > 0 && exact(v).low > 0
			out = append(out, ratio{exact(v), exact(*w), v.Metric.Lower, []Evidence{show(v), show(*w)}})
		}
	}
	return out, bounded
}

// within says whether a setting has all of a smaller one.
func within(small, large printed.Setting) bool {
	for k, v := range small {
		if large[k] != v {
			return false
		}
	}
	return true
}

// reading is one way to compute a mean gain.
type reading struct {
	name  string
	mean  interval
	plain bool // what the words say; else only an explanation
}

// readings computes a mean gain in every way that occurs in print.
func readings(cells []ratio) []reading {
	n := float64(len(cells))
	var perCell, byOwn, own, base interval
	for _, c := range cells {
		perCell = perCell.plus(c.gain())
		x := relative(c.base, c.own, !c.lower) // by the method's own number
		byOwn = byOwn.plus(x)
		own, base = own.plus(c.own), base.plus(c.base)
	}
	return []reading{
		{"the mean of the gains", perCell.scaled(1 / n), true},
		{"the gain of the means", relative(own, base, cells[0].lower), true},
		{"gains divided by the better method's own number in place of the other's", byOwn.scaled(1 / n), false},
	}
}

// meanGain checks a mean gain that a sentence states.
func meanGain(p *paper, s printed.Sentence) (Finding, bool) {
	t := p.table(s.Gain.Table)
	if t == nil {
		return Finding{}, false
	}
	cells, bounded := ratios(t, *s.Gain)
	if len(cells) == 0 || !bounded {
		return Finding{}, false
	}
	stated := of(s.Value, s.Unit)
	all := readings(cells)
	explains := ""
	for _, r := range all {
		switch {
		case !r.mean.meets(stated):
		case r.plain:
			return Finding{}, false
		default:
			explains = fmt.Sprintf("; %s give %s percent, which fits", r.name, percents(r.mean))
		}
	}
	f := Finding{Severity: Error, Place: s.Where, Evidence: []Evidence{stating(p, s)}}
	for _, c := range cells {
		f.Evidence = append(f.Evidence, c.evidence...)
	}
	var computed []string
	for _, r := range all[:2] {
		computed = append(computed, fmt.Sprintf("%s is %s percent", r.name, percents(r.mean)))
		f.Evidence = append(f.Evidence, Evidence{Paper: p.file.Paper, Place: "computed: " + r.name,
			Value: percents(r.mean)})
	}
	f.Text = fmt.Sprintf("%s of %s percent is stated, but from %s %s%s", s.About, s.Value.Text, t.Name(),
		strings.Join(computed, ", "), explains)
	return f, true
}

// stating is a sentence's number as evidence.
func stating(p *paper, s printed.Sentence) Evidence {
	return Evidence{Paper: p.file.Paper, Place: s.Where + ": " + s.About, Value: s.Value.String()}
}
