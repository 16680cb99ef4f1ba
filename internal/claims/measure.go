package claims

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"privrec/internal/stats"
)

// confidence of the intervals, and with its rest the probability of one false verdict in a
// paper.
const confidence = 0.95

// guard is the number of seeds from which on their interval must agree with the users'.
const guard = 3

// measured is a contrast in percentage points, and the p of each of its directions. An interval
// without numbers could not be taken.
type measured struct {
	mean         float64 // NaN without results
	users, seeds stats.Interval
	above, below float64 // one-sided p of "above 0" and of "below 0"; 1 where nothing is tested
	basis        string  // of p
	least        float64 // no p of this test is lower
	lacks        string  // why nothing is tested
	trainings    int     // seeds that all results have
	level        string
	runs         []string
}

var noInterval = stats.Interval{Lo: math.NaN(), Hi: math.NaN()}

// value returns the contrast for results x of its terms, in percentage points.
func (c *contrast) value(x []float64) float64 {
	sum := -c.less
	if !c.ratio {
		for i, t := range c.terms {
			sum += t.factor * x[i]
		}
		return sum
	}
	n := float64(len(x) / 2)
	for i := 0; i < len(x); i += 2 {
		sum += 100 * (x[i]/x[i+1] - 1) / n
	}
	return sum
}

// slopes returns the derivative of value by each result.
func (c *contrast) slopes(x []float64) []float64 {
	out := make([]float64, len(x))
	for i, t := range c.terms {
		out[i] = t.factor
	}
	if c.ratio {
		n := float64(len(x) / 2)
		for i := 0; i < len(x); i += 2 {
			out[i], out[i+1] = 100/(n*x[i+1]), -100*x[i]/(n*x[i+1]*x[i+1])
		}
	}
	return out
}

// measure takes a contrast and tests both of its directions.
func (c *contrast) measure() (measured, error) {
	out := measured{mean: math.NaN(), users: noInterval, seeds: noInterval, above: 1, below: 1}
	var x []float64
	for _, t := range c.terms {
		out.level = max(out.level, t.of.Level)
		for _, r := range t.of.Runs {
			if !slices.Contains(out.runs, r) {
				out.runs = append(out.runs, r)
			}
		}
		if out.lacks == "" {
			out.lacks = t.of.Lacks
		}
		if v := t.of.Values[c.metric]; len(v) > 0 {
			x = append(x, stats.Mean(v))
		} else if out.lacks == "" {
			out.lacks = t.of.Label + " is not measured"
		}
	}
	if len(x) < len(c.terms) {
		return out, nil
	}
	out.mean = c.value(x)
	if math.IsNaN(out.mean) || math.IsInf(out.mean, 0) {
		out.mean, out.lacks = math.NaN(), "a result is 0, which has no ratio"
		return out, nil
	}
	users, seeds := c.byUser(), c.bySeed()
	out.trainings = len(seeds)
	var err error
	if len(seeds) >= guard {
		if out.seeds, err = interval(seeds); err != nil {
			return out, err
		}
	}
	if len(users) >= 2 {
		if out.users, err = interval(users); err != nil {
			return out, err
		}
	}
	if out.lacks != "" {
		return out, nil
	}
	return out, out.test(users, seeds)
}

// interval returns Student's interval; one of NaN where all values are equal, which says nothing of their spread.
func interval(x []float64) (stats.Interval, error) {
	i, err := stats.TInterval(x, confidence)
	if errors.Is(err, stats.ErrNoSpread) {
		return stats.Interval{Lo: math.NaN(), Hi: math.NaN(), Level: confidence}, nil
	}
	return i, err
}

