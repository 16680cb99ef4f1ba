package lint

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/printed"
)

// doubt is the p-value from which on a private method that is better than without noise is no finding.
const doubt = 0.025

// twins finds private methods that are better than the same without noise, by more than the noise of the two numbers:
// that of the test users, of runs, or both where both are known. The first test is for normal means, with the largest
// variance of numbers from 0 to 1 and as if users of the two were different ones; the second one is Student's with a
// common variance. Differences are as small as digits allow. Above doubt nothing is found, and what is found is a
// warning where Bonferroni's bound over the table is below chance.
func twins(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		tests := 0
		for _, r := range t.rows {
			if twin := p.twin(t, r); twin != nil {
				tests += len(r.values)
			}
		}
		for _, r := range t.rows {
			twin := p.twin(t, r)
			if twin == nil {
				continue
			}
			f := Finding{Severity: Note, Place: r.place, Line: r.line}
			var says []string
			for _, v := range r.values {
				w := twin.in(v.Column)
				if w == nil || ofAttack(v) {
					continue
				}
				value, known := byNoise(p, t, v, *w)
				if !better(v, *w) || known && value >= doubt {
					continue
				}
				say := fmt.Sprintf("%s is %s, and %s without noise", v.Column, v.Number, w.Number)
				f.Evidence = append(f.Evidence, show(v), show(*w))
				if known {
					say += fmt.Sprintf(" (p = %s)", short(value))
					f.Evidence = append(f.Evidence, Evidence{Paper: p.file.Paper,
						Place: "computed: p-value of a difference in " + v.Column, Value: short(value)})
					if value*float64(tests) < chance {
						f.Severity = Warning
					}
				} else {
					say += " (no interval: neither the number of test cases nor a spread over runs is known)"
				}
				says = append(says, say)
			}
			if len(says) == 0 {
				continue
			}
			f.Text = fmt.Sprintf("%s is better than %s, the same without its noise: %s", r.method, twin.method,
				strings.Join(says, "; "))
			out = append(out, f)
		}
	}
	return out
}

// twin returns the row of the same method without noise, on the same data under what is set for both; nil if the method
// is not private, its epsilon is not finite, or the table has no such row.
func (p *paper) twin(t *table, r *row) *row {
	without := p.file.Twins[r.method]
	if without == "" || r.improvement || t.Kind != printed.Results || unlimited(r) {
		return nil
	}
	for _, o := range t.rows {
		if o.method == without && o.data == r.data && !o.improvement && within(o.Setting, r.Setting) {
			return o
		}
	}
	return nil
}

// unlimited reports whether a row's epsilon is infinite.
func unlimited(r *row) bool {
	for key, word := range r.Setting {
		if strings.HasPrefix(key, "eps") && strings.HasPrefix(strings.ToLower(string(word)), "inf") {
			return true
		}
	}
	return false
}

// ofAttack reports whether a number measures an attack: there noise is meant to help.
func ofAttack(v printed.Value) bool { return v.Metric.Is == "micro F1" }

// better reports whether every number that is printed as v is better than every one that is printed as w.
func better(v, w printed.Value) bool {
	if v.Metric.Lower {
		v, w = w, v
	}
	return exact(v).above(exact(w))
}

// byNoise returns the one-sided p-value of a difference in the direction of better numbers. known is false if neither
// the noise of users nor that of runs is known.
func byNoise(p *paper, t *table, v, w printed.Value) (value float64, known bool) {
	gap := exact(v).minus(exact(w))
	if v.Metric.Lower {
		gap = exact(w).minus(exact(v))
	}
	if gap.low <= 0 {
		return 1, true
	}
	if n := casesOf(t, v).Numbers; len(n) > 0 && v.Metric.Unit != printed.Plain {
		variance := 0.0
		for _, x := range []printed.Value{v, w} {
			a := math.Min(1, math.Max(0, exact(x).middle()))
			variance += a * (1 - a) / float64(n[0])
		}
		value, known = math.Erfc(gap.low/math.Sqrt(2*variance))/2, true
	}
	if v.Number.Spread != nil && w.Number.Spread != nil && p.file.Seeds > 1 {
		value, known = math.Max(value, pooled(v, w, p.file.Seeds)/2), true
	}
	return value, known
}
