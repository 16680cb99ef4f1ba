package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// live shows tables as a block of lines that is redrawn in place: a title, a line a row
// with the state of every seed, and what the present run reports.
type live struct {
	w    io.Writer
	size func() (width, height int)
	now  func() time.Time

	mu      sync.Mutex
	title   string
	runs    []roster.Run
	at      int       // the run that goes on, an index of runs; -1: none
	started time.Time // of the present title
	what    string    // the stretch that the present run counts; empty: none
	total   int
	done    int
	last    string // what the present run said last
	drawn   int    // lines on the screen that the next drawing replaces
	shown   time.Time
}

// redrawEvery is the least time between two drawings that only count.
const redrawEvery = 100 * time.Millisecond

// Run returns the block itself, which shows how the present run goes.
func (v *live) Run() run.Progress { return v }

// Follow does nothing: the block shows the runs of its table.
func (v *live) Follow(func() (int, time.Duration)) {}

// Open does nothing: the block has a title.
func (v *live) Open(string) {}

// Watch redraws the block after a change of its runs. now is the index of the run that goes
// on, or -1.
func (v *live) Watch(title string, runs []roster.Run, now int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if title != v.title {
		v.title, v.started = title, v.now()
	}
	if now != v.at {
		v.last = ""
	}
	v.runs, v.at = runs, now
	v.draw()
}

// Phase shows text as the last line of the block. Without a block it writes a line.
func (v *live) Phase(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.runs == nil { // nothing to put it under
		v.clear()
		fmt.Fprintln(v.w, text)
		return
	}
	v.last = text
	v.draw()
}

// Begin starts to count a stretch of the present run.
func (v *live) Begin(what string, total int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.what, v.total, v.done = what, total, 0
	v.draw()
}

// Add counts n steps and redraws the block, at most ten times a second.
func (v *live) Add(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.done += n
	if v.now().Sub(v.shown) >= redrawEvery {
		v.draw()
	}
}

// End closes the stretch and shows its summary as the last line of the block.
func (v *live) End(summary string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.what = ""
	if summary != "" {
		v.last = summary
	}
	v.draw()
}

// Write puts log lines above the block.
func (v *live) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	n, err := v.w.Write(p)
	v.draw()
	return n, err
}

// Close takes the block off the screen and forgets its runs.
func (v *live) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.clear()
	v.runs = nil
}

// clear takes the block off the screen.
func (v *live) clear() {
	if v.drawn > 0 {
		fmt.Fprintf(v.w, "\x1b[%dA\x1b[J", v.drawn)
	}
	v.drawn = 0
}

// draw replaces the block in one write, so that no half of it is ever seen.
func (v *live) draw() {
	if v.runs == nil {
		return
	}
	width, height := v.size()
	lines := v.lines(height - 1)
	var b strings.Builder
	if v.drawn > 0 {
		fmt.Fprintf(&b, "\x1b[%dA\x1b[J", v.drawn)
	}
	for _, l := range lines {
		b.WriteString(fit(l, width) + "\n")
	}
	io.WriteString(v.w, b.String())
	v.drawn, v.shown = len(lines), v.now()
}

// lines returns the lines of the block, at most as many as most says. Of more rows it keeps
// those around the run that goes on.
func (v *live) lines(most int) []string {
	finished := 0
	var rows []string
	var current int
	labels, wide := []string{}, 0
	for _, r := range v.runs {
		if r.Status == roster.Done {
			finished++
		}
		wide = max(wide, utf8.RuneCountInString(r.Method+" on "+r.On()))
	}
	for i, r := range v.runs {
		label := r.Method + " on " + r.On()
		if len(labels) == 0 || labels[len(labels)-1] != label {
			labels = append(labels, label)
			rows = append(rows, "  "+label+strings.Repeat(" ", wide-utf8.RuneCountInString(label)))
		}
		state := string(r.Status)
		if r.Score != "" {
			state = r.Score
		}
		if i == v.at {
			current, state = len(rows)-1, "running"
			if v.what != "" {
				state = fmt.Sprintf("%s %d %%", v.what, 100*v.done/max(1, v.total))
			}
		}
		rows[len(rows)-1] += fmt.Sprintf("  %d: %-14s", r.Seed, state)
	}
	out := []string{fmt.Sprintf("%s: %d of %d runs done, %s", v.title, finished, len(v.runs),
		v.now().Sub(v.started).Round(time.Second))}
	if room := max(1, most-2); len(rows) > room {
		from := min(max(0, current-room/2), len(rows)-room)
		rows = rows[from : from+room]
	}
	out = append(out, rows...)
	return append(out, "  "+v.last)
}

// fit cuts a line to the width of the screen. A line that wraps would take two.
func fit(s string, width int) string {
	s = strings.TrimRight(s, " ")
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	r := []rune(s)
	return string(r[:max(0, width-1)]) + "…"
}
