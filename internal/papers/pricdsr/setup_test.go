package pricdsr

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// tiny makes every task a matter of a tenth of a second, on one worker: others wait for
// a core where tests run beside each other.
var tiny = []string{
	"data.name=standin-cross", "data.target=left", "data.auxiliary=right", "data.length=14", "model.dim=8", "model.window=3",
	"train.epochs=2", "train.batch=256", "train.rate=0.01", "eval.negatives=20", "run.workers=1",
}

// start runs a task under its tiny setting into a directory and returns what it printed.
func start(t testing.TB, name, dir string, sets ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := try(context.Background(), t, name, dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func try(ctx context.Context, t testing.TB, name, dir string, sets []string, o run.Options) error {
	t.Helper()
	o.Sets = slices.Concat([]string{"run.out=" + dir}, tiny, sets)
	o.Log = slog.New(slog.DiscardHandler)
	if o.Stdout == nil {
		o.Stdout = &bytes.Buffer{}
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	o.NoiseSeed = 1 // so that runs can be compared
	_, err := runtest.Task(t, Tasks(), name).Start(ctx, o)
	return err
}

// result reads one file of a run directory.
func result[T any](t testing.TB, dir, name string) T {
	t.Helper()
	return runtest.ReadJSON[T](t, dir, name, true)
}
