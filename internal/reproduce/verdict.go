package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"privrec/internal/report"
	"privrec/internal/stats"
)

// Verdicts on a claim, the best first.
const (
	holdsTrue = "holds"
	withNoise = "within noise"
	fails     = "does not hold"
	unjudged  = "not judged"
)

// term is a result with its factor in a sum.
type term struct {
	of     *mark
	factor float64
}

// contrast is a sum of results that a claim says is above 0. Where it is not strict, the claim
// says only that it is not below.
type contrast struct {
	name   string
	terms  []term
	strict bool
}

// measured is a contrast in percentage points. An interval without numbers could not be taken.
type measured struct {
	name    string
	mean    float64
	users   stats.Interval // over users, for these trainings
	seeds   stats.Interval // over seeds
	verdict string
}

// contrasts lists what a part states on one data set. It fails where a line or a value is not
// there.
func (p Part) contrasts(lines []*line) (out []contrast, err error) {
	var named []*line
	for _, name := range p.Lines {
		i := slices.IndexFunc(lines, func(l *line) bool { return l.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s is not there", name)
		}
		named = append(named, lines[i])
	}
	step := func(l *line, from, to *mark, up float64, strict bool) {
		if up < 0 {
			from, to = to, from
		}
		out = append(out, contrast{fmt.Sprintf("%s at %v less at %v", l.name, to.value, from.value), []term{{to, 1}, {from, -1}}, strict})
	}
	switch p.Says {
	case "rises", "falls":
		up := 1.0
		if p.Says == "falls" {
			up = -1
		}
		for _, l := range named {
			last := len(l.marks) - 1
			if last < 1 {
				return nil, fmt.Errorf("%s has one value", l.name)
			}
			step(l, l.marks[0], l.marks[last], up, true)
			for i := 1; i <= last && last > 1; i++ {
				step(l, l.marks[i-1], l.marks[i], up, false)
			}
		}
	case "above", "widens":
		pairs := common(named[0], named[1])
		var kept [][2]*mark
		for _, q := range pairs {
			if !slices.ContainsFunc(p.Except, func(e Exception) bool { return e.Data == named[0].data.Name && e.At == where(q).value }) {
				kept = append(kept, q)
			}
		}
		if len(kept) == 0 {
			return nil, fmt.Errorf("%s and %s have no value in common", named[0].name, named[1].name)
		}
		if p.Says == "above" {
			for _, q := range kept {
				name := named[0].name + " less " + named[1].name
				if m := where(q); m.axis != nil {
					name += fmt.Sprintf(" at %v", m.value)
				}
				out = append(out, contrast{name, []term{{q[0], 1}, {q[1], -1}}, true})
			}
			return out, nil
		}
		a, b := kept[0], kept[len(kept)-1]
		if len(kept) < 2 {
			return nil, fmt.Errorf("%s and %s have one value in common", named[0].name, named[1].name)
		}
		out = append(out, contrast{fmt.Sprintf("%s less %s, at %v less at %v", named[0].name, named[1].name, where(b).value, where(a).value), []term{{b[0], 1}, {b[1], -1}, {a[0], -1}, {a[1], 1}}, true})
	case "peaks":
		for _, l := range named {
			top := l.at(p.At[0])
			if top == nil {
				return nil, fmt.Errorf("%s has no value %v", l.name, p.At[0])
			}
			for _, m := range l.marks {
				if m != top {
					step(l, m, top, 1, true)
				}
			}
		}
	case "keeps", "loses":
		up := 1.0
		if p.Says == "loses" {
			up = -1
		}
		for _, l := range named {
			at := p.At
			if len(at) == 0 {
				at = []float64{l.marks[len(l.marks)-1].value}
			}
			for _, v := range at {
				m := l.at(v)
				if m == nil || m == l.marks[0] {
					return nil, fmt.Errorf("%s has no value %v after its first", l.name, v)
				}
				name := fmt.Sprintf("%s at %v less %g times at %v", l.name, v, 1-p.Share, l.marks[0].value)
				if up < 0 {
					name = fmt.Sprintf("%s at %v times %g less at %v", l.name, l.marks[0].value, 1-p.Share, v)
				}
				out = append(out, contrast{name, []term{{m, up}, {l.marks[0], -up * (1 - p.Share)}}, true})
			}
		}
	}
	return out, nil
}

// at returns the mark at a value, or nil.
func (l *line) at(v float64) *mark {
	for _, m := range l.marks {
		if m.value == v {
			return m
		}
	}
	return nil
}

// common pairs the marks of two lines. A single result is paired with every mark of the other.
func common(a, b *line) (out [][2]*mark) {
	for _, m := range a.marks {
		for _, n := range b.marks {
			if m.axis == nil || n.axis == nil || m.value == n.value {
				out = append(out, [2]*mark{m, n})
			}
		}
	}
	return out
}

// where returns the mark of a pair that has a value on the axis, if one has.
func where(pair [2]*mark) *mark {
	if pair[0].axis == nil {
		return pair[1]
	}
	return pair[0]
}

// measure takes a contrast of a metric. One of several is found against a claim at a level that
// keeps all of them together (Bonferroni); what speaks for a claim needs the usual one, since
// all must.
func (c contrast) measure(metric, several int) (measured, error) {
	out := measured{name: c.name, users: noInterval, seeds: noInterval, verdict: withNoise}
	for _, t := range c.terms {
		if len(t.of.s.results) == 0 {
			return out, fmt.Errorf("%s is not measured", t.of.s.entry.row.Label())
		}
		out.mean += t.factor * t.of.s.columns[metric].mean
	}
	users, seeds := c.byUser(metric), c.bySeed(metric)
	hard := 1 - (1-confidence)/float64(several)
	above, below, bases := true, true, 0
	for _, basis := range []struct {
		values []float64
		least  int
		into   *stats.Interval
	}{{users, 2, &out.users}, {seeds, 3, &out.seeds}} {
		if len(basis.values) < basis.least {
			continue
		}
		usual, err := stats.TInterval(basis.values, confidence)
		if err != nil {
			return out, err
		}
		wide, err := stats.TInterval(basis.values, hard)
		if err != nil {
			return out, err
		}
		*basis.into = usual
		above, below, bases = above && usual.Lo > 0, below && wide.Hi < 0, bases+1
	}
	switch {
	case bases == 0:
		return out, fmt.Errorf("fewer than three seeds, and no scores of users")
	case below:
		out.verdict = fails
	case above || !c.strict:
		out.verdict = holdsTrue
	}
	return out, nil
}

var noInterval = stats.Interval{Lo: math.NaN(), Hi: math.NaN()}

// byUser returns values whose mean is the contrast and whose spread is that of its ratios of sums
// over users (Cochran, Sampling Techniques, 3rd ed. 1977, section 2.11): one for each user whom
// all results have, in percentage points.
func (c contrast) byUser(metric int) []float64 {
	at := map[string]int{}
	for i, t := range c.terms {
		if len(t.of.users[metric].ids) == 0 {
			return nil
		}
		for _, id := range t.of.users[metric].ids {
			if at[id] == i {
				at[id]++
			}
		}
	}
	var ids []string
	for _, id := range c.terms[0].of.users[metric].ids {
		if at[id] == len(c.terms) {
			ids = append(ids, id)
		}
	}
	out, total := make([]float64, len(ids)), 0.0
	for _, t := range c.terms {
		u, num, den := &t.of.users[metric], 0.0, 0.0
		place := make([]int, 0, len(ids))
		for k, next := 0, 0; k < len(u.ids) && next < len(ids); k++ {
			if u.ids[k] == ids[next] {
				place, next = append(place, k), next+1
				num, den = num+u.num[k], den+u.den[k]
			}
		}
		ratio := num / den
		total += t.factor * ratio
		for i, k := range place {
			out[i] += t.factor * (u.num[k] - ratio*u.den[k]) * float64(len(ids)) / den
		}
	}
	for i := range out {
		out[i] = 100 * (out[i] + total)
	}
	return out
}

// bySeed returns the contrast for every seed that all results have, in percentage points.
func (c contrast) bySeed(metric int) (out []float64) {
	for _, r := range c.terms[0].of.s.results {
		sum, all := 0.0, true
		for _, t := range c.terms {
			i := slices.IndexFunc(t.of.s.results, func(o *result) bool { return o.seed == r.seed })
			if all = all && i >= 0; all {
				sum += t.factor * t.of.s.columns[metric].values[i]
			}
		}
		if all {
			out = append(out, sum)
		}
	}
	return out
}

// verdicts makes the table of claims: a line for each part and data set, below the verdict on the
// whole claim.
func (g *Grid) verdicts(lines []*line) (*report.Table, error) {
	t := &report.Table{Name: "claims", Title: "Claims, held against these numbers", Columns: report.Columns("", "claim", "states", "data", "verdict", "decided by", "difference", "over users", "over seeds")}
	for _, c := range g.Claims {
		var parts [][]any
		whole, level := holdsTrue, ""
		for _, p := range c.Parts {
			metric := max(0, slices.IndexFunc(g.Metrics, func(m Metric) bool { return m.Name == p.Metric }))
			for i := range g.Data {
				d := &g.Data[i]
				if len(p.Data) > 0 && !slices.Contains(p.Data, d.Name) {
					continue
				}
				of := slices.DeleteFunc(slices.Clone(lines), func(l *line) bool { return l.data != d })
				if !slices.ContainsFunc(of, func(l *line) bool { return slices.Contains(p.Lines, l.name) }) {
					continue // the grid has no such row on these data
				}
				verdict, decided, stamp, err := p.judge(of, metric)
				if err != nil {
					return nil, err
				}
				whole = worse(whole, verdict)
				level = max(level, stamp)
				parts = append(parts, append([]any{"", p.words(g.Metrics[metric].Printed), d.Printed, stamped(verdict, stamp)}, decided...))
			}
		}
		t.Add(c.ID, c.Text, "", stamped(whole, level))
		t.Rows = append(t.Rows, parts...)
	}
	t.Notes = []string{fmt.Sprintf("holds: every difference that the part states is above 0 beyond its %.0f %% interval over users and, from three seeds on, over seeds; does not hold: one is below 0 beyond intervals that are wide enough for all of the part's differences together; else within noise. A rise or fall is from the first value to the last, with no step against it", 100*confidence)}
	return t, nil
}

// judge returns the verdict on a part for one data set, the difference that decides it, and the
// weakest level of evidence among the results.
func (p Part) judge(lines []*line, metric int) (verdict string, decided []any, level string, err error) {
	list, why := p.contrasts(lines)
	verdict = holdsTrue
	var worst measured
	for _, c := range list {
		m, bad := c.measure(metric, len(list))
		if bad != nil {
			return unjudged, []any{bad.Error()}, "", nil
		}
		for _, t := range c.terms {
			level = max(level, t.of.s.level.String())
		}
		if worst.name == "" || worse(worst.verdict, m.verdict) != worst.verdict || m.verdict == worst.verdict && m.mean < worst.mean && c.strict {
			worst = m
		}
		verdict = worse(verdict, m.verdict)
	}
	if why != nil {
		return unjudged, []any{why.Error()}, "", nil
	}
	return verdict, []any{worst.name, decimals(worst.mean, "+"), intervalWords(worst.users), intervalWords(worst.seeds)}, level, nil
}

// worse returns the worse of two verdicts. One against a claim counts more than one that was not
// given.
func worse(a, b string) string {
	order := []string{holdsTrue, withNoise, unjudged, fails}
	return order[max(slices.Index(order, a), slices.Index(order, b))]
}

// stamped adds the level of evidence to a verdict.
func stamped(verdict, level string) string {
	if level == "" {
		return verdict
	}
	return fmt.Sprintf("%s (%s)", verdict, level)
}

// intervalWords writes an interval, or nothing where there is none.
func intervalWords(i stats.Interval) string {
	if math.IsNaN(i.Lo) {
		return ""
	}
	return strings.Join([]string{decimals(i.Lo, "+"), decimals(i.Hi, "+")}, " to ")
}
