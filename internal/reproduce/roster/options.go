package roster

import (
	"log/slog"

	"privrec/internal/record"
	"privrec/internal/run"
)

// Options say how a table is made.
type Options struct {
	Size     string    // smoke, quick or full
	Out      string    // folder for runs and tables
	Sets     []string  // further overrides of every run, which the table states
	Workers  int       // threads of a run, 0: all cores
	NoRun    bool      // start nothing: make the table of finished runs
	NoWait   bool      // do not wait for runs that other processes make
	StandIns bool      // where data are missing, take generated rows, as size smoke does
	Shard    run.Shard // the runs that this process makes; zero: all
	// Records has runs that are taken where no directory of the run is there. Only tables that start
	// nothing take them. Nil: none.
	Records  *record.Shelf
	Log      *slog.Logger
	Progress run.Progress // of the work as a whole
	Run      run.Progress // of the run that goes on; nil: as Progress
	// called after every change; now is the run that goes on, or -1. May be nil
	Watch func(title string, runs []Run, now int)
}
