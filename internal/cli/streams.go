package cli

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"privrec/internal/run"
)

// reporter is what shows progress on standard error; logs are written through
// it, so that they do not run into a bar.
type reporter interface {
	run.Progress
	io.Writer
}

// newReporter chooses: nothing when quiet, a bar on a terminal, lines otherwise.
func newReporter(w io.Writer, quiet bool) reporter {
	switch f, ok := w.(*os.File); {
	case quiet:
		return silent{run.Silent{}, w}
	case ok && term.IsTerminal(int(f.Fd())):
		return &bar{w: w}
	}
	return &lines{w: w, now: time.Now}
}

// newLogger writes logs for a person: no time, warnings only when quiet.
func newLogger(w io.Writer, quiet bool) *slog.Logger {
	level := slog.LevelInfo
	if quiet {
		level = slog.LevelWarn
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{
		Level: level,
		ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
			if len(groups) == 0 && a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))
}

type silent struct {
	run.Silent
	io.Writer
}

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

// bar reports on a terminal.
type bar struct {
	w  io.Writer
	mu sync.Mutex
	b  *progressbar.ProgressBar
}

// Write puts a line above the bar.
func (b *bar) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.b != nil {
		b.b.Clear()
		defer b.b.RenderBlank()
	}
	return b.w.Write(p)
}

func (b *bar) Phase(text string) { fmt.Fprintln(b, text) }

func (b *bar) Begin(what string, total int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.b = progressbar.NewOptions(total,
		progressbar.OptionSetWriter(b.w),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetWidth(30),
		progressbar.OptionShowCount(),
		progressbar.OptionShowIts(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
	)
	b.b.RenderBlank()
}

func (b *bar) Add(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.b != nil {
		b.b.Add(n)
	}
}

func (b *bar) End(summary string) {
	b.mu.Lock()
	if b.b != nil {
		b.b.Clear()
		b.b = nil
	}
	b.mu.Unlock()
	if summary != "" {
		fmt.Fprintln(b, summary)
	}
}
