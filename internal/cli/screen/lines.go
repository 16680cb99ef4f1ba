package screen

import (
	"fmt"
	"io"
	"sync"
	"time"

	"privrec/internal/fetch"
)

// lines shows progress as plain text: a line for a phase, a line for the end of a stretch, and
// every ten seconds a line that says how far a long stretch has come and how long the rest will
// take.
type lines struct {
	w     io.Writer
	now   func() time.Time
	mu    sync.Mutex
	what  string // the stretch
	total int
	done  int
	begun time.Time
	last  time.Time // when the last line on the stretch was written
}

// lineEvery is the time between two lines on one stretch.
const lineEvery = 10 * time.Second

// Write writes p under the lock, so that a log line and a line of progress do not mix.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

// Phase writes a line.
func (l *lines) Phase(text string) { fmt.Fprintln(l, text) }

// Begin starts to count a stretch of total steps.
func (l *lines) Begin(what string, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what, l.total, l.done, l.begun = what, total, 0, l.now()
	l.last = l.begun
}

// Add counts n steps. It writes a line when the last one is ten seconds old.
func (l *lines) Add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done += n
	if now := l.now(); now.Sub(l.last) >= lineEvery {
		l.last = now
		fmt.Fprintf(l.w, "%s: %d of %d (%d %%)%s\n", l.what, l.done, l.total, 100*l.done/max(1, l.total),
			left(now.Sub(l.begun), l.done, l.total))
	}
}

// left says how long the rest of a stretch takes at the pace so far. It is empty where no step is
// done, or all are.
func left(took time.Duration, done, total int) string {
	if done <= 0 || done >= total {
		return ""
	}
	rest := time.Duration(float64(took) * float64(total-done) / float64(done))
	return fmt.Sprintf(", about %v left", rest.Round(time.Second))
}

// End writes the summary of a stretch, where there is one.
func (l *lines) End(summary string) {
	if summary != "" {
		fmt.Fprintln(l, summary)
	}
}

// byteLines shows progress as plain text that counts bytes.
type byteLines struct{ lines }

// Add counts n bytes. It writes a line when the last one is ten seconds old.
func (l *byteLines) Add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done += n
	now := l.now()
	if now.Sub(l.last) < lineEvery {
		return
	}
	l.last = now
	if l.total <= 0 {
		fmt.Fprintf(l.w, "%s: %s\n", l.what, fetch.Size(int64(l.done)))
		return
	}
	fmt.Fprintf(l.w, "%s: %s of %s (%d %%)\n", l.what, fetch.Size(int64(l.done)), fetch.Size(int64(l.total)),
		100*l.done/l.total)
}
