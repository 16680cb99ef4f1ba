package screen

import (
	"fmt"
	"io"
	"time"

	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// tableLines says in lines which table and which run go on.
type tableLines struct {
	Reporter
	several, everyRun bool
	said              string
	run               run.Progress
	pulse             *pulse // nil: runs speak for themselves, or are quiet
}

func (l *tableLines) Run() run.Progress { return l.run }

func (l *tableLines) Open(text string) {
	if l.several {
		l.Phase(text)
	}
}

func (l *tableLines) Watch(_ string, runs []reproduce.Run, now int) {
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

func (l *tableLines) Close() {}

// pulse gives a sign of life of runs that are not followed: every ten seconds a line that
// says which run goes on and how far it is.
type pulse struct {
	w     io.Writer
	now   func() time.Time
	of    string // which run
	what  string // it does
	total int    // of a counted stretch, 0: none
	done  int
	last  time.Time // of the line before, or of the first sign
}

func (p *pulse) Phase(text string) {
	p.what, p.total = text, 0
	p.beat()
}

func (p *pulse) Begin(what string, total int) {
	p.what, p.total, p.done = what, total, 0
	p.beat()
}

func (p *pulse) Add(n int) {
	p.done += n
	p.beat()
}

func (p *pulse) End(string) { p.beat() }

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
	fmt.Fprintln(p.w, line)
}
