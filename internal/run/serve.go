package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"privrec/internal/rng"
)

// Finished is a run that has ended, for the task that made it.
type Finished struct {
	Dir      string
	Seed     rng.Seed
	Manifest Manifest
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

// Server answers for a finished run.
type Server interface {
	// Recommend lists items for users.
	Recommend(ctx context.Context, o Recommend) (Result, error)
	// Evaluate measures again what the run reported.
	Evaluate(ctx context.Context) (Result, error)
	// Close frees memory.
	Close()
}

// Recommend says what to list.
type Recommend struct {
	Users   []string // by their ids in the data
	K       int      // items a user, at least 1
	Release string   // which release of a run that made several; "": the first
}

// ReadRun does what [ReadManifest] does, for a directory that a user named. Where there is no
// run, or a file, it fails with a UsageError that has the fix.
func ReadRun(dir, fix string) (Manifest, error) {
	m, err := ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, &UsageError{Message: "there is no run in " + dir, Fix: fix}
	case errors.Is(err, syscall.ENOTDIR):
		return m, &UsageError{Message: fmt.Sprintf("there is no run in %s, which is not a directory", dir), Fix: fix}
	}
	return m, err
}

// NoRelease returns the error for a user who names a release of a run that has only one.
func NoRelease(dir, release string) error {
	return &UsageError{Message: fmt.Sprintf("the run in %s has no release %q", dir, release), Fix: "it has only one: leave out recommend --release and on.release"}
}

// ReadMetrics reads the metrics.json of a run directory into v.
func ReadMetrics(dir string, v any) error {
	path := filepath.Join(dir, "metrics.json")
	b, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("read metrics: %s: %w", path, err)
	}
	return nil
}

// Serving makes an Action whose finished runs can be asked. C is the configuration that the
// action was bound with.
func Serving[C any](a Action, serve func(ctx context.Context, f Finished, c C) (Server, error)) Action {
	a.serve = func(ctx context.Context, f Finished, config any) (Server, error) {
		c, ok := config.(C)
		if !ok {
			return nil, fmt.Errorf("serve: the configuration is %T, not %T", config, c)
		}
		return serve(ctx, f, c)
	}
	return a
}

// Serve opens the finished run in a directory, which one of the tasks must have made.
func Serve(ctx context.Context, tasks []Task, dir string) (Server, error) {
	m, err := ReadRun(dir, "name a run directory, as privrec train writes them")
	if err != nil {
		return nil, err
	}
	if m.Status != StatusDone {
		return nil, &UsageError{Message: fmt.Sprintf("the run in %s is not finished: %s", dir, m.Status), Fix: "finish it with --resume"}
	}
	for _, t := range tasks {
		if t.String() != m.Task {
			continue
		}
		if t.Action.serve == nil {
			return nil, &UsageError{Message: fmt.Sprintf("%s: runs of %s cannot be asked for recommendations", dir, m.Task)}
		}
		path := filepath.Join(dir, configName)
		b, err := t.Action.load(t, source{path: path}, nil)
		if err != nil {
			return nil, err
		}
		if b.hash != m.ConfigHash {
			return nil, &UsageError{Message: fmt.Sprintf("%s is not the configuration of the run in %s", path, dir), Fix: "restore it, or train again with another --out"}
		}
		setWorkers(b.settings.Workers)
		return t.Action.serve(ctx, Finished{Dir: dir, Seed: rng.Seed(b.settings.Seed), Manifest: m}, b.config)
	}
	return nil, &UsageError{Message: fmt.Sprintf("%s is a run of %q, which this program does not know", dir, m.Task)}
}

// History holds the items that a model was given for one user before it recommends, oldest
// first, by their ids in the data.
type History struct {
	User  string
	Items []string
}

// Historian is a Server that also returns what came before its recommendations.
type Historian interface {
	Server
	// Histories lists the users for whom the model was given items. order says in one sentence,
	// for a reader of results, what the order of the items rests on.
	Histories(ctx context.Context) (list []History, order string, err error)
}
