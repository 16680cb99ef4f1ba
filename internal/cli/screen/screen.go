// Package screen shows a person how work goes: phases, counted stretches and tables that
// come about, as bars and blocks that are redrawn on a terminal, and as plain lines
// elsewhere. It alone knows terminals and progress bars.
package screen

import (
	"io"
	"log/slog"
	"os"
	"time"

	"golang.org/x/term"

	"privrec/internal/reproduce"
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

// NewBytes is New for stretches that are counted in bytes, whose total may be unknown (-1).
func NewBytes(w io.Writer, quiet bool) Reporter {
	switch {
	case quiet:
		return New(w, quiet)
	case terminal(w) != nil:
		return &byteBar{bar{w: w}}
	}
	return &byteLines{lines{w: w, now: time.Now}}
}

// Tables shows how tables come about.
type Tables interface {
	Reporter
	// Run is what shows how a single run goes.
	Run() run.Progress
	// Open announces a table.
	Open(text string)
	// Watch is told of every change of a run.
	Watch(title string, runs []reproduce.Run, now int)
	// Close takes away what is not to stay on the screen.
	Close()
}

// NewTables returns what shows tables on w: nothing when quiet, a table that is redrawn in
// place on a terminal, lines otherwise: one a run, or one a table where there are several;
// all that the runs say where verbose.
func NewTables(w io.Writer, quiet, verbose, several bool) Tables {
	if f := terminal(w); f != nil && !quiet {
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

// NewLogger returns a logger for a person on w: no time, warnings only when quiet.
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

// IsTerminal reports whether a person can be asked or shown something on f.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// terminal is the terminal that w is; nil where it is none.
func terminal(w io.Writer) *os.File {
	if f, ok := w.(*os.File); ok && IsTerminal(f) {
		return f
	}
	return nil
}

type silent struct {
	run.Silent
	io.Writer
}
