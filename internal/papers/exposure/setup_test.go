package exposure

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"testing"

	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// tiny makes an attack a matter of tenths of a second, on one worker: others wait for a
// core where tests run beside each other.
var tiny = []string{
	"data.name=standin-slates", "attack.decoder=gru", "attack.dim=8", "attack.ffn=8", "train.epochs=2", "train.batch=256", "train.rate=0.01", "eval.k=[5,10]",
	"eval.vocabulary=[full,logged]", "eval.resamples=100", "run.workers=1",
}

// start runs the attack under its tiny setting into a directory and returns what it
// printed.
func start(t testing.TB, dir string, sets ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := try(t.Context(), dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func try(ctx context.Context, dir string, sets []string, o run.Options) error {
	o.Sets = slices.Concat([]string{"run.out=" + dir}, tiny, sets)
	return begin(ctx, attackTask(), o)
}

// begin starts a task in silence.
func begin(ctx context.Context, task run.Task, o run.Options) error {
	o.Log = slog.New(slog.DiscardHandler)
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

// attackTask is the attack.
func attackTask() run.Task { return Task(nil) }

// result reads one file of a run directory.
func result[T any](t testing.TB, dir, name string) T {
	t.Helper()
	return runtest.ReadJSON[T](t, dir, name, true)
}
