package lint

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/printed"
)

// grimID and the other names of rules stand in findings, and in what rules could not decide.
const (
	grimID   = "grim"
	oneRunID = "one-run"
	twinID   = "private-better"
)

// Reasons for which a number cannot be decided.
const (
	noZeroOne   = "no mean of 0 and 1"
	noCases     = "how many cases is not stated"
	noRuns      = "how many runs is not stated"
	tooFew      = "too few digits for so many cases"
	tooMany     = "more cases or digits than are counted here"
	noTwin      = "no row without noise in the table"
	attackerOwn = "a measure of an attack"
)

// mean is a printed mean of zeros and ones: over cases of one run, and over runs.
type mean struct {
	printed.Value
	cases   printed.Tested
	runs    int
	assumed []string // what the paper does not state of that
}

// zeroOne returns a number as a mean of zeros and ones. why says what it lacks for that; it is empty for such a mean.
// A hit rate is one, recall where one item can be found, and micro F1 where every user has one class, as there it is
// the share of right answers.
func zeroOne(p *paper, t *table, v printed.Value) (m mean, why string) {
	m = mean{Value: v, cases: casesOf(t, v), runs: p.file.Seeds}
	family, _ := v.Metric.Family()
	switch {
	case v.Metric.Unit != printed.Share && v.Metric.Unit != printed.Percent:
		return m, noZeroOne
	case family == "HR":
	case v.Metric.Is == "micro F1":
		m.assumed = append(m.assumed, "F1 is the share of users guessed right")
	case family == "Recall" && t.Relevant == one:
	case family == "Recall" && t.Relevant == inferredOne:
		m.assumed = append(m.assumed, "one item of each list is relevant")
	default:
		return m, noZeroOne
	}
	if m.cases.Inferred {
		m.assumed = append(m.assumed, "there are "+m.cases.String()+" cases")
	}
	switch {
	case len(m.cases.Numbers) == 0:
		return m, noCases
	case m.runs == 0:
		return m, noRuns
	}
	for _, n := range m.cases.Numbers {
		switch all := int64(n) * int64(m.runs); {
		case all >= units(v):
			return m, tooFew
		case all > mostCases || units(v) > mostUnits:
			return m, tooMany
		}
	}
	return m, ""
}

// mostCases and mostUnits bound what is counted, so that products fit 64 bits and tables of counts stay small.
const (
	mostCases = 1_000_000
	mostUnits = 1_000_000_000_000
)

// casesOf returns the number of cases behind a number: that of its column, or else of its table.
func casesOf(t *table, v printed.Value) printed.Tested {
	if len(v.Metric.Tested.Numbers) > 0 {
		return v.Metric.Tested
	}
	return t.Tested[v.Data]
}

// units returns how many units of its last printed digit are in a share of one.
func units(v printed.Value) int64 {
	digits := v.Number.Digits
	if v.Metric.Unit == printed.Percent {
		digits += 2
	}
	return int64(math.Round(math.Pow10(min(digits, 17))))
}

// below returns the largest k for which k/n is at most what is printed.
func below(v printed.Value, n int64) int64 {
	last := int64(math.Round(*v.Number.Value * math.Pow10(v.Number.Digits)))
	return last * n / units(v)
}

// possible reports whether a share of n cases can be printed as a number is. A share halfway between two roundings
// can be printed as either.
func possible(v printed.Value, n int64) bool {
	d := units(v)
	last := int64(math.Round(*v.Number.Value * math.Pow10(v.Number.Digits)))
	for k := below(v, n); k <= below(v, n)+1; k++ {
		if gap := k*d - last*n; 2*max(gap, -gap) <= n {
			return true
		}
	}
	return false
}

// grim finds means of zeros and ones that no whole number of cases gives (Brown and Heathers, "The GRIM Test", Social
// Psychological and Personality Science 2017).
func grim(p *paper, _ []*paper) []Finding {
	return eachResult(p, func(t *table, r *row) []Finding {
		var out []Finding
		for _, v := range r.values {
			m, why := zeroOne(p, t, v)
			if why != "" || m.printable() {
				continue
			}
			f := Finding{Severity: Error, Place: v.Place(), Line: v.Line, Evidence: []Evidence{show(v)}}
			f.Text = fmt.Sprintf("%s is no share of %s", v.Number.Text, m.of())
			if len(m.assumed) > 0 {
				f.Severity = Warning
				f.Text += ", if " + join(m.assumed)
			}
			n := int64(m.cases.Numbers[len(m.cases.Numbers)-1] * m.runs)
			k := below(v, n)
			f.Text += fmt.Sprintf(": %d and %d of %d are %s and %s", k, k+1, n, m.share(k, n), m.share(k+1, n))
			f.Evidence = append(f.Evidence, Evidence{Paper: p.file.Paper, Place: "computed: the shares beside it",
				Value: m.share(k, n) + ", " + m.share(k+1, n)})
			out = append(out, f)
		}
		return out
	})
}

