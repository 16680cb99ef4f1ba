package run

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
)

type askedConfig struct {
	Size int `yaml:"size"`
}

// asked is a server that says what it was opened with.
type asked struct {
	f Finished
	c askedConfig
}

func (asked) Recommend(context.Context, Recommend) (Result, error) { return nil, nil }
func (asked) Evaluate(context.Context) (Result, error)             { return nil, nil }
func (asked) Close()                                               {}

// askable is a task whose runs can be asked about.
func askable() Task {
	def := func() askedConfig { return askedConfig{Size: 3} }
	a := Bind(def, func(askedConfig, *config.Document) error { return nil }, func(_ context.Context, env *Env, _ askedConfig) error {
		if err := env.RecordData("rows", "abc"); err != nil {
			return err
		}
		return errors.Join(declaresNothing(env), env.WriteMetrics(map[string]int{"a": 1}))
	})
	return Task{Verb: "train", Name: "asked", Action: Serving(a, func(_ context.Context, f Finished, c askedConfig) (Server, error) {
		return asked{f, c}, nil
	})}
}

func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	task := askable()
	if _, err := task.Start(t.Context(), Options{Sets: []string{"run.out=" + dir, "run.seed=7", "size=5"}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}}); err != nil {
		t.Fatal(err)
	}
	s, err := Serve(t.Context(), []Task{{Verb: "train", Name: "other"}, task}, dir)
	if err != nil {
		t.Fatal(err)
	}
	a, ok := s.(asked)
	if !ok || a.c.Size != 5 || a.f.Seed != 7 || a.f.Dir != dir || a.f.Data("rows") != "abc" || a.f.Data("others") != "" {
		t.Errorf("%+v", s)
	}
	var m map[string]int
	if err := ReadMetrics(dir, &m); err != nil || m["a"] != 1 {
		t.Errorf("metrics %v, %v", m, err)
	}
	// A task that offers nothing, and a run that no task made.
	mute := task
	mute.Action.serve = nil
	for name, tasks := range map[string][]Task{"cannot be asked": {mute}, "does not know": nil} {
		_, err := Serve(t.Context(), tasks, dir)
		if usage := (*UsageError)(nil); !errors.As(err, &usage) || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want an error that says %q", err, name)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "metrics.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ReadMetrics(dir, &m); err == nil || !strings.Contains(err.Error(), "metrics.json") {
		t.Errorf("damaged metrics: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Serve(t.Context(), []Task{task}, dir); err == nil {
		t.Error("a damaged manifest is served")
	}
}

// To name a path that is not a run directory is a mistake of the user, a file like a missing folder.
func TestServeWhatIsNoRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tiny.yaml")
	if err := os.WriteFile(file, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "run"), filepath.Join(t.TempDir(), "missing"), t.TempDir()} {
		_, err := Serve(t.Context(), []Task{askable()}, dir)
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "there is no run in "+dir) || !strings.Contains(usage.Hint(), "name a run directory") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// A server that is bound to another configuration than its action is an error, not a
// panic.
func TestServingAnotherConfiguration(t *testing.T) {
	a := Serving(askable().Action, func(_ context.Context, f Finished, c Settings) (Server, error) { return asked{}, nil })
	if _, err := a.serve(t.Context(), Finished{}, askedConfig{}); err == nil || !strings.Contains(err.Error(), "askedConfig") {
		t.Errorf("%v", err)
	}
}
