package run

import (
	"errors"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// mode is the purpose of an Env.
type mode int

const (
	running    mode = iota // a run, which writes its directory
	rehearsing             // a forecast: no run is made
	reopened               // a finished run, which is asked
)

// Rehearse returns the environment of work that is opened for a forecast. It writes nothing,
// and its ledger is in memory.
func Rehearse(seed rng.Seed) *Env {
	return &Env{Seed: seed, Progress: Silent{}, mode: rehearsing, began: time.Now(), view: dataset.View{Seed: seed}}
}

// Reopen returns the environment of work that answers for a finished run. It writes nothing, and its ledger is in
// memory. The run's seed and configuration hash reproduce its releases with the same draws, so they are no new
// releases. RecordData fails on data other than those of the run.
func (f Finished) Reopen() *Env {
	return &Env{Dir: f.Dir, Seed: f.Seed, ConfigHash: f.Manifest.ConfigHash, Progress: Silent{}, mode: reopened,
		began: time.Now(), manifest: f.Manifest, secure: f.Manifest.Secure, view: f.Manifest.View(f.Seed),
		noise: noise{kind: f.Manifest.Noise, seed: f.noiseSeed}}
}

// Finished returns the finished run that the work answers for, and false if the work was opened for another purpose.
func (e *Env) Finished() (Finished, bool) {
	return Finished{Dir: e.Dir, Seed: e.Seed, Manifest: e.manifest}, e.mode == reopened
}

// Rehearsing reports whether the work was opened for a forecast.
func (e *Env) Rehearsing() bool { return e.mode == rehearsing && !e.planning }

// Writes reports whether the work is a run, which may write into its directory.
func (e *Env) Writes() bool { return e.mode == running }

// Opening returns the seconds since the environment was made. A Forecast calls it first, to learn how long opening the
// work took.
func (e *Env) Opening() float64 { return time.Since(e.began).Seconds() }

// errWritesNothing is a fault of the program: forecasts and answers write nothing.
var errWritesNothing = errors.New("a forecast or an answer of a finished run cannot write to the run directory")

// View returns the view that the work loads its data by, with what its run holds out, plants and withholds. A run that
// holds out or plants fails if its work never asks.
func (e *Env) View() dataset.View {
	e.viewed = true
	return e.view
}

// Finished gives a task access to a run that it made and that has ended.
type Finished struct {
	Dir      string
	Seed     rng.Seed
	Manifest Manifest

	noiseSeed uint64 // run.noise_seed
}

// Data returns the recorded hash of an input, "" for one that the run did not record.
func (f Finished) Data(name string) string {
	for _, d := range f.Manifest.Data {
		if d.Name == name {
			return d.SHA256
		}
	}
	return ""
}
