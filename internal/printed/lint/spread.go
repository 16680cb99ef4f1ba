package lint

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/printed"
)

// chance is the probability, over all comparisons of a table, with which sameInput reports
// numbers that differ by chance alone.
const chance = 0.01

// sameInput finds results of a method that saw the same data and differ by more than their
// printed spreads. The test is Student's, with a common variance: under the hypothesis both are
// means of runs of one experiment. Spreads are taken as large as their digits allow, differences
// as small; the bound on p is Bonferroni's.
func sameInput(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		pairs := sameData(p.file, t)
		tests := 0
		for _, x := range pairs {
			tests += len(x.numbers)
		}
		for _, x := range pairs {
			f := Finding{Severity: Warning, Place: x.b.place, Line: x.b.line}
			var says []string
			for _, n := range x.numbers {
				value := pooled(n[0], n[1], p.file.Seeds)
				if value*float64(tests) >= chance {
					continue
				}
				says = append(says, fmt.Sprintf("%s is %s, and %s there (p = %s)", n[1].Column, n[1].Number,
					n[0].Number, short(value)))
				f.Evidence = append(f.Evidence, show(n[0]), show(n[1]),
					Evidence{Paper: p.file.Paper, Place: "computed: p-value of a t-test on " + n[1].Column,
						Value: short(value)})
			}
			if len(says) == 0 {
				continue
			}
			f.Text = fmt.Sprintf("%s sees only %s here as in %s, but its results differ by more than %d runs "+
				"explain: %s",
				x.b.method, x.data, x.a.data, p.file.Seeds, strings.Join(says, "; "))
			out = append(out, f)
		}
	}
	return out
}

// rowPair is two rows of a method that saw the same data, with the numbers that both print with
// a spread.
type rowPair struct {
	a, b    *row
	data    string
	numbers [][2]printed.Value
}

// sameData lists the pairs of rows of a table whose method saw the same data.
func sameData(f *printed.File, t *table) []rowPair {
	var out []rowPair
	for i, b := range t.rows {
		data := f.Sees[b.method][b.data]
		for _, a := range t.rows[:i] {
			if data == "" || a.method != b.method || f.Sees[a.method][a.data] != data ||
				a.Setting.String() != b.Setting.String() || a.improvement || b.improvement {
				continue
			}
			x := rowPair{a: a, b: b, data: data}
			for _, v := range a.values {
				if w := b.in(v.Column); w != nil && v.Number.Spread != nil && w.Number.Spread != nil {
					x.numbers = append(x.numbers, [2]printed.Value{v, *w})
				}
			}
			out = append(out, x)
		}
	}
	return out
}

// pooled returns the two-sided p-value of Student's t-test between two means of n runs each.
func pooled(v, w printed.Value, n int) float64 {
	if n < 2 {
		return 1
	}
	gap := exact(v).minus(exact(w))
	least := math.Max(0, math.Max(gap.low, -gap.high))
	a, b := of(*v.Number.Spread, v.Metric.Unit).high, of(*w.Number.Spread, w.Metric.Unit).high
	t := least / math.Sqrt((a*a+b*b)/float64(n))
	return 2 * distuv.StudentsT{Sigma: 1, Nu: float64(2*n - 2)}.Survival(t)
}
