package rdpgcf

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// smoke is the setting of seconds; tiny makes every task smaller still, on one
// worker: others wait for a core where tests run beside each other.
const smoke = "../../../configs/rdpgcf/smoke.yaml"

func tiny(name string) []string {
	common := []string{"data.name=standin-tiny", "data.recipe=rdpgcf", "run.workers=1", "eval.k=[5,20]"}
	trained := []string{"model.dim=4", "train.epochs=2", "train.batch=512", "train.rate=0.01"}
	switch name {
	case "ease", "itemknn":
		return common
	case "bprmf":
		return append(common, trained...)
	case "edgerand", "lapgraph": // of the whole block of cells: at a small epsilon most edges are false
		trained = append(trained, "perturb.epsilon=8")
	}
	return append(append(common, "model.layers=2"), trained...)
}

// repairedSets make the smoke setting that of the repaired method.
func repairedSets() []string {
	return []string{"profile=repaired", "privacy.method=repaired", "privacy.accounting=poisson", "privacy.count=joint", "privacy.conversion=tight",
		"model.norm=right-clamp:5", "model.normalise_rows=true", "train.sampler=poisson", "train.negatives=all", "train.patience=0", "train.select=last",
		"release.kinds=[noisy]", "release.average=1", "eval.every=false"}
}

// start runs a task under its tiny setting into a directory and returns what it
// printed.
func start(t testing.TB, task run.Task, dir string, sets ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := try(context.Background(), task, dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func try(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	o.Sets = slices.Concat([]string{"run.out=" + dir}, tiny(task.Name), sets)
	if task.Name == "rdpgcf" && o.Config == "" {
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

// task is the registered task of a name.
func task(t testing.TB, name string) run.Task {
	t.Helper()
	return runtest.Task(t, Tasks(), name)
}

// readJSON reads one file of a run directory.
func readJSON[T any](t testing.TB, dir, name string) (v T) {
	t.Helper()
	_, account := any(v).(Account) // which is written with more than it holds
	return runtest.ReadJSON[T](t, dir, name, !account)
}

// published makes a data folder that holds a published split of the given lines under
// the name gowalla, and has the program look there.
func published(t *testing.T, train, test string) {
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

// interactions makes data in memory.
func interactions(items int, train, valid, test [][]int32) *dataset.Interactions {
	d := &dataset.Interactions{Name: "made", Recipe: "by hand", Users: len(train), Items: items, Train: train, Valid: valid, Test: test}
	for range train {
		d.UserIDs = append(d.UserIDs, string(rune('a'+len(d.UserIDs))))
	}
	for range items {
		d.ItemIDs = append(d.ItemIDs, string(rune('A'+len(d.ItemIDs))))
	}
	d.Source = dataset.Source{Title: "made", Level: dataset.LevelD}
	return d
}
