package lint

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/printed"
)

// conflicts finds settings that a publication prints twice with different numbers. A setting is
// the data, the method, what the method is set to, and the metric. Every table of the reference
// results is a publication of its own.
func conflicts(p *paper, _ []*paper) []Finding {
	type where struct{ work, data, method, setting string }
	group := map[where]map[string][]printed.Value{}
	var keys []where
	for _, t := range p.tables {
		for _, r := range t.rows {
			if r.improvement || t.Kind != printed.Results {
				continue
			}
			for _, v := range r.values {
				k := where{t.ID, v.Data, v.Method, v.Setting.String()}
				if group[k] == nil {
					group[k] = map[string][]printed.Value{}
					keys = append(keys, k)
				}
				group[k][v.Metric.Is] = append(group[k][v.Metric.Is], v)
			}
		}
	}
	var out []Finding
	for _, k := range keys {
		var bad []Evidence
		var says []string
		var first printed.Value
		for _, metric := range sortedKeys(group[k]) {
			vs := group[k][metric]
			differs := slices.ContainsFunc(vs, func(v printed.Value) bool { return !alike(v, vs[0]) })
			if !differs {
				continue
			}
			if first.Line == 0 {
				first = vs[0]
			}
			says = append(says, sides(metric, vs))
			for _, v := range vs {
				bad = append(bad, show(v))
			}
		}
		if len(bad) == 0 {
			continue
		}
		under := ""
		if k.setting != "" {
			under = " under " + k.setting
		}
		out = append(out, Finding{
			Severity: Error, Place: first.Block + ", " + k.data + ", " + k.method, Line: first.Line, Evidence: bad,
			Text: fmt.Sprintf("the same setting%s has different numbers in different places: %s", under,
				strings.Join(says, "; ")),
		})
	}
	return out
}

// sides says "Recall@20 is 0.1512 in Table 2, 0.1469 in Table 3 and Table 4".
func sides(metric string, vs []printed.Value) string {
	var order []string
	at := map[string][]string{}
	for _, v := range vs {
		text := v.Number.Text
		if at[text] == nil {
			order = append(order, text)
		}
		at[text] = append(at[text], v.Block)
	}
	var parts []string
	for _, text := range order {
		parts = append(parts, text+" in "+join(at[text]))
	}
	return metric + " is " + strings.Join(parts, ", ")
}

// enough is the least number of equal digits, from the first that is not zero, for which two
// rows count as equal: two numbers of three digits, or three of two.
const enough = 6

// same counts the numbers of two rows that are printed alike, by metric. ok is false if a metric
// that both have differs, or too little is equal for more than chance. A number that is printed
// with fewer digits than the other is alike if it can be its rounding.
func same(a, b *row) (pairs [][2]printed.Value, ok bool) {
	digits := 0
	for _, v := range a.values {
		w := b.is(v.Metric.Is)
		if w == nil {
			continue
		}
		if !alike(v, *w) {
			return nil, false
		}
		digits += min(significant(v.Number), significant(w.Number))
		pairs = append(pairs, [2]printed.Value{v, *w})
	}
	return pairs, len(pairs) > 1 && digits >= enough
}

// source is a row of an earlier publication.
type source struct {
	paper *paper
	table *table
	row   *row
	pairs [][2]printed.Value
}

// copied finds rows whose numbers are those of an earlier publication on the same data. A row
// that says whose it is, is no finding.
func copied(p *paper, all []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		var methods []string
		found := map[string][]source{}
		for _, r := range t.rows {
			if r.improvement || t.Kind != printed.Results || r.Copied != "" || r.taken == "" {
				continue
			}
			if s, ok := earliest(t, r, p, all); ok {
				if found[r.method] == nil {
					methods = append(methods, r.method)
				}
				found[r.method] = append(found[r.method], s)
			}
		}
		for _, m := range methods {
			out = append(out, copyOf(t, m, found[m]))
		}
	}
	return out
}

// earliest returns the oldest row that a row equals.
func earliest(t *table, r *row, p *paper, all []*paper) (best source, ok bool) {
	for _, o := range all {
		for _, u := range o.tables {
			if u.year >= t.year || u.Kind != printed.Results || o == p && u == t {
				continue
			}
			for _, s := range u.rows {
				if s.improvement || s.taken != r.taken || o == p && p.file.Paper != printed.Reference {
					continue
				}
				if pairs, same := same(r, s); same && (!ok || u.year < best.table.year) {
					best, ok = source{o, u, s, pairs}, true
				}
			}
		}
	}
	return best, ok
}

// copyOf is the finding about a method of a table.
func copyOf(t *table, method string, from []source) Finding {
	f := Finding{Severity: Warning, Place: t.Name() + ", " + method}
	var data, sources []string
	numbers := 0
	for _, s := range from {
		numbers += len(s.pairs)
		data = append(data, s.pairs[0][0].Data)
		name := fmt.Sprintf("%s of %s (%d)", s.row.method, s.table.Name(), s.table.year)
		if s.paper.file.Paper != printed.Reference {
			name = fmt.Sprintf("%s of %s, %s (%d)", s.row.method, s.paper.file.Paper, s.table.Name(), s.table.year)
		}
		if !slices.Contains(sources, name) {
			sources = append(sources, name)
		}
		for _, pair := range s.pairs {
			f.Evidence = append(f.Evidence, show(pair[0]), show(pair[1]))
		}
	}
	f.Line = f.Evidence[0].Line
	f.Text = fmt.Sprintf("%d numbers on %s equal those of %s digit for digit, which a run of one's own on other "+
		"splits or seeds would hardly give; the row was probably taken over", numbers, join(data), join(sources))
	return f
}

// repeated finds rows of a table that equal each other in all numbers.
func repeated(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		for i, r := range t.rows {
			for _, o := range t.rows[:i] {
				if r.improvement != o.improvement || r.Copied != "" || o.Copied != "" ||
					len(r.values) != len(o.values) {
					continue
				}
				pairs, ok := same(r, o)
				equal := !slices.ContainsFunc(pairs,
					func(x [2]printed.Value) bool { return x[0].Number.String() != x[1].Number.String() })
				if !ok || len(pairs) != len(r.values) || !equal {
					continue
				}
				f := Finding{Severity: Warning, Place: r.place, Line: r.line,
					Text: fmt.Sprintf("all %d numbers equal those of %s", len(pairs), o.place)}
				for _, x := range pairs {
					f.Evidence = append(f.Evidence, show(x[0]), show(x[1]))
				}
				out = append(out, f)
			}
		}
	}
	return out
}
