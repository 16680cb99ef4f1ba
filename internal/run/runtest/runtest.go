// Package runtest helps the tests of tasks to inspect the run directories that they leave.
package runtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/config"
	"privrec/internal/run"
)

// Task returns the task of a name.
func Task(t testing.TB, tasks []run.Task, name string) run.Task {
	t.Helper()
	for _, task := range tasks {
		if task.Name == name {
			return task
		}
	}
	t.Fatalf("no task %q", name)
	return run.Task{}
}

// HasKey reports whether a task's configuration has a key, such as "train.epochs".
func HasKey(task run.Task, path string) bool {
	return slices.ContainsFunc(task.Keys(), func(k config.Key) bool { return k.Path == path })
}

// Artefacts returns the bytes of all files in a run directory that depend only on the
// configuration, by slash-separated name: all but settings, log and manifest.
func Artefacts(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || slices.Contains([]string{"config.yaml", "manifest.json", "log.jsonl"}, d.Name()) {
			return err
		}
		b, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Same fails the test unless got and want have the same files with the same bytes.
func Same(t testing.TB, what string, got, want map[string]string) {
	t.Helper()
	for name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s: %s is missing", what, name)
		} else if got[name] != want[name] {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: %s should not be there", what, name)
		}
	}
}

// ReadJSON reads one file of a run directory. The test fails if it cannot, and, with
// strict, on a key that T does not have.
func ReadJSON[T any](t testing.TB, dir, name string, strict bool) (v T) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	if strict {
		d.DisallowUnknownFields()
	}
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

// Work turns one function into a run.Work.
type Work func(ctx context.Context) error

// Run implements run.Work.
func (w Work) Run(ctx context.Context) error { return w(ctx) }
