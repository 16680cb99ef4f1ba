package dipsgnn

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// smoke is the setting of seconds; tiny makes it smaller still, on one
// worker: others wait for a core where tests run beside each other.
const smoke = "../../../configs/dipsgnn/smoke.yaml"

var tiny = map[string][]string{
	"dipsgnn": {"model.dim=4", "model.user_dim=2", "train.epochs=2", "run.workers=1"},
	"srgnn":   {"data.name=standin-tiny", "model.dim=4", "train.epochs=2", "run.workers=1"},
	"apgnn":   {"data.name=standin-tiny", "model.dim=4", "model.user_dim=2", "train.epochs=2", "run.workers=1"},
}

// inRun calls f inside a real run of the small setting with its data loaded.
func inRun(t *testing.T, sets []string, f func(ctx context.Context, env *run.Env, c Config, x *experiment) error) {
	t.Helper()
	task := run.Task{Verb: "train", Name: "dipsgnn", Action: run.Bind(Default, Validate, func(ctx context.Context, env *run.Env, c Config) error {
		x, err := load(ctx, env, "DIPSGNN", c)
		if err != nil {
			return err
		}
		return f(ctx, env, c, x)
	})}
	start(t, task, t.TempDir(), sets)
}

// declared opens the ledger of a run whose account is not looked at.
func declared(t *testing.T, env *run.Env) {
	t.Helper()
	if _, err := env.Ledger(privacy.Research, privacy.Declaration{}); err != nil {
		t.Fatal(err)
	}
}

// start runs a task under the small setting into a directory and returns what
// it printed.
func start(t *testing.T, task run.Task, dir string, sets []string) string {
	t.Helper()
	var out bytes.Buffer
	if err := try(t.Context(), task, dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func try(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	o.Sets = slices.Concat([]string{"run.out=" + dir}, tiny[task.Name], sets)
	if task.Name == "dipsgnn" {
		o.Config = smoke
	}
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

// eventful runs DIPSGNN under one seed after the other until validation prefers
// an epoch before the last, and returns that outcome and its seed.
func eventful(t *testing.T, sets []string) (Outcome, string) {
	t.Helper()
	for seed := 1; seed <= 20; seed++ {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, task(t, "dipsgnn"), dir, append([]string{fmt.Sprint("run.seed=", seed)}, sets...))
		if o := readJSON[Outcome](t, dir, "metrics.json"); o.Selected < max(len(o.Epochs), len(o.Selection)) {
			return o, fmt.Sprint("run.seed=", seed)
		}
	}
	t.Fatal("validation prefers the last epoch under every seed, so nothing is tested")
	return Outcome{}, ""
}

// task is the registered task of a name.
func task(t testing.TB, name string) run.Task {
	t.Helper()
	return runtest.Task(t, Tasks(), name)
}

// readJSON reads one file of a run directory.
func readJSON[T any](t testing.TB, dir, name string) T {
	t.Helper()
	return runtest.ReadJSON[T](t, dir, name, true)
}
