package run

import (
	"io"
	"log/slog"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/progress"
	"privrec/internal/rng"
)

// Progress shows the user how a run is going.
type Progress = progress.Display

// Silent is a Progress that shows nothing.
type Silent = progress.Silent

// Env is the environment of a task: its directory, its seed, its output. A run, a forecast and a finished run that
// answers each have a constructor, which sets what that purpose needs. It is for one goroutine.
type Env struct {
	Dir        string   // run directory; a run holds its lock
	Seed       rng.Seed // of every random number of the run but noise (see Noise)
	ConfigHash string   // of the effective configuration, seed and task
	Resume     bool     // continue from the checkpoint, if there is one
	Save       Saving   // how often a run writes its checkpoint
	Log        *slog.Logger
	Progress   Progress

	opening  opening
	noise    noise
	books    books
	manifest Manifest // of the run, or of the finished run that answers
	from     string   // run that this one begins with, see Options.From; "": none
	corrects bool     // see Options.Corrects
	writing  writing  // zero unless this is a run
}

// opening says what the work was opened for, when, and on which data.
type opening struct {
	purpose purpose
	began   time.Time
	view    dataset.View // that the work loads its data by
	viewed  bool         // the work asked for its view
}

// openingFor returns the opening of work that is opened now.
func openingFor(of purpose, v dataset.View) opening {
	return opening{purpose: of, began: time.Now(), view: v}
}

// purpose is the purpose of an Env. The zero value writes nothing.
type purpose int

const (
	rehearsing purpose = iota // a forecast: no run is made
	planning                  // a forecast of the account alone: no step is made either
	reopened                  // a finished run, which is asked
	running                   // a run, which writes its directory
)

// forecasts reports whether no run is made and nothing of the work is shown.
func (p purpose) forecasts() bool { return p == rehearsing || p == planning }

// Writes reports whether the work is a run, which may write into its directory.
func (e *Env) Writes() bool { return e.opening.purpose == running }

// writing holds what the process of a run needs for writing: the directory, its logs, and where results are shown.
type writing struct {
	folder
	log    *logFile     // log.jsonl
	lines  *slog.Logger // writes to log
	events eventFile    // for TensorBoard
	out    io.Writer    // results for the user
	json   bool         // results as JSON
	cpu    float64      // processor time of the process before the run, seconds
}
