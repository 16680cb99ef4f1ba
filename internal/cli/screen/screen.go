// Package screen shows users how work goes: phases, counted stretches, and tables as they
// are made. On a terminal it draws bars and blocks in place, elsewhere it writes plain
// lines. It is the only package that knows terminals and progress bars.
package screen

import (
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// Reporter shows progress. Logs are written through it, so that they do not run into a bar.
type Reporter interface {
	run.Progress
	io.Writer
}

// New returns a reporter on w: one that shows nothing when quiet, a bar on a terminal, lines
// otherwise.
func New(w io.Writer, quiet bool) Reporter {
	switch {
	case quiet:
		return silent{run.Silent{}, w}
	case terminal(w) != nil:
		return &bar{w: w}
	}
	return &lines{w: w, now: time.Now}
}

// NewBytes returns a reporter as New does, for stretches that are counted in bytes. Their
// total may be unknown (-1).
func NewBytes(w io.Writer, quiet bool) Reporter {
	switch {
	case quiet:
		return New(w, quiet)
	case terminal(w) != nil:
		return &byteBar{bar{w: w}}
	}
	return &byteLines{lines{w: w, now: time.Now}}
}

// Tables shows tables as they are made.
type Tables interface {
	Reporter
	// Run returns what shows how a single run goes.
	Run() run.Progress
	// Follow takes what says how many runs are ahead, and about how long they take.
	Follow(ahead func() (runs int, left time.Duration))
	// Open announces a table.
	Open(text string)
	// Watch shows the runs of a table after a change. now is the index of the run that goes
	// on, or -1.
	Watch(title string, runs []roster.Run, now int)
	// Close removes what does not stay on the screen.
	Close()
}

// NewTables returns what shows tables on w: nothing when quiet, lines where w is no terminal.
// There is a line for every run, or for every table where there are several. With verbose
// there is all that the runs report. A terminal shows a block that is redrawn in place, or of
// several tables one such line with the time that is left for all.
func NewTables(w io.Writer, quiet, verbose, several bool) Tables {
	if f := terminal(w); f != nil && !quiet {
		if several && !verbose {
			return newOneLine(w, func() int {
				width, _, err := term.GetSize(int(f.Fd()))
				if err != nil || width < 1 {
					return 80
				}
				return width
			})
		}
		size := func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil || width < 1 || height < 1 {
				return 80, 24
			}
			return width, height
		}
		return &live{w: w, size: size, now: time.Now}
	}
	l := &tableLines{Reporter: New(w, quiet), several: several, everyRun: verbose || !several}
	if l.run = l.Reporter; !quiet && !verbose {
		l.pulse = &pulse{w: w, now: time.Now}
		l.run = l.pulse
	}
	return l
}

// NewLogger returns a logger on w for users: without times, and with warnings only when
// quiet.
func NewLogger(w io.Writer, quiet bool) *slog.Logger {
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

// IsTerminal reports whether f is a terminal, where users can be asked and shown something.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Width returns how many columns of text w shows, where it is a terminal, else 0.
func Width(w io.Writer) int {
	f := terminal(w)
	if f == nil {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// terminal returns w where it is a terminal, else nil.
func terminal(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return f
	}
	return nil
}

// silent shows no progress and writes log lines as they are.
type silent struct {
	run.Silent
	io.Writer
}
