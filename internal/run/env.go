package run

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/progress"
	"privrec/internal/rng"
	"privrec/internal/system"
)

// Progress shows the user how a run is going.
type Progress = progress.Display

// Silent is a Progress that shows nothing.
type Silent = progress.Silent

// Env is the environment of a task: its directory, its seed, its output. It is for one
// goroutine.
type Env struct {
	Dir        string        // run directory; the task holds its lock
	Seed       rng.Seed      // of every random number of the run but noise (see Noise)
	Resume     bool          // continue from the checkpoint, if there is one
	ConfigHash string        // of the effective configuration, seed and task
	SaveEvery  time.Duration // the longest time between checkpoints; 0: no limit
	SaveSteps  int           // steps between checkpoints; 0: no limit
	Log        *slog.Logger
	Progress   Progress

	out        io.Writer       // results for the user
	json       bool            // results as JSON
	ledger     *privacy.Ledger // nil until asked for
	resumed    bool            // the ledger continues from a checkpoint
	key        *privacy.Key    // of the ledger; nil: none
	spends     spending        // from a budget that the run shares with others
	log        *logFile        // log.jsonl
	jsonl      *slog.Logger
	events     eventFile // for TensorBoard
	manifest   Manifest
	kept       bool // a checkpoint or an artefact was written
	lock       *lock
	cpu        float64           // processor time of the process before the run, seconds
	fresh      bool              // the directory held no run before
	made       []string          // directories that did not exist before, the deepest first
	meta       map[string]string // of the checkpoint, once it was checked
	userConfig bool              // the user wrote config.yaml before the run, with the same text
	mode       mode
	secure     bool      // noise is from cryptographic bits
	noise      noise     // what it is drawn from otherwise
	planning   bool      // rehearsing without a step: only the account is asked for
	began      time.Time // unless running

	view   dataset.View // that the work loads its data by
	viewed bool         // the work asked for its view
}

// WriteMetrics writes metrics.json. v must have no timings or anything else that differs
// between a run and the same run resumed.
func (e *Env) WriteMetrics(v any) error { return e.keepJSON("metrics.json", v) }

// WriteCells writes cells.json: the numbers of metrics.json that are held against floors, in a form that
// all tasks share. Like WriteMetrics it takes nothing that differs between a run and the same run resumed.
func (e *Env) WriteCells(v any) error { return e.keepJSON("cells.json", v) }

// WritePrivacy writes privacy.json: claimed and accounted budgets, and what is
// unprotected.
func (e *Env) WritePrivacy(v any) error {
	if line := e.Repeatable(); line != "" {
		return e.keepJSON("privacy.json", leading{line, v})
	}
	return e.keepJSON("privacy.json", v)
}

func (e *Env) keepJSON(name string, v any) error {
	if err := e.stated(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return e.writeJSON(name, v)
}

func (e *Env) writeJSON(name string, v any) error {
	err := writeJSON(filepath.Join(e.Dir, name), v)
	e.kept = e.kept || err == nil
	return err
}

func (e *Env) write(name string, private bool, write func(w io.Writer) error) error {
	path := filepath.Join(e.Dir, name)
	if err := e.mkdir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	put := system.WriteFile
	if private {
		put = system.WritePrivate
	}
	err := put(path, write)
	e.kept = e.kept || err == nil
	return err
}

// mkdir makes a folder of the run directory, durably.
func (e *Env) mkdir(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	_, err := makeDir(dir)
	return err
}

// AppendLog adds an event and its time to log.jsonl. args alternate names and values as in
// slog.
func (e *Env) AppendLog(event string, args ...any) {
	if e.mode != running {
		return
	}
	if e.show() != nil { // the run ends with that error at its next release, or when it writes anything
		return
	}
	e.jsonl.Info(event, args...)
}

// RecordData writes the name and hash of an input to the manifest. For a finished run it fails
// on an input whose hash is not the recorded one.
func (e *Env) RecordData(name, sha256 string) error {
	if f, ok := e.Finished(); ok && f.Data(name) != sha256 {
		return &UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", name, e.Dir),
			Fix: "restore the data"}
	}
	if e.mode != running {
		return nil
	}
	for i, d := range e.manifest.Data {
		if d.Name == name {
			if e.manifest.Data[i].SHA256 == sha256 {
				return nil
			}
			if e.Resume && !e.fresh {
				return &UsageError{
					Message: fmt.Sprintf("data %s changed since the run in %s began (%.12s, now %.12s)", name, e.Dir,
						d.SHA256, sha256),
					Fix: "restore the data, or start again with another --out",
				}
			}
			e.manifest.Data[i].SHA256 = sha256
			return e.saveManifest()
		}
	}
	e.manifest.Data = append(e.manifest.Data, Data{name, sha256})
	return e.saveManifest()
}

// Note adds a remark to the manifest, if it is not there yet.
func (e *Env) Note(text string) error {
	if e.mode != running {
		return nil
	}
	for _, n := range e.manifest.Notes {
		if n == text {
			return nil
		}
	}
	e.manifest.Notes = append(e.manifest.Notes, text)
	return e.saveManifest()
}

// Stage announces a stage of the run and returns a function that ends it, which writes the
// stage's wall time to the manifest and the log.
//
//	done := env.Stage("load")
//	...
//	done()
func (e *Env) Stage(name string) (done func()) {
	e.Progress.Phase(name)
	start := time.Now()
	return func() {
		s := time.Since(start).Seconds()
		if e.mode != running {
			return
		}
		e.manifest.Stages[name] += s
		e.AppendLog("stage", "name", name, "seconds", s)
	}
}

// Print shows a result on standard output, as text or JSON, and keeps both in the run
// directory, with report.html where the result is a Page.
func (e *Env) Print(r Result) error {
	if err := e.stated(); err != nil {
		return fmt.Errorf("show the result: %w", err)
	}
	if l, ok := r.(Leading); ok {
		l.Lead(e.Repeatable())
	}
	if err := e.writeJSON("result.json", r); err != nil {
		return err
	}
	if err := e.write("result.txt", false, r.Text); err != nil {
		return err
	}
	if p, ok := r.(Page); ok {
		if err := e.write("report.html", false, p.HTML); err != nil {
			return err
		}
	}
	if err := Show(e.out, e.json, r); err != nil {
		return WithHint(fmt.Errorf("show the result: %w", err), "the result is kept in "+e.Dir)
	}
	return nil
}

func (e *Env) saveManifest() error {
	return writeJSON(filepath.Join(e.Dir, manifestName), e.manifest)
}
