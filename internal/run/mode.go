package run

import (
	"log/slog"
	"time"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// Rehearse returns the environment of work that is opened for a forecast. It writes nothing,
// and its ledger is in memory.
func Rehearse(seed rng.Seed) *Env {
	e := silent(rehearsing, dataset.View{Seed: seed})
	e.Seed = seed
	return e
}

// silent returns an environment that shows nothing of what the work tells while it opens.
func silent(of purpose, v dataset.View) *Env {
	return &Env{Log: slog.New(slog.DiscardHandler), Progress: Silent{}, opening: openingFor(of, v)}
}

// rehearse returns the environment of a forecast of a configuration's run, or of its account alone.
func (b *bound) rehearse(of purpose) *Env {
	e := Rehearse(rng.Seed(b.settings.Seed))
	e.Dir = b.settings.Out // other runs may be named relative to it
	e.opening.purpose = of
	e.noise = noise{secure: b.settings.Secure, seed: b.settings.NoiseSeed}
	return e
}

// Reopen returns the environment of work that answers for a finished run. It writes nothing, and its ledger is in
// memory. The run's seed and configuration hash reproduce its releases with the same draws, so they are no new
// releases. RecordData fails on data other than those of the run.
func (f Finished) Reopen() *Env {
	m := f.Manifest
	e := silent(reopened, m.View(f.Seed))
	e.Dir, e.Seed, e.ConfigHash, e.manifest = f.Dir, f.Seed, m.ConfigHash, m
	e.noise = noise{kind: m.Noise, secure: m.Secure, seed: f.noiseSeed}
	return e
}

// Finished returns the finished run that the work answers for, and false if the work was opened for another purpose.
func (e *Env) Finished() (Finished, bool) {
	return Finished{Dir: e.Dir, Seed: e.Seed, Manifest: e.manifest}, e.opening.purpose == reopened
}

// Rehearsing reports whether the work was opened for a forecast of a run, and not of its account alone.
func (e *Env) Rehearsing() bool { return e.opening.purpose == rehearsing }

// Opening returns the seconds since the environment was made. A Forecast calls it first, to learn how long opening the
// work took.
func (e *Env) Opening() float64 { return time.Since(e.opening.began).Seconds() }

// View returns the view that the work loads its data by, with what its run holds out, plants and withholds. A run that
// holds out or plants fails if its work never asks.
func (e *Env) View() dataset.View {
	e.opening.viewed = true
	return e.opening.view
}

// Begins returns the finished run that this one begins with, whose data can have users whom this run forgets, and
// whether what that run kept may be corrected within a stated error. ok is false if it begins with none.
func (e *Env) Begins() (f Finished, correct, ok bool, err error) {
	if e.from == "" {
		return f, false, false, nil
	}
	m, err := ReadManifest(e.from)
	return Finished{Dir: e.from, Seed: e.Seed, Manifest: m}, e.corrects, true, err
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
