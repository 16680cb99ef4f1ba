package baseline

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/run"
)

// timeUnit is a unit of times since 1970.
type timeUnit struct {
	name string
	each int64 // how many are a second
}

// timeUnits lists the possible units of times. Each is a thousandth of the one before it.
var timeUnits = []timeUnit{{"seconds", 1}, {"milliseconds", 1_000}, {"microseconds", 1_000_000},
	{"nanoseconds", 1_000_000_000}}

// unitNames lists the names of the units.
func unitNames() (names []string) {
	for _, u := range timeUnits {
		names = append(names, u.name)
	}
	return names
}

// earliest is the smallest number that is surely a time in seconds since 1970, and no place or day. A thousand times as
// many are surely milliseconds, so every time from here on has one unit.
const earliest = 100_000_000 // March 1973

// unitBySize returns the unit of a time after March 1973. ok is false for a smaller number.
func unitBySize(t int64) (unit timeUnit, ok bool) {
	for _, u := range timeUnits {
		if t >= earliest*u.each {
			unit, ok = u, true
		}
	}
	return unit, ok
}

// times returns the number of units in so many seconds, capped at the largest integer.
func (u timeUnit) times(seconds int64) int64 {
	if seconds > math.MaxInt64/u.each {
		return math.MaxInt64
	}
	return seconds * u.each
}

// unitOf returns the unit of the times of data: the one that the rule states, or else the one that their size shows.
// Windows of 1 need no unit, and get none if the times do not show it. It fails if the times show no unit, or two.
func (r SessionRule) unitOf(d *dataset.Sequential) (timeUnit, error) {
	for _, u := range timeUnits {
		if u.name == r.Unit {
			return u, nil
		}
	}
	last := int64(math.MinInt64)
	var one timeUnit // of the first time that has one
	var first int64
	for _, part := range [][][]int64{d.Times.Train, d.Times.Valid, d.Times.Test} {
		for _, times := range part {
			for _, t := range times {
				last = max(last, t)
				unit, ok := unitBySize(t)
				switch {
				case !ok:
				case one.name == "":
					one, first = unit, t
				case one != unit && r.Gap > 0:
					return one, &run.UsageError{Message: fmt.Sprintf(
						"data.sessions: the times of %s are not in one unit: %d looks like %s, %d like %s", d.Name,
						first, one.name, t, unit.name),
						Fix: "write all times in one unit; if they are, data.sessions.unit=" + one.name +
							" says which one"}
				}
			}
		}
	}
	if one.name == "" && (r.Gap > 0 || r.Window > 1) {
		return one, &run.UsageError{Message: fmt.Sprintf("data.sessions: the times of %s go up to %d, so they are "+
			"not seconds since 1970 but places in an order, or days", d.Name, last),
			Fix: "data.sessions={rows: 20} divides by the number of rows; {window: 1} divides by days where times " +
				"are days; " +
				"where they count from a later beginning, data.sessions.unit states their unit: " +
				strings.Join(unitNames(), ", ")}
	}
	return one, nil
}
