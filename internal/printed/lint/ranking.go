package lint

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"privrec/internal/printed"
)

// All statements here are linear in the metrics of single users, so they hold for means over
// users and over runs as well.

// ladder is one metric of a row at several cut-offs, the shortest list first.
type ladder []printed.Value

func (l ladder) at(k int) *printed.Value {
	for i := range l {
		if _, c := l[i].Metric.Family(); c == k {
			return &l[i]
		}
	}
	return nil
}

// ladders sorts the metrics of a row by family.
func ladders(r *row) map[string]ladder {
	out := map[string]ladder{}
	for _, v := range r.values {
		if family, k := v.Metric.Family(); k > 0 {
			out[family] = append(out[family], v)
		}
	}
	for _, l := range out {
		slices.SortFunc(l, func(a, b printed.Value) int { return cmp.Compare(cutoff(a), cutoff(b)) })
	}
	return out
}

func cutoff(v printed.Value) int {
	_, k := v.Metric.Family()
	return k
}

// ranked calls find with every row of results and its metrics at their cut-offs.
func ranked(p *paper, find func(t *table, r *row, l map[string]ladder) []Finding) []Finding {
	return eachResult(p, func(t *table, r *row) []Finding { return find(t, r, ladders(r)) })
}

// eachResult calls find with every row of results.
func eachResult(p *paper, find func(t *table, r *row) []Finding) []Finding {
	var out []Finding
	for _, t := range p.tables {
		for _, r := range t.rows {
			if !r.improvement && t.Kind == printed.Results {
				out = append(out, find(t, r)...)
			}
		}
	}
	return out
}

// order finds metrics that fall although the list gets longer. A longer list holds all that a
// shorter one found.
func order(p *paper, _ []*paper) []Finding {
	return ranked(p, func(_ *table, r *row, l map[string]ladder) []Finding {
		var out []Finding
		for _, family := range []string{"Recall", "HR", "MRR"} {
			for i := 1; i < len(l[family]); i++ {
				a, b := l[family][i-1], l[family][i]
				if exact(a).above(exact(b)) {
					out = append(out, Finding{
						Severity: Error, Place: r.place, Line: r.line, Evidence: []Evidence{show(a), show(b)},
						Text: fmt.Sprintf("%s is %s and %s is %s, but a longer list holds all that a shorter one found",
							a.Column, a.Number.Text, b.Column, b.Number.Text),
					})
				}
			}
		}
		return out
	})
}

// bounds finds metrics at one cut-off that contradict each other whatever was ranked.
func bounds(p *paper, _ []*paper) []Finding {
	return ranked(p, func(_ *table, r *row, l map[string]ladder) []Finding {
		var out []Finding
		// most reports a number that is above what other numbers allow.
		most := func(v *printed.Value, bound interval, because string, others ...*printed.Value) {
			if !exact(*v).above(bound) {
				return
			}
			f := Finding{Severity: Error, Place: r.place, Line: r.line, Evidence: []Evidence{show(*v)}}
			var names []string
			for _, o := range others {
				f.Evidence = append(f.Evidence, show(*o))
				names = append(names, o.Column+" "+o.Number.Text)
			}
			f.Text = fmt.Sprintf("%s is %s beside %s, but %s", v.Column, v.Number.Text, join(names), because)
			out = append(out, f)
		}
		for _, k := range cutoffs(l) {
			hit, recall, mrr, ndcg := l["HR"].at(k), l["Recall"].at(k), l["MRR"].at(k), l["NDCG"].at(k)
			precision, f1 := l["Precision"].at(k), l["F1"].at(k)
			if hit != nil {
				for _, low := range []struct {
					v   *printed.Value
					why string
				}{
					{recall, "recall is 0 without a hit and never above 1, so it is at most the hit rate"},
					{precision, "precision is 0 without a hit and never above 1, so it is at most the hit rate"},
					{mrr, "the reciprocal rank is 0 without a hit and never above 1, so it is at most the hit rate"},
					{ndcg, "NDCG is 0 without a hit and never above 1, so it is at most the hit rate"},
				} {
					if low.v != nil {
						most(low.v, exact(*hit), low.why, hit)
					}
				}
				if precision != nil {
					most(hit, exact(*precision).scaled(float64(k)),
						fmt.Sprintf("a list of %d with a hit has a precision of at least 1/%d", k, k), precision)
				}
				if mrr != nil {
					most(hit, exact(*mrr).scaled(float64(k)),
						fmt.Sprintf("a list of %d with a hit has a reciprocal rank of at least 1/%d", k, k), mrr)
				}
			}
			if f1 != nil && precision != nil && recall != nil && exact(*precision).low > 0 && exact(*recall).low > 0 {
				a, b := exact(*precision), exact(*recall)
				high := interval{0, 2 * a.high * b.high / (a.high + b.high)}
				most(f1, high, "a mean of F1 is at most the F1 of mean precision and mean recall", precision, recall)
			}
		}
		return out
	})
}

