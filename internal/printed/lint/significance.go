package lint

import (
	"fmt"
	"math"
	"regexp"

	"privrec/internal/printed"
)

// exactTests are tests whose p-value is a count of equally likely sign patterns.
var exactTests = regexp.MustCompile(`(?i)\b(sign|wilcoxon|permutation|randomi[sz]ation|exact)\b`)

// significance finds p-values that a test over the runs cannot reach. Under the null hypothesis
// the n differences have each of 2^n patterns of signs with equal probability, so no test that
// assumes no more than that goes below 1/2^n, two-sided 2/2^n.
func significance(p *paper, _ []*paper) []Finding {
	var out []Finding
	for i, t := range p.tables {
		n := p.file.Seeds
		if t.Test == nil || n == 0 || t.Test.Below.Value == nil {
			continue
		}
		one := math.Pow(2, -float64(n))
		stated := *t.Test.Below.Value
		if stated > 2*one || stated <= 0 {
			continue
		}
		f := Finding{
			Place: t.Name(), Line: p.file.Line(fmt.Sprintf("blocks.%d.test", i)),
			Evidence: []Evidence{
				{Paper: p.file.Paper, Place: t.Name() + ", " + t.Test.Name, Value: "p < " + t.Test.Below.Text},
				{Paper: p.file.Paper, Place: "runs", Value: fmt.Sprint(n)},
				{Paper: p.file.Paper, Place: "computed: least two-sided p-value of an exact test",
					Value: short(2 * one)},
				{Paper: p.file.Paper, Place: "computed: least one-sided p-value of an exact test", Value: short(one)},
			},
		}
		least := fmt.Sprintf("with %d pairs an exact test (sign, Wilcoxon, permutation) cannot go below %s two-sided "+
			"or %s one-sided", n, short(2*one), short(one))
		switch {
		case exactTests.MatchString(t.Test.Name) && stated <= one:
			f.Severity = Error
			f.Text = fmt.Sprintf("p < %s by %s over %d runs is impossible: %s", t.Test.Below.Text, article(t.Test.Name),
				n, least)
		case exactTests.MatchString(t.Test.Name):
			f.Severity = Warning
			f.Text = fmt.Sprintf("p < %s by %s over %d runs holds one-sided at best: %s", t.Test.Below.Text,
				article(t.Test.Name), n, least)
		default:
			f.Severity = Warning
			f.Text = fmt.Sprintf("p < %s is stated by %s, and %d runs: if the pairs are the runs, %s, so all %s rest "+
				"on the assumption that %d differences are normal",
				t.Test.Below.Text, article(t.Test.Name), n, least, plural(stars(t), "star"), n)
		}
		out = append(out, f)
	}
	return out
}

// stars counts the numbers that a test is about.
func stars(t *table) int {
	n := 0
	for _, r := range t.rows {
		if r.improvement {
			n += len(r.values)
		}
	}
	return n
}

func article(name string) string { return "a " + name }

// short shows a probability without trailing zeros.
func short(x float64) string { return fmt.Sprintf("%.4g", x) }

// sentences holds numbers in sentences against the tables that they are about.
func sentences(p *paper, _ []*paper) []Finding {
	var out []Finding
	for i, s := range p.file.Sentences {
		f := Finding{Severity: Error, Place: s.Where, Line: p.file.Line(fmt.Sprintf("sentences.%d", i)),
			Evidence: []Evidence{stating(p, s)}}
		var v *printed.Value
		switch {
		case s.Same != nil:
			v = cell(p.table(s.Same.Table), s.Same.Metric, s.Same.Data)
			if v != nil && !exact(*v).meets(of(s.Value, s.Unit)) {
				f.Text = fmt.Sprintf("%s: the sentence says %s and %s prints %s", s.About, s.Value.Text, v.Block,
					v.Number.Text)
			}
		case s.Best != nil:
			v = best(p, *s.Best)
			if v != nil && !exact(*v).meets(of(s.Value, s.Unit)) {
				f.Text = fmt.Sprintf("%s: the sentence says %s, but %s is %s", s.About, s.Value.Text, v.Place(),
					v.Number.Text)
			}
		case s.Columns != nil:
			if t := p.table(s.Columns.Table); t != nil && *s.Value.Value != float64(len(t.Columns)) {
				f.Text = fmt.Sprintf("%s: the sentence says %s, and %s has %d", s.About, s.Value.Text, t.Name(),
					len(t.Columns))
			}
		}
		if f.Text == "" {
			continue
		}
		if v != nil {
			f.Evidence = append(f.Evidence, show(*v))
		}
		out = append(out, f)
	}
	return out
}

// cell returns the number of a data set in a column.
func cell(t *table, column, data string) *printed.Value {
	if t == nil {
		return nil
	}
	for _, r := range t.rows {
		if r.data == data && !r.improvement {
			return r.in(column)
		}
	}
	return nil
}

// best returns the best number of a column on a data set.
func best(p *paper, b printed.Best) *printed.Value {
	var out *printed.Value
	for _, n := range b.Tables {
		t := p.table(n)
		if t == nil {
			continue
		}
		for _, r := range t.rows {
			v := r.in(b.Metric)
			if v == nil || r.improvement || r.data != b.Data {
				continue
			}
			if out == nil || exact(*v).middle() > exact(*out).middle() != v.Metric.Lower {
				out = v
			}
		}
	}
	return out
}
