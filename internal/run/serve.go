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

// Finished is a run that has ended, as its task gets it back.
type Finished struct {
	Dir      string
	Seed     rng.Seed
	Manifest Manifest
}

// Data is the hash of an input that the run recorded, "" for one that it did not.
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
	// Evaluate measures once more what the run reported.
	Evaluate(ctx context.Context) (Result, error)
	// Close gives memory back.
	Close()
}

// Recommend says what to list.
type Recommend struct {
	Users   []string // as the data call them
	K       int      // items a user, at least 1
	Release string   // where a run made several; "": its first one
}

// ReadRun is [ReadManifest] for a directory that somebody named: where there is no run, a
// file included, it is a UsageError with the fix.
func ReadRun(dir, fix string) (Manifest, error) {
	m, err := ReadManifest(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return m, &UsageError{Message: "there is no run in " + dir, Fix: fix}
	case errors.Is(err, syscall.ENOTDIR):
		return m, &UsageError{Message: fmt.Sprintf("there is no run in %s, which is no directory", dir), Fix: fix}
	}
	return m, err
}

// NoRelease is the answer of a run with a single release to whoever names one.
func NoRelease(dir, release string) error {
	return &UsageError{Message: fmt.Sprintf("the run in %s has no release %q", dir, release), Fix: "it has a single one: name none, neither by recommend --release nor by on.release"}
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

// Serving makes an Action whose finished runs can be asked about. C is the
// configuration that the action was bound with.
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

// Serve opens the finished run in a directory that one of the tasks made.
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

// History is what a model was given of one user before it recommends: the items, oldest
// first, as the data call them.
type History struct {
	User  string
	Items []string
}

// Historian is a Server that also says what came before its recommendations.
type Historian interface {
	Server
	// Histories lists the users that the model was given items of. order says, as a
	// sentence for a reader of results, what the order of the items rests on.
	Histories(ctx context.Context) (list []History, order string, err error)
}
