package screen

import (
	"fmt"
	"io"
	"time"

	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// tableLines says in plain lines which table and which run goes on.
type tableLines struct {
	Reporter
	several, everyRun bool   // several tables are made; every run has a line
	said              string // the last line on a run
	run               run.Progress
	pulse             *pulse // nil: all that the runs report is shown, or nothing
}

// Run returns what shows how a single run goes.
func (l *tableLines) Run() run.Progress { return l.run }

// Follow says how much is ahead where there are several tables, at once and with every sign
// of life.
func (l *tableLines) Follow(ahead func() (int, time.Duration)) {
	if !l.several {
		return
	}
	if text := toGo(ahead); text != "" {
		l.Phase(text)
	}
	if l.pulse != nil {
		l.pulse.ahead = ahead
	}
}

// toGo says how many runs are ahead and how long they take. It is empty where none is.
func toGo(ahead func() (int, time.Duration)) string {
	if ahead == nil {
		return ""
	}
	runs, left := ahead()
	if runs == 0 {
		return ""
	}
	noun := "runs"
	if runs == 1 {
		noun = "run"
	}
	if left < 0 {
		return fmt.Sprintf("%d %s to go, of unknown length", runs, noun)
	}
	return fmt.Sprintf("%d %s to go, about %v in all", runs, noun, roughly(left))
}

// roughly rounds a time to what an estimate is good for: seconds below a minute, then minutes.
func roughly(d time.Duration) string {
	switch {
	case d < time.Minute:
		return max(d, time.Second).Round(time.Second).String()
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// Open announces a table where there are several.
func (l *tableLines) Open(text string) {
	if l.several {
		l.Phase(text)
	}
}

// Watch announces the run that goes on, once.
func (l *tableLines) Watch(_ string, runs []roster.Run, now int) {
	if now < 0 {
		return
	}
	r := runs[now]
	line := fmt.Sprintf("run %d of %d: %s on %s, seed %d", now+1, len(runs), r.Method, r.On(), r.Seed)
	if line != l.said && l.everyRun {
		l.Phase(line)
	}
	l.said = line
	if l.pulse != nil {
		l.pulse.of = line
	}
}

// Close does nothing: lines stay.
func (l *tableLines) Close() {}

// pulse shows that a run goes on where its own reports are left out: every ten seconds a
// line that says which run it is and how far it has come.
type pulse struct {
	w     io.Writer
	now   func() time.Time
	of    string // which run
	what  string // it does
	total int    // of a counted stretch, 0: none
	done  int
	last  time.Time // of the line before, or of the first sign
	ahead func() (runs int, left time.Duration)
}

// Phase notes what the run does now.
func (p *pulse) Phase(text string) {
	p.what, p.total = text, 0
	p.beat()
}

// Begin notes the stretch that the run counts now.
func (p *pulse) Begin(what string, total int) {
	p.what, p.total, p.done = what, total, 0
	p.beat()
}

// Add counts n steps.
func (p *pulse) Add(n int) {
	p.done += n
	p.beat()
}

// End does not end the sign of life: the run goes on.
func (p *pulse) End(string) { p.beat() }

// beat writes a line when the last one is ten seconds old.
func (p *pulse) beat() {
	now := p.now()
	if p.last.IsZero() {
		p.last = now
	}
	if now.Sub(p.last) < lineEvery {
		return
	}
	p.last = now
	line := p.of + ": " + p.what
	if p.total > 0 {
		line += fmt.Sprintf(", %d of %d (%d %%)", p.done, p.total, 100*p.done/p.total)
	}
	if text := toGo(p.ahead); text != "" {
		line += "; " + text
	}
	fmt.Fprintln(p.w, line)
}
