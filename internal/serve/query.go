package serve

import (
	"cmp"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/report"
	"privrec/internal/run"
)

// query selects the runs of a list, and their order.
type query struct {
	Text, Task, Data, Level, State, Private string // empty: any
	Metric                                  string // empty: the first of each run
	Sort                                    string // name of a column, after "-" the largest first
}

// maxText bounds every part of a query.
const maxText = 300

// The values of query.Private.
const (
	privateClaim = "claim" // runs that claim an epsilon
	privateHolds = "holds" // those that hold it
	privateNot   = "exceeds"
	privateNone  = "none" // those that claim nothing
)

// states are the values of query.State.
var states = []string{run.StatusDone, run.StatusRunning, run.StatusInterrupted, run.StatusKilled, run.StatusFailed,
	unreadable}

// levels are the values of query.Level.
var levels = []string{"A", "B", "C", "D"}

// parseQuery reads the parameters of a list. It refuses unknown ones, and values that no run can have.
func parseQuery(v url.Values) (q query, err error) {
	for key, into := range map[string]*string{
		"q": &q.Text, "task": &q.Task, "data": &q.Data, "level": &q.Level, "state": &q.State,
		"privacy": &q.Private, "metric": &q.Metric, "sort": &q.Sort,
	} {
		if *into, err = only(v, key); err != nil {
			return q, err
		}
	}
	if err := known(v, "q", "task", "data", "level", "state", "privacy", "metric", "sort", "run"); err != nil {
		return q, err
	}
	for _, c := range []struct {
		key, value string
		want       []string
	}{
		{"level", q.Level, levels}, {"state", q.State, states},
		{"privacy", q.Private, []string{privateClaim, privateHolds, privateNot, privateNone}},
		{"sort", strings.TrimPrefix(q.Sort, "-"), columnNames()},
	} {
		if c.value != "" && !slices.Contains(c.want, c.value) {
			return q, fmt.Errorf("%s is %q, want one of %s", c.key, c.value, strings.Join(c.want, ", "))
		}
	}
	return q, nil
}

// only returns the one value of a parameter, "" if it is not given.
func only(v url.Values, key string) (string, error) {
	switch {
	case len(v[key]) > 1:
		return "", fmt.Errorf("%s is given %d times, want it once", key, len(v[key]))
	case len(v.Get(key)) > maxText:
		return "", fmt.Errorf("%s has %d bytes, want at most %d", key, len(v.Get(key)), maxText)
	}
	return v.Get(key), nil
}

// known refuses parameters with other names.
func known(v url.Values, names ...string) error {
	for key := range v {
		if !slices.Contains(names, key) {
			return fmt.Errorf("there is no parameter %q; there are %s", key, strings.Join(names, ", "))
		}
	}
	return nil
}

// values returns the query as parameters, without empty ones.
func (q query) values() url.Values {
	v := url.Values{}
	for key, text := range map[string]string{
		"q": q.Text, "task": q.Task, "data": q.Data, "level": q.Level, "state": q.State,
		"privacy": q.Private, "metric": q.Metric, "sort": q.Sort,
	} {
		if text != "" {
			v.Set(key, text)
		}
	}
	return v
}

// link returns the address of the list for a query.
func (q query) link() string {
	if v := q.values(); len(v) > 0 {
		return "/?" + v.Encode()
	}
	return "/"
}

// choose returns the runs selected by a query, in its order. It does not change its argument.
func (q query) choose(all []*Run) []*Run {
	var out []*Run
	for _, r := range all {
		if q.has(r) {
			out = append(out, r)
		}
	}
	name, down := strings.CutPrefix(q.Sort, "-")
	for _, c := range columns {
		if c.name == name && c.order != nil {
			sortRuns(out, q, c, down)
		}
	}
	return out
}

func (q query) has(r *Run) bool {
	// A form of a page sends what the page shows.
	is := func(want, got string) bool { return want == "" || want == got || want == report.Visible(got) }
	if !is(q.Task, r.Task) || !is(q.Data, r.Data) || !is(q.State, r.State) || !is(q.Level, level(r.Level)) ||
		!r.fits(q.Text) {
		return false
	}
	if q.Metric != "" && !slices.Contains(r.Metrics, q.Metric) {
		return false
	}
	e := r.epsilons()
	claims := e != nil && e.Claimed != nil
	switch q.Private {
	case privateClaim:
		return claims
	case privateHolds:
		return claims && e.Holds()
	case privateNot:
		return claims && !e.Holds()
	case privateNone:
		return !claims
	}
	return true
}

// level returns a level as text, "" if there is none.
func level(l dataset.Level) string {
	if l == 0 {
		return ""
	}
	return l.String()
}

// key is the sort key of a column. Runs without a value come last in both directions.
type key struct {
	text    string
	number  float64
	missing bool
}

func number(x float64) key {
	return key{number: x, missing: math.IsNaN(x)}
}

func text(s string) key { return key{text: s, missing: s == ""} }

// sortRuns sorts runs that are sorted by name. Equal ones keep that order.
func sortRuns(runs []*Run, q query, c column, down bool) {
	keys := make(map[*Run]key, len(runs))
	for _, r := range runs {
		keys[r] = c.order(q, r)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int {
		x, y := keys[a], keys[b]
		if x.missing != y.missing {
			return map[bool]int{true: 1, false: -1}[x.missing]
		}
		by := cmp.Or(report.Natural(x.text, y.text), cmp.Compare(x.number, y.number))
		if down {
			return -by
		}
		return by
	})
}
