package baseline

import (
	"fmt"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/run"
)

// SessionRule says where a user's sequence is divided into sessions. One of its keys is set.
type SessionRule struct {
	Gap    int64 `yaml:"gap"`    // seconds: a session begins after a longer pause
	Window int64 `yaml:"window"` // in the unit of the data's times: a session begins with every multiple of it
	Rows   int   `yaml:"rows"`   // a session is so many rows, for data that have an order and no times
}

// check reports a rule that divides nothing, or twice.
func (r SessionRule) check(v *config.Checker) {
	v.Check(r.Gap >= 0, "data.sessions.gap", "must be at least 0, got %d", r.Gap)
	v.Check(r.Window >= 0, "data.sessions.window", "must be at least 0, got %d", r.Window)
	v.Between("data.sessions.rows", r.Rows, 0, 1_000_000)
	set := 0
	for _, on := range []bool{r.Gap != 0, r.Window != 0, r.Rows != 0} {
		if on {
			set++
		}
	}
	v.Check(set == 1, "data.sessions", "must set one of gap, window and rows, has %d", set)
}

// earliest is a time that is surely in seconds since 1970, and no place or day.
const earliest = 100_000_000 // March 1973

// fits fails on data whose times the rule cannot use.
func (r SessionRule) fits(d *dataset.Sequential) error {
	if r.Rows > 0 {
		return nil
	}
	if d.Times == nil {
		return &run.UsageError{Message: fmt.Sprintf("data.sessions: recipe %q of %s has no times", d.Recipe, d.Name), Fix: "data.sessions={rows: 20} divides by the number of rows"}
	}
	last := int64(0)
	for _, part := range [][][]int64{d.Times.Train, d.Times.Test} {
		for _, times := range part {
			for _, t := range times {
				last = max(last, t)
			}
		}
	}
	if (r.Gap > 0 || r.Window > 1) && last < earliest {
		return &run.UsageError{Message: fmt.Sprintf("data.sessions: the times of %s go up to %d, so they are not seconds but places in an order, or days", d.Name, last),
			Fix: "data.sessions={rows: 20} divides by the number of rows; {window: 1} divides by days where times are days"}
	}
	return nil
}

// begins returns, for every row of a user's part, whether it begins a session. The first one does.
// times are nil where the rule needs none.
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

// interval returns the number of the window that a time lies in, also before 1970.
func interval(t, w int64) int64 {
	n := t / w
	if t%w < 0 {
		n--
	}
	return n
}
