package baseline

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"testing"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// tiny makes runs of tenths of a second, on one worker: others wait for a core where tests
// run beside each other.
var tiny = func() map[string][]string {
	all := map[string][]string{}
	for _, task := range Sessions(nextitem.Table{}) {
		sets := []string{"data.name=standin-tiny", "model.dim=4", "train.epochs=2", "run.workers=1"}
		if runtest.HasKey(task, "model.user_dim") {
			sets = append(sets, "model.user_dim=2")
		}
		all[task.Name] = sets
	}
	return all
}()

// sessionTask is the task of a name, beside which nothing is printed.
func sessionTask(t testing.TB, name string) run.Task {
	t.Helper()
	return runtest.Task(t, Sessions(nextitem.Table{}), name)
}

// startSession runs a task under its small setting into a directory and returns what it printed.
func startSession(t *testing.T, task run.Task, dir string, sets []string) string {
	t.Helper()
	var out bytes.Buffer
	if err := trySession(t.Context(), task, dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func trySession(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	o.Sets = slices.Concat([]string{"run.out=" + dir}, tiny[task.Name], sets)
	o.Log = slog.New(slog.DiscardHandler)
	if o.Stdout == nil {
		o.Stdout = &bytes.Buffer{}
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	_, err := task.Start(ctx, o)
	return err
}

// readJSON reads one file of a run directory.
func readJSON[T any](t testing.TB, dir, name string) T {
	t.Helper()
	return runtest.ReadJSON[T](t, dir, name, true)
}
