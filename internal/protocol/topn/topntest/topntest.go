// Package topntest tests that methods keep package topn's contract: runs that end, resume
// and answer, and forecasts.
package topntest

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// Suite is a set of tasks, with settings that make them small.
type Suite struct {
	Tasks  []run.Task
	Config map[string]string   // file of a task, by name; none: its defaults
	Sets   map[string][]string // what makes a task small, by name
	Recipe string              // of the small runs' data; empty: rdpgcf
}

// Data returns the settings of every small run. They ask for one worker, since more would wait for a core where tests
// run in parallel.
func Data(sets ...string) []string {
	return slices.Concat([]string{"data.name=standin-tiny", "data.recipe=rdpgcf", "run.workers=1", "eval.k=[5,20]"},
		sets)
}

// Trained returns the settings of every small run that trains by epochs.
func Trained(sets ...string) []string {
	return Data(slices.Concat([]string{"model.dim=4", "train.epochs=2", "train.batch=512", "train.rate=0.01"}, sets)...)
}

// Small returns settings that make each task small, by the keys that it has.
func Small(tasks []run.Task) map[string][]string {
	all := map[string][]string{}
	for _, task := range tasks {
		all[task.Name] = Data()
		for _, set := range []string{"model.dim=4", "model.layers=2", "train.epochs=2", "train.batch=512",
			"train.rate=0.01"} {
			if path, _, _ := strings.Cut(set, "="); runtest.HasKey(task, path) {
				all[task.Name] = append(all[task.Name], set)
			}
		}
	}
	return all
}

// Task returns the suite's task with a name.
func (s Suite) Task(t testing.TB, name string) run.Task {
	t.Helper()
	return runtest.Task(t, s.Tasks, name)
}

// trains reports whether a task trains by epochs. The settings that make it small set their number.
func (s Suite) trains(name string) bool {
	return slices.ContainsFunc(s.Sets[name], func(set string) bool { return strings.HasPrefix(set, "train.epochs=") })
}

// Try runs a task under its small setting into a directory.
func (s Suite) Try(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	o.Sets = slices.Concat([]string{"run.out=" + dir}, s.Sets[task.Name], sets)
	if o.Config == "" {
		o.Config = s.Config[task.Name]
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Stdout == nil {
		o.Stdout = &bytes.Buffer{}
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	o.NoiseSeed = 1 // so that runs can be compared
	_, err := task.Start(ctx, o)
	return err
}

// Start is Try for a run that must succeed. It returns what the run printed.
func (s Suite) Start(t testing.TB, task run.Task, dir string, sets ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := s.Try(context.Background(), task, dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// OnStandIn makes the experiment of small runs with recipe rdpgcf, without a method.
func OnStandIn(t testing.TB) *topn.Experiment { return Suite{}.onStandIn(t) }

// onStandIn makes the experiment of the suite's small runs, without a method.
func (s Suite) onStandIn(t testing.TB) *topn.Experiment {
	t.Helper()
	c := topn.DefaultTrain()
	c.Patience, c.Select = 0, topn.SelectLast // which any recipe allows
	x, err := topn.Load(t.Context(), run.Rehearse(1), topn.Method{
		Data: topn.DataConfig{Name: "standin-tiny", Recipe: cmp.Or(s.Recipe, "rdpgcf")}, Train: c,
		Eval: topn.DefaultEval(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Published makes a data folder that holds a published split of the given lines under the name
// gowalla. The program reads data there until the test ends.
func Published(t *testing.T, train, test string) {
	t.Helper()
	dir := t.TempDir()
	folder := filepath.Join(dir, "gowalla")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"train.txt": train, "test.txt": test} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PRIVREC_DATA", dir)
	t.Setenv("PRIVREC_CACHE", t.TempDir())
}
