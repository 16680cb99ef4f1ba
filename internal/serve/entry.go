package serve

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// unreadable is the state of a run whose manifest cannot be read.
const unreadable = "unreadable"

// Run holds the list's data about one run.
type Run struct {
	Name    string // its folder, relative to the one that is served
	Task    string
	State   string
	Problem string // why it failed, or which of its files cannot be read
	Seed    uint64
	Started time.Time
	Seconds float64 // of all attempts
	Commit  string

	Method, Setting string
	Data, Recipe    string
	Rows            string // which rows were measured in the place of test rows
	Level           dataset.Level
	Short           string
	Metrics         []string
	Definitions     map[string]string
	Scores, Floors  []experiment.Scores
	Account         *experiment.Account

	mark mark
}

func (r *Run) broken(file string, err error) *Run {
	r.State = unreadable
	r.problem(file, err)
	return r
}

// problem adds a file that cannot be read, and the cause without the paths around it.
func (r *Run) problem(file string, err error) {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	text := err.Error()
	if at := strings.LastIndex(text, file+": "); at >= 0 {
		text = text[at+len(file)+2:]
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		text = "not JSON: " + text
	}
	if r.Problem != "" {
		r.Problem += "; "
	}
	r.Problem += file + ": " + text
}

func (r *Run) manifest(m run.Manifest) {
	r.Task, r.State, r.Seed = m.Task, m.Status, m.Seed
	if m.Error != "" {
		r.Problem = m.Error
	}
	for i, a := range m.Attempts {
		if i == 0 {
			r.Started = a.Started
		}
		r.Seconds += a.Seconds
		r.Commit = a.Build.Commit
	}
}

func (r *Run) outcome(o *experiment.Outcome[experiment.Data]) {
	r.Method, r.Setting, r.Short = o.Method, o.Setting, o.Short
	r.Data, r.Recipe, r.Rows, r.Level = o.Data.Name, o.Data.Recipe, o.Data.InPlace, o.Data.Level
	for _, m := range o.Metrics {
		r.Metrics = append(r.Metrics, m.String())
	}
	r.Definitions, r.Scores, r.Floors = o.Definitions, o.Evaluations, o.Floors
}

// Title returns the name of the run for a reader.
func (r *Run) Title() string {
	switch {
	case r.Method != "":
		return r.Method
	case r.Task != "":
		return r.Task
	}
	return r.Name
}

// Value holds a measured metric of a run with its floor.
type Value struct {
	Metric    string
	Value     float64 // a share; NaN: not measured
	Interval  *[2]float64
	Floor     float64 // the highest; NaN: there is none
	FloorName string
}

// Below reports whether a floor does at least as well.
func (v Value) Below() bool { return v.Value <= v.Floor }

// value returns a metric of the run's first row and its highest floor; "" means the first metric.
func (r *Run) value(metric string) Value {
	v := Value{Metric: metric, Value: math.NaN(), Floor: math.NaN()}
	if metric == "" && len(r.Metrics) > 0 {
		v.Metric = r.Metrics[0]
	}
	if len(r.Scores) > 0 {
		v.fill(r.Scores[0])
	}
	for _, f := range r.Floors {
		if x, ok := f.Values[v.Metric]; ok && !(x <= v.Floor) {
			v.Floor, v.FloorName = x, f.Name
		}
	}
	return v
}

func (v *Value) fill(s experiment.Scores) {
	if x, ok := s.Values[v.Metric]; ok {
		v.Value = x
	}
	if i, ok := s.Intervals[v.Metric]; ok {
		v.Interval = &i
	}
}

// Epsilons holds the claimed and the accounted epsilons of a run.
type Epsilons struct {
	Claimed   *privacy.Number // nil: it claims nothing
	Unit      string          // of the claim
	Accounted privacy.Number  // for that unit; without a claim of the worst unit
	Worst     privacy.Number  // of the whole run and its worst unit
	WorstUnit string
}

// epsilons returns nil for a run without an account.
func (r *Run) epsilons() *Epsilons {
	a := r.Account
	if a == nil {
		return nil
	}
	e := &Epsilons{Accounted: a.Total, Worst: a.Total}
	for _, u := range a.Units {
		if e.WorstUnit == "" && u.Total >= a.Total {
			e.WorstUnit = u.Unit
		}
	}
	if a.Claimed == nil {
		return e
	}
	e.Claimed, e.Unit = &a.Claimed.Eps, a.Claimed.Unit
	for _, u := range a.Units {
		if u.Unit == e.Unit {
			e.Accounted = u.Total
			break
		}
	}
	return e
}

// Holds reports whether the account is at most the claim, for the unit of the claim. It tolerates that claims are
// printed with few digits and accounts are rounded up.
func (e *Epsilons) Holds() bool {
	return e.Claimed != nil && float64(e.Accounted) <= float64(*e.Claimed)*(1+1e-6)
}

// fits reports whether every word of a text occurs somewhere in the run.
func (r *Run) fits(text string) bool {
	all := strings.ToLower(strings.Join([]string{r.Name, r.Task, r.Method, r.Setting, r.Data, r.Recipe, r.State,
		r.Problem}, "\n"))
	for _, w := range strings.Fields(strings.ToLower(text)) {
		if !strings.Contains(all, w) {
			return false
		}
	}
	return true
}
