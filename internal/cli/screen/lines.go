package screen

import (
	"fmt"
	"io"
	"sync"
	"time"

	"privrec/internal/fetch"
)

// lines reports on plain text: a line for a phase, a line for the end of each
// stretch, and every ten seconds how far a long stretch has come and how long it will take.
type lines struct {
	w     io.Writer
	now   func() time.Time
	mu    sync.Mutex
	what  string
	total int
	done  int
	begun time.Time
	last  time.Time
}

const lineEvery = 10 * time.Second

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func (l *lines) Phase(text string) { fmt.Fprintln(l, text) }

func (l *lines) Begin(what string, total int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.what, l.total, l.done, l.begun = what, total, 0, l.now()
	l.last = l.begun
}

func (l *lines) Add(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.done += n
	if now := l.now(); now.Sub(l.last) >= lineEvery {
		l.last = now
		fmt.Fprintf(l.w, "%s: %d of %d (%d %%)%s\n", l.what, l.done, l.total, 100*l.done/max(1, l.total), left(now.Sub(l.begun), l.done, l.total))
	}
}

// left says how long what is not done will take if it goes on as before: nothing where nothing is
// done, or all.
func left(took time.Duration, done, total int) string {
	if done <= 0 || done >= total {
		return ""
	}
	rest := time.Duration(float64(took) * float64(total-done) / float64(done))
	return fmt.Sprintf(", about %v left", rest.Round(time.Second))
}

func (l *lines) End(summary string) {
	if summary != "" {
		fmt.Fprintln(l, summary)
	}
}

// byteLines is plain lines with sizes.
type byteLines struct{ lines }

// Add writes a line every ten seconds.
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
	fmt.Fprintf(l.w, "%s: %s of %s (%d %%)\n", l.what, fetch.Size(int64(l.done)), fetch.Size(int64(l.total)), 100*l.done/l.total)
}
