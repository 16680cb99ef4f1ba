package eventlog

import (
	"slices"

	"privrec/internal/privacy"
)

// Reading holds a file as it reads if one of the account's assumptions does not hold.
type Reading struct {
	If   string // what is so instead, such as "records are shuffled"
	File *File
}

// reading holds the changed content of some events if an assumption about them does not hold.
type reading struct {
	instead string
	change  func(*Event)
	at      []int // the events
}

// otherwise records how trainings change if an assumption about them does not hold, and how to say it.
func (s *search) otherwise(plans []*plan, instead string, change func(*Event)) {
	k := slices.IndexFunc(s.readings, func(r reading) bool { return r.instead == instead })
	if k < 0 {
		k = len(s.readings)
		s.readings = append(s.readings, reading{instead: instead, change: change})
	}
	for _, p := range plans {
		s.readings[k].at = append(s.readings[k].at, p.at)
	}
}

// read returns the file with a reading applied.
func (r reading) read(f *File) Reading {
	other := *f
	other.Events = slices.Clone(f.Events)
	for _, i := range r.at {
		l := f.Events[i].log()
		other.Events[i].Log = &l
		r.change(&other.Events[i])
	}
	return Reading{r.instead, &other}
}

// The ways to say that an assumption does not hold.

func shuffles(e *Event) { e.Log.Loader = "shuffled" }

func noisesParts(e *Event) {
	no := false
	e.Log.Accumulated = &no
}

func clipsPer(u privacy.Unit) func(*Event) { return func(e *Event) { e.Log.ClipPer = u } }

func samples(u privacy.Unit) func(*Event) { return func(e *Event) { e.SampledUnit = u } }
