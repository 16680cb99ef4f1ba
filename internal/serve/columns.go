package serve

import (
	"fmt"
	"math"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/report"
	"privrec/internal/run"
)

// column is a column of the list, with its sort key and the form of its cells.
type column struct {
	name, head string
	right      bool
	order      func(q query, r *Run) key
	cell       func(p *report.Sheet, q query, r *Run)
}

// columns lists the columns, after the box that chooses a run.
var columns []column = listColumns()

func listColumns() []column {
	return []column{
		{"name", "run", false, func(_ query, r *Run) key { return text(r.Title() + "\x00" + r.Name) }, cellName},
		{"task", "task", false, func(_ query, r *Run) key { return text(r.Task) },
			func(p *report.Sheet, _ query, r *Run) { p.Put("%s", r.Task) }},
		{"data", "data", false, func(_ query, r *Run) key { return text(r.Data) }, cellData},
		{"seed", "seed", true, func(_ query, r *Run) key { return key{number: float64(r.Seed), missing: r.Task == ""} },
			func(p *report.Sheet, _ query, r *Run) { p.Put("%v", r.Seed) }},
		{"state", "state", false, func(_ query, r *Run) key { return text(r.State) }, cellState},
		{"metric", "metric, in percent", true, func(q query, r *Run) key {
			v := r.value(q.Metric)
			return key{text: v.Metric, number: v.Value, missing: math.IsNaN(v.Value)}
		}, cellMetric},
		{"floor", "highest floor", true, func(q query, r *Run) key {
			v := r.value(q.Metric)
			return key{text: v.Metric, number: v.Floor, missing: math.IsNaN(v.Floor)}
		}, cellFloor},
		{"level", "level", false, func(_ query, r *Run) key { return text(level(r.Level)) }, cellLevel},
		{"claimed", "claimed ε", true, func(_ query, r *Run) key {
			if e := r.epsilons(); e != nil && e.Claimed != nil {
				return number(float64(*e.Claimed))
			}
			return key{missing: true}
		}, cellClaimed},
		{"accounted", "accounted ε", true, func(_ query, r *Run) key {
			if e := r.epsilons(); e != nil {
				return number(float64(e.Accounted))
			}
			return key{missing: true}
		}, cellAccounted},
		{"time", "time", true, func(_ query, r *Run) key { return key{number: r.Seconds, missing: r.Seconds == 0} },
			cellTime},
		{"started", "begun (UTC)", false, func(_ query, r *Run) key {
			return key{number: float64(r.Started.UnixMilli()), missing: r.Started.IsZero()}
		}, cellStarted},
	}
}

func columnNames() []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

func cellName(p *report.Sheet, _ query, r *Run) {
	p.Put(`<a href="%s"><bdi>%s</bdi></a><small class="where"><bdi>%s</bdi></small>`, runLink(r.Name), r.Title(),
		r.Name)
}

func cellData(p *report.Sheet, _ query, r *Run) {
	p.Put("<bdi>%s</bdi>", r.Data)
	if r.Recipe != "" {
		p.Put("<small><bdi>%s</bdi></small>", r.Recipe)
	}
}

func cellState(p *report.Sheet, _ query, r *Run) {
	p.Put(`<span class="tag %s">%s</span>`, stateClass(r.State), r.State)
	if r.Problem != "" {
		p.Put(`<small class="why">%s</small>`, short(r.Problem))
	}
}

// stateClass returns the class of a state, from our own words alone.
func stateClass(state string) report.Markup {
	switch state {
	case run.StatusDone:
		return "good"
	case run.StatusFailed, run.StatusKilled, unreadable:
		return "bad"
	}
	return "near"
}

func cellMetric(p *report.Sheet, q query, r *Run) {
	v := r.value(q.Metric)
	if math.IsNaN(v.Value) {
		p.Put("–")
		return
	}
	p.Put(`<b>%s</b><small>%s</small>`, percent(v.Value), v.Metric)
	if v.Below() {
		p.Put(`<small class="why">not above its floor</small>`)
	}
}

func cellFloor(p *report.Sheet, q query, r *Run) {
	v := r.value(q.Metric)
	if math.IsNaN(v.Floor) {
		p.Put("–")
		return
	}
	p.Put("%s<small>%s</small>", percent(v.Floor), v.FloorName)
}

func cellLevel(p *report.Sheet, _ query, r *Run) {
	if r.Level == 0 {
		p.Put("–")
		return
	}
	p.Put(`<span class="letter %s" title="%s">%s</span>`, r.Level, r.Level.Meaning(), r.Level)
}

func cellClaimed(p *report.Sheet, _ query, r *Run) {
	e := r.epsilons()
	if e == nil || e.Claimed == nil {
		p.Put("–")
		return
	}
	p.Put("%s<small>%s</small>", epsilon(float64(*e.Claimed)), e.Unit)
}

func cellAccounted(p *report.Sheet, _ query, r *Run) {
	e := r.epsilons()
	if e == nil {
		p.Put("–")
		return
	}
	if experiment.IsImported(r.Task) {
		p.Put("not known")
		return
	}
	class := report.Markup("")
	if e.Claimed != nil {
		class = ` class="bad"`
		if e.Holds() {
			class = ` class="good"`
		}
	}
	p.Put("<b%s>%s</b>", class, epsilon(float64(e.Accounted)))
	if e.Worst != e.Accounted {
		p.Put("<small>%s: %s</small>", worst(e), epsilon(float64(e.Worst)))
	}
}

// worst returns the unit with the largest epsilon.
func worst(e *Epsilons) string {
	if e.WorstUnit == "" {
		return "whole run"
	}
	return e.WorstUnit
}

func cellTime(p *report.Sheet, _ query, r *Run) {
	if r.Seconds == 0 { // nothing is written of the time of an attempt before it ends
		p.Put("–")
		return
	}
	p.Put("%s", span(r.Seconds))
}

func cellStarted(p *report.Sheet, _ query, r *Run) {
	if r.Started.IsZero() {
		p.Put("–")
		return
	}
	at := r.Started.UTC()
	p.Put(`<time datetime="%s">%s<small>%s</small></time>`, at.Format(time.RFC3339), at.Format("2006-01-02"),
		at.Format("15:04"))
}

// percent returns a share in percent.
func percent(x float64) string { return fmt.Sprintf("%.2f", 100*x) }

// epsilon returns an epsilon as text, with the sign for infinity.
func epsilon(x float64) string {
	switch {
	case math.IsInf(x, 1):
		return "∞"
	case x >= 1e5:
		return fmt.Sprintf("%.2g", x)
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// span returns a duration for a reader.
func span(seconds float64) string {
	switch s := int(math.Round(seconds)); {
	case seconds < 10:
		return fmt.Sprintf("%.1f s", seconds)
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
}

// short shortens a text that is too long for a cell.
func short(s string) string {
	const most = 160
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
