package run

import (
	"fmt"
	"path/filepath"
	"time"
)

// RecordData writes the name and hash of an input to the manifest. For a finished run it fails
// on an input whose hash is not the recorded one.
func (e *Env) RecordData(name, sha256 string) error {
	if f, ok := e.Finished(); ok && f.Data(name) != sha256 {
		return &UsageError{Message: fmt.Sprintf("data %s are not those of the run in %s", name, e.Dir),
			Fix: "restore the data"}
	}
	if !e.Writes() {
		return nil
	}
	for i, d := range e.manifest.Data {
		if d.Name == name {
			if e.manifest.Data[i].SHA256 == sha256 {
				return nil
			}
			if e.Resume {
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
	if !e.Writes() {
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
		if !e.Writes() {
			return
		}
		e.manifest.Stages[name] += s
		e.AppendLog("stage", "name", name, "seconds", s)
	}
}

func (e *Env) saveManifest() error {
	return writeJSON(filepath.Join(e.Dir, manifestName), e.manifest)
}
