package screen

import (
	"fmt"
	"io"
	"sync"
	"time"

	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// oneLine shows several tables on a terminal as a single line that is redrawn: the table, the
// run that goes on and how far it is, and the time that is left for everything.
type oneLine struct {
	w     io.Writer
	width func() int
	now   func() time.Time
	ahead func() (runs int, left time.Duration)

	mu    sync.Mutex
	table string // that is made; empty: none
	run   string // that goes on; empty: none
	what  string // the stretch that it counts
	total int
	done  int
	drawn bool
	shown time.Time
}

// newOneLine returns the line, on a terminal of a width.
func newOneLine(w io.Writer, width func() int) *oneLine {
	return &oneLine{w: w, width: width, now: time.Now}
}

// Run returns the line itself, which shows how the present run goes.
func (v *oneLine) Run() run.Progress { return inRun{v} }

// Follow takes what says how much is ahead, and says it.
func (v *oneLine) Follow(ahead func() (int, time.Duration)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.ahead = ahead
	if text := toGo(ahead); text != "" {
		v.clear()
		fmt.Fprintln(v.w, text)
	}
}

// Open shows another table.
func (v *oneLine) Open(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.table, v.run, v.what = text, "", ""
	v.draw()
}

// Watch shows the run that goes on.
func (v *oneLine) Watch(_ string, runs []roster.Run, now int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.run, v.what = "", ""
	if now >= 0 {
		r := runs[now]
		v.run = fmt.Sprintf("run %d of %d: %s on %s, seed %d", now+1, len(runs), r.Method, r.On(), r.Seed)
	}
	v.draw()
}

// Phase writes a line that stays.
func (v *oneLine) Phase(text string) { fmt.Fprintln(v, text) }

// Begin, Add and End are of no run, which inRun follows: nothing is counted between runs.
func (v *oneLine) Begin(string, int) {}

// Add does nothing.
func (v *oneLine) Add(int) {}

// End does nothing.
func (v *oneLine) End(string) {}

// Write puts lines above the line.
func (v *oneLine) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	n, err := v.w.Write(p)
	v.draw()
	return n, err
}

// Close takes the line off the screen.
func (v *oneLine) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.table = ""
}

// clear takes the line off the screen.
func (v *oneLine) clear() {
	if v.drawn {
		io.WriteString(v.w, "\r\x1b[K")
	}
	v.drawn = false
}

// draw replaces the line in one write.
func (v *oneLine) draw() {
	if v.table == "" {
		return
	}
	line := v.table
	if text := toGo(v.ahead); text != "" {
		line = text + "; " + line
	}
	if v.run != "" {
		line += ", " + v.run
	}
	if v.what != "" {
		line += ": " + v.what
		if v.total > 0 {
			line += fmt.Sprintf(" %d %%", 100*v.done/v.total)
		}
	}
	io.WriteString(v.w, "\r\x1b[K"+fit(line, v.width()))
	v.drawn, v.shown = true, v.now()
}

// inRun shows on the line how a single run goes.
type inRun struct{ v *oneLine }

// Phase shows what the run does now.
func (p inRun) Phase(text string) { p.Begin(text, 0) }

// Begin starts to count a stretch.
func (p inRun) Begin(what string, total int) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.v.what, p.v.total, p.v.done = what, total, 0
	p.v.draw()
}

// Add counts n steps and redraws the line, at most ten times a second.
func (p inRun) Add(n int) {
	p.v.mu.Lock()
	defer p.v.mu.Unlock()
	p.v.done += n
	if p.v.now().Sub(p.v.shown) >= redrawEvery {
		p.v.draw()
	}
}

// End ends the stretch. Its summary is left out.
func (p inRun) End(string) { p.Begin("", 0) }