// printable reports whether some number of cases can give the mean.
func (m mean) printable() bool {
	for _, n := range m.cases.Numbers {
		if possible(m.Value, int64(n)*int64(m.runs)) {
			return true
		}
	}
	return false
}

// of says "188 or 189 cases in each of 5 runs".
func (m mean) of() string {
	if m.runs == 1 {
		return m.cases.String() + " cases in one run"
	}
	return fmt.Sprintf("%s cases in each of %d runs", m.cases, m.runs)
}

// share shows k of n in the unit of the number, with two more digits than it has.
func (m mean) share(k, n int64) string {
	return digits(float64(k)/float64(n)*scale(m.Value), m.Number.Digits+2)
}

// surely is the probability with which oneRun finds a table of means over several runs.
const surely = 1e-6

// oneRun finds tables whose means over several runs are nearly all shares of the cases of one. The sum over s runs is a
// multiple of s once in s times, so that few means are. Equal numbers count once.
func oneRun(p *paper, _ []*paper) []Finding {
	var out []Finding
	for _, t := range p.tables {
		if t.Kind != printed.Results {
			continue
		}
		var all []mean
		for _, r := range t.rows {
			for _, v := range r.values {
				m, why := zeroOne(p, t, v)
				again := slices.ContainsFunc(all, func(o mean) bool { return o.Number.Text == v.Number.Text })
				if why == "" && m.runs > 1 && !r.improvement && !again {
					all = append(all, m)
				}
			}
		}
		if f, found := asOneRun(t, all); found {
			f.Line = p.file.Line(fmt.Sprintf("blocks.%d", p.index(t)))
			out = append(out, f)
		}
	}
	return out
}

// asOneRun looks for one number of cases whose shares the means are.
func asOneRun(t *table, all []mean) (f Finding, found bool) {
	if len(all) == 0 {
		return f, false
	}
	for _, n := range all[0].cases.Numbers {
		hits, expected := 0, 0.0
		var q []float64
		known := map[int64]float64{}
		for _, m := range all {
			if possible(m.Value, int64(n)) {
				hits++
			}
			d := units(m.Value)
			if known[d] == 0 {
				known[d] = coarse(int64(n), int64(m.runs), d)
			}
			q, expected = append(q, known[d]), expected+known[d]
		}
		value := tail(q, hits)
		if value >= surely {
			continue
		}
		v := all[0]
		return Finding{Severity: Warning, Place: t.Name(),
			Text: fmt.Sprintf("%d of %d different numbers are shares of %d cases, as of one run; of means over %d "+
				"runs about %.0f would be (p = %s)", hits, len(all), n, v.runs, expected, short(value)),
			Evidence: []Evidence{{Paper: v.Paper, Place: fmt.Sprintf("computed: numbers that are shares of %d", n),
				Value: fmt.Sprintf("%d of %d", hits, len(all))}, {Paper: v.Paper, Place: "runs",
				Value: fmt.Sprint(v.runs)}}}, true
	}
	return f, false
}

// coarse returns the share of means of n cases and some runs that are printed as the share of n cases is, among those
// with d units in one.
func coarse(n, runs, d int64) float64 {
	printed := map[int64]bool{} // in the last digit, halves rounded up
	for k := range n + 1 {
		printed[(2*k*d+n)/(2*n)] = true
	}
	hits, all := 0, n*runs
	for k := range all + 1 {
		if printed[(2*k*d+all)/(2*all)] {
			hits++
		}
	}
	return float64(hits) / float64(all+1)
}

// tail returns the probability of at least so many hits among independent ones with the given probabilities.
func tail(q []float64, hits int) float64 {
	law := make([]float64, len(q)+1) // of the number of hits
	law[0] = 1
	for i, x := range q {
		for k := i + 1; k > 0; k-- {
			law[k] = law[k]*(1-x) + law[k-1]*x
		}
		law[0] *= 1 - x
	}
	sum := 0.0
	for _, x := range law[hits:] {
		sum += x
	}
	return sum
}
