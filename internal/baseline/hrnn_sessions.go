package baseline

import (
	"fmt"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/run"
)

// SessionRule sets where a user's sequence is divided into sessions, by exactly one of gap, window and rows.
type SessionRule struct {
	Gap int64 `yaml:"gap"` // longest pause within a session, in seconds; a longer one begins a new session
	// length of a session in the unit of the data's times; a new one begins at every multiple of it
	Window int64 `yaml:"window"`
	Rows   int   `yaml:"rows" limit:"0..1000000"` // rows in a session, for data that have an order and no times
	// unit of the data's times: seconds, milliseconds, microseconds or nanoseconds; left out: told by how large they
	// are
	Unit string `yaml:"unit,omitempty" limit:"seconds|milliseconds|microseconds|nanoseconds?"`
}

// check reports a rule that divides nothing, or by two criteria.
func (r SessionRule) check(v *config.Checker) {
	v.Check(r.Gap >= 0, "data.sessions.gap", "must be at least 0, got %d", r.Gap)
	v.Check(r.Window >= 0, "data.sessions.window", "must be at least 0, got %d", r.Window)
	set := 0
	for _, on := range []bool{r.Gap != 0, r.Window != 0, r.Rows != 0} {
		if on {
			set++
		}
	}
	v.Check(set == 1, "data.sessions", "must set one of gap, window and rows, has %d", set)
	if r.Unit != "" {
		v.Check(r.Rows == 0, "data.sessions.unit", "has no effect on sessions of so many rows, must be left out")
	}
}

// on returns the rule for the times of data, with the gap in their unit, and a sentence for readers about the resulting
// sessions. It fails on data whose times it cannot use, and on data that it divides into sessions of one row.
func (r SessionRule) on(d *dataset.Sequential) (SessionRule, string, error) {
	var unit timeUnit
	if r.Rows == 0 {
		if d.Times == nil {
			return r, "", &run.UsageError{Message: fmt.Sprintf("data.sessions: recipe %q of %s has no times", d.Recipe,
				d.Name), Fix: "data.sessions={rows: 20} divides by the number of rows"}
		}
		var err error
		if unit, err = r.unitOf(d); err != nil {
			return r, "", err
		}
	}
	by := fmt.Sprintf("%d rows", r.Rows)
	switch told := "as their size tells"; {
	case r.Gap > 0:
		if r.Unit != "" {
			told = "as data.sessions.unit says"
		}
		by = fmt.Sprintf("pauses of more than %d seconds; times are in %s, %s", r.Gap, unit.name, told)
		r.Gap = unit.times(r.Gap)
	case r.Window > 1 && unit.name != "":
		by = fmt.Sprintf("windows of %d %s", r.Window, unit.name)
	case r.Window > 0:
		by = fmt.Sprintf("windows of %d", r.Window)
	}
	sessions, rows := r.count(d)
	if sessions == rows {
		return r, "", &run.UsageError{Message: fmt.Sprintf(
			"data.sessions: %s have %d sessions in %d training rows, by %s: no session has a row to learn from another",
			d.Name, sessions, rows, by),
			Fix: "a longer data.sessions.gap or data.sessions.window joins rows; data.sessions={rows: 20} divides by " +
				"the number of rows"}
	}
	return r, fmt.Sprintf("%d sessions in %d training rows, by %s", sessions, rows, by), nil
}

// count returns the numbers of sessions and of rows of the training part.
func (r SessionRule) count(d *dataset.Sequential) (sessions, rows int) {
	for u, items := range d.Train {
		var times []int64
		if d.Times != nil {
			times = d.Times.Train[u]
		}
		for _, begins := range r.begins(len(items), times) {
			if rows++; begins {
				sessions++
			}
		}
	}
	return sessions, rows
}

// begins tells for every row of a user's part whether it begins a session. The first one does. times is nil if the rule
// needs none.
func (r SessionRule) begins(rows int, times []int64) []bool {
	out := make([]bool, rows)
	for i := range out {
		switch {
		case i == 0:
			out[i] = true
		case r.Rows > 0:
			out[i] = i%r.Rows == 0
		case r.Gap > 0:
			out[i] = times[i]-times[i-1] > r.Gap
		default:
			out[i] = interval(times[i], r.Window) != interval(times[i-1], r.Window)
		}
	}
	return out
}

// interval returns the number of the window that contains a time, also before 1970.
func interval(t, w int64) int64 {
	n := t / w
	if t%w < 0 {
		n--
	}
	return n
}
