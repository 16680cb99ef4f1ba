package lint

import (
	"fmt"
	"math"
	"strconv"

	"privrec/internal/printed"
)

// mixedColumns finds tables of data sets whose users times mean length are not the
// interactions, so that the columns were not counted on the same rows.
func mixedColumns(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		f := Finding{Severity: Error, Place: t.Name()}
		var says []string
		for _, r := range t.rows {
			users, length, rows := r.is("users"), r.is("mean length"), r.is("interactions")
			if users == nil || length == nil || rows == nil {
				continue
			}
			got := exact(*users).times(exact(*length))
			if got.meets(exact(*rows)) {
				continue
			}
			if f.Line == 0 {
				f.Line = r.line
			}
			says = append(says, fmt.Sprintf("on %s they give %s, and %s are printed", r.data, digits(got.middle(), 0),
				rows.Number.Text))
			f.Evidence = append(f.Evidence, show(*users), show(*length), show(*rows),
				Evidence{Paper: p.file.Paper, Place: "computed: users times mean length on " + r.data,
					Value: digits(got.middle(), 0)})
		}
		if len(says) == 0 {
			continue
		}
		f.Text = "users times mean length are not the interactions, so the columns were not counted on the same rows: " + join(says)
		out = append(out, f)
	}
	return out
}

// density finds densities that are not interactions by users times items.
func density(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		for _, r := range t.rows {
			users, items, rows, d := r.is("users"), r.is("items"), r.is("interactions"), r.is("density")
			if users == nil || items == nil || rows == nil || d == nil {
				continue
			}
			got := exact(*rows).over(exact(*users).times(exact(*items)))
			if got.meets(exact(*d)) || exact(*d).low <= 0 {
				continue
			}
			fit := exact(*rows).over(exact(*users).times(exact(*d)))
			out = append(out, Finding{
				Severity: Error, Place: r.place, Line: r.line,
				Text: fmt.Sprintf("a density of %s is printed, but users, items and interactions give %s; the "+
					"density fits %s items, and %s are printed",
					d.Number.Text, digits(got.middle()*scale(*d), d.Number.Digits),
					span(math.Ceil(fit.low), math.Floor(fit.high), 0), items.Number.Text),
				Evidence: []Evidence{show(*users), show(*items), show(*rows), show(*d),
					{Paper: p.file.Paper, Place: "computed: density on " + r.data,
						Value: digits(got.middle()*scale(*d), d.Number.Digits)}},
			})
		}
	}
	return out
}

// scale takes a share back to the unit of a number.
func scale(v printed.Value) float64 {
	if v.Metric.Unit == printed.Percent {
		return 100
	}
	return 1
}

// size is how large a place says that a data set is.
type size struct {
	users, items, rows float64
	evidence           Evidence
}

// sizes lists what a paper says of its data sets, by their registered names: in tables, in
// sentences, and beside reference results.
func sizes(p *paper) map[string][]size {
	out := map[string][]size{}
	for _, t := range p.tables {
		for _, r := range t.rows {
			users, items, rows := r.is("users"), r.is("items"), r.is("interactions")
			if users == nil || items == nil || rows == nil || r.taken == "" {
				continue
			}
			out[r.taken] = append(out[r.taken], size{*users.Number.Value, *items.Number.Value, *rows.Number.Value,
				show(*rows)})
		}
		if name := p.file.Data[t.Data]; name != "" && t.Counts != nil {
			s := size{count(t.Counts["users"]), count(t.Counts["items"]), count(t.Counts["interactions"]),
				Evidence{Paper: p.file.Paper, Place: t.Name() + ", " + t.Data + ", interactions",
					Value: string(t.Counts["interactions"])}}
			out[name] = append(out[name], s)
		}
	}
	for name, s := range statedSizes(p) {
		out[name] = append(out[name], s)
	}
	return out
}

// statedSizes collects what sentences say of data sets.
func statedSizes(p *paper) map[string]size {
	out := map[string]size{}
	for i, s := range p.file.Sentences {
		if s.States == nil || p.file.Data[s.States.Data] == "" {
			continue
		}
		name := p.file.Data[s.States.Data]
		x := out[name]
		switch p.file.Metrics[s.States.Metric].Is {
		case "users":
			x.users = *s.Value.Value
		case "items":
			x.items = *s.Value.Value
		case "interactions":
			x.rows = *s.Value.Value
			x.evidence = stating(p, s)
			x.evidence.Line = p.file.Line(fmt.Sprintf("sentences.%d", i))
		default:
			continue
		}
		out[name] = x
	}
	return out
}

// count reads a whole number; 0 is none.
func count(w printed.Word) float64 {
	x, err := strconv.ParseFloat(string(w), 64)
	if err != nil {
		return 0
	}
	return x
}

// counts finds data sets with the same users and items elsewhere, and other interactions.
func counts(p *paper, all []*paper) []Finding {
	mine := sizes(p)
	var out []Finding
	for _, name := range sortedKeys(mine) {
		for _, a := range mine[name] {
			f := Finding{Severity: Warning, Place: a.evidence.Place, Line: a.evidence.Line,
				Evidence: []Evidence{a.evidence}}
			for _, o := range all {
				if o == p {
					continue
				}
				for _, b := range sizes(o)[name] {
					known := a.users > 0 && a.items > 0 && a.rows > 0 && b.rows > 0
					if known && a.users == b.users && a.items == b.items && a.rows != b.rows {
						f.Evidence = append(f.Evidence, b.evidence)
					}
				}
			}
			if len(f.Evidence) > 1 && p.file.Paper != printed.Reference {
				f.Text = fmt.Sprintf("%s interactions are stated, but for the same %s users and %s items %s has %s",
					a.evidence.Value, digits(a.users, 0), digits(a.items, 0), f.Evidence[1].Place, f.Evidence[1].Value)
				out = append(out, f)
			}
		}
	}
	return out
}