// cutoffs lists the cut-offs of a row.
func cutoffs(l map[string]ladder) []int {
	all := map[int]bool{}
	for _, vs := range l {
		for _, v := range vs {
			all[cutoff(v)] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// gainAt gives the worth of a hit at a rank, from 1, by metric.
var gainAt = map[string]func(rank int) float64{
	"MRR":  func(rank int) float64 { return 1 / float64(rank) },
	"NDCG": func(rank int) float64 { return 1 / math.Log2(float64(rank)+1) },
}

// oneItem finds metrics that do not fit a list with one relevant item. There, recall is the hit
// rate; MRR and NDCG are what the rank of the hit is worth. So between two cut-offs they rise by
// at least what the last rank is worth and at most what the first is worth, for each new hit.
func oneItem(p *paper, _ []*paper) []Finding {
	return ranked(p, func(t *table, r *row, l map[string]ladder) []Finding {
		hits := l["HR"]
		if len(hits) == 0 {
			hits = l["Recall"]
		}
		if t.Relevant != one && t.Relevant != inferredOne || len(hits) == 0 {
			return nil
		}
		var out []Finding
		for _, family := range []string{"MRR", "NDCG"} {
			f := Finding{Severity: Error, Place: r.place, Line: r.line}
			if t.Relevant == inferredOne {
				f.Severity = Warning
			}
			var says []string
			for _, s := range steps(hits, l[family]) {
				least, most := s.new.scaled(gainAt[family](s.to)), s.new.scaled(gainAt[family](s.from+1))
				span := interval{math.Max(0, least.low), math.Max(0, most.high)}
				if !s.rise.above(span) && !span.above(s.rise) {
					continue
				}
				says = append(says, s.say(span))
				for _, e := range s.evidence {
					if !slices.Contains(f.Evidence, e) {
						f.Evidence = append(f.Evidence, e)
					}
				}
			}
			if len(says) == 0 {
				continue
			}
			f.Text = fmt.Sprintf("%s does not fit %s for lists with one relevant item", family,
				hits[0].Metric.Is[:len(hits[0].Metric.Is)-len(fmt.Sprint(cutoff(hits[0])))-1])
			if t.Relevant == inferredOne {
				f.Text += ", which the paper does not state"
			}
			f.Text += ": " + join(says)
			out = append(out, f)
		}
		return out
	})
}

// Values of Block.Relevant.
const (
	one         = "one"
	inferredOne = "inferred one"
)

// step holds the change from one cut-off to the next.
type step struct {
	from, to  int      // cut-offs; from is 0 before the first
	new, rise interval // of the hit rate, and of the metric
	before    *printed.Value
	after     printed.Value
	evidence  []Evidence
}

// say describes a step that does not fit.
func (s step) say(allowed interval) string {
	low, high := digits(allowed.low*scale(s.after), s.after.Number.Digits+1),
		digits(allowed.high*scale(s.after), s.after.Number.Digits+1)
	if s.before == nil {
		return fmt.Sprintf("%s is %s and could be %s to %s", s.after.Column, s.after.Number.Text, low, high)
	}
	return fmt.Sprintf("%s to %s goes from %s to %s, and could rise by %s to %s", s.before.Column, s.after.Column,
		s.before.Number.Text, s.after.Number.Text, low, high)
}

// steps pairs the cut-offs that hit rate and metric share.
func steps(hits, metric ladder) []step {
	var out []step
	var lastHit, last *printed.Value
	from := 0
	for i := range metric {
		k := cutoff(metric[i])
		h := hits.at(k)
		if h == nil {
			continue
		}
		s := step{from: from, to: k, new: exact(*h), rise: exact(metric[i]), before: last, after: metric[i]}
		if last != nil {
			s.new, s.rise = s.new.minus(exact(*lastHit)), s.rise.minus(exact(*last))
			s.evidence = []Evidence{show(*lastHit), show(*h), show(*last), show(metric[i])}
		} else {
			s.evidence = []Evidence{show(*h), show(metric[i])}
		}
		out = append(out, s)
		lastHit, last, from = h, &metric[i], k
	}
	return out
}