// test takes p from the users, or without them from the seeds.
func (m *measured) test(users, seeds []float64) error {
	var t stats.Test
	var err error
	var least float64
	switch {
	case len(users) >= 2:
		m.basis = fmt.Sprintf("paired t over %d users", len(users))
		t, err = stats.PairedT(users, make([]float64, len(users)))
		if errors.Is(err, stats.ErrNoSpread) {
			m.basis = fmt.Sprintf("exact signs of %d users, who all differ by the same", len(users))
			t, err = stats.Sign(users, make([]float64, len(users)))
		}
		if errors.Is(err, stats.ErrNoDifference) {
			t.P, err = 1, nil
		}
		if err != nil {
			return err
		}
	case len(seeds) >= 2:
		least = math.Ldexp(1, -len(seeds))
		m.basis = fmt.Sprintf("exact signed ranks over %d seeds, p at least %.3g", len(seeds), least)
		if t, err = stats.Wilcoxon(seeds, make([]float64, len(seeds))); errors.Is(err, stats.ErrNoDifference) {
			t.P, err = 1, nil
		}
		if err != nil {
			return err
		}
	default:
		m.lacks = "one seed, and no scores of users"
		return nil
	}
	m.least = least
	switch {
	case m.mean > 0:
		m.above = t.P / 2
	case m.mean < 0:
		m.below = t.P / 2
	}
	return nil
}

// agrees reports whether the interval over seeds, if there is one, lies on the side of a sign.
func (m *measured) agrees(sign float64) bool {
	return math.IsNaN(m.seeds.Lo) || sign > 0 && m.seeds.Lo > 0 || sign < 0 && m.seeds.Hi < 0
}

// byUser returns values whose mean is the contrast and whose spread is that of its ratios of sums
// over users (Cochran, Sampling Techniques, 3rd ed. 1977, section 2.11): one for each user whom
// all results of a data set have, in percentage points. Users of two data sets are other users.
// A contrast that is no sum is taken to first order.
func (c *contrast) byUser() []float64 {
	have := map[string]int{} // results of a user, by data set and name
	of := map[string]int{}   // results by data set
	for _, t := range c.terms {
		u := t.of.Users[c.metric]
		if len(u.IDs) == 0 {
			return nil
		}
		of[t.data]++
		for _, id := range u.IDs {
			have[t.data+"\x00"+id]++
		}
	}
	index := map[string]int{} // of the users whom all results have
	for _, t := range c.terms {
		for _, id := range t.of.Users[c.metric].IDs {
			k := t.data + "\x00" + id
			if _, seen := index[k]; !seen && have[k] == of[t.data] {
				index[k] = len(index)
			}
		}
	}
	n := float64(len(index))
	x, num, den := make([]float64, len(c.terms)), make([]float64, len(c.terms)), make([]float64, len(c.terms))
	for i, t := range c.terms {
		u := t.of.Users[c.metric]
		for k, id := range u.IDs {
			if _, ok := index[t.data+"\x00"+id]; ok {
				num[i], den[i] = num[i]+u.Num[k], den[i]+u.Den[k]
			}
		}
		if den[i] == 0 {
			return nil // no user in common
		}
		x[i] = 100 * num[i] / den[i]
	}
	out := slices.Repeat([]float64{c.value(x)}, len(index))
	for i, slope := range c.slopes(x) {
		t := c.terms[i]
		u := t.of.Users[c.metric]
		for k, id := range u.IDs {
			if at, ok := index[t.data+"\x00"+id]; ok {
				out[at] += slope * 100 * (u.Num[k] - num[i]/den[i]*u.Den[k]) * n / den[i]
			}
		}
	}
	return out
}

// bySeed returns the contrast for every seed that all results have, in percentage points.
func (c *contrast) bySeed() (out []float64) {
	for _, seed := range c.terms[0].of.Seeds {
		x := make([]float64, 0, len(c.terms))
		for _, t := range c.terms {
			i, values := slices.Index(t.of.Seeds, seed), t.of.Values[c.metric]
			if i >= 0 && i < len(values) {
				x = append(x, values[i])
			}
		}
		if len(x) == len(c.terms) {
			out = append(out, c.value(x))
		}
	}
	return out
}
