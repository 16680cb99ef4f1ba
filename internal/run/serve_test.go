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
)

type askedConfig struct {
	Size int `yaml:"size"`
}

// asked is work that answers with what it was opened with.
type asked struct {
	env *Env
	f   Finished
	c   askedConfig
}

func (a asked) Run(context.Context) error {
	if err := a.env.RecordData("rows", "abc"); err != nil {
		return err
	}
	return errors.Join(declaresNothing(a.env), a.env.WriteMetrics(map[string]int{"a": 1}))
}

func (a asked) Answer(context.Context) (Answers, error) {
	a.f, _ = a.env.Finished()
	return a, nil
}

func (asked) Close() {}

// askable is a task whose runs can be asked about.
func askable() Task {
	return Spec[askedConfig]{
		Verb: "train", Name: "asked", Answers: true, Default: func() askedConfig { return askedConfig{Size: 3} },
		Open: func(_ context.Context, env *Env, c askedConfig) (Work, error) { return asked{env: env, c: c}, nil },
	}.Task()
}

func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	task := askable()
	if _, err := task.Start(t.Context(), Options{Sets: []string{"run.out=" + dir, "run.seed=7", "size=5"}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}}); err != nil {
		t.Fatal(err)
	}
	s, err := Serve(t.Context(), []Task{{Verb: "train", Name: "other"}, task}, dir, "")
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
	mute.Action.answers = false
	for name, tasks := range map[string][]Task{"cannot be asked": {mute}, "does not know": nil} {
		_, err := Serve(t.Context(), tasks, dir, "")
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
	if _, err := Serve(t.Context(), []Task{task}, dir, ""); err == nil {
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
		_, err := Serve(t.Context(), []Task{askable()}, dir, "")
		var usage *UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "there is no run in "+dir) || !strings.Contains(usage.Hint(), "name a run directory") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

type spareConfig struct {
	Size int `yaml:"size,omitempty"`
}

// A run with a zero where the default is another value answers as it was made, with the key in its
// config.yaml, and without it, as earlier programs wrote it.
func TestServeZero(t *testing.T) {
	size := -1
	task := Spec[spareConfig]{
		Verb: "train", Name: "spare", Answers: true, Default: func() spareConfig { return spareConfig{Size: 3} },
		Open: func(_ context.Context, env *Env, c spareConfig) (Work, error) {
			size = c.Size
			return asked{env: env}, nil
		},
	}.Task()
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := task.Start(t.Context(), Options{Sets: []string{"run.out=" + dir, "size=0"}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, configName)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\nsize: 0\n") {
		t.Errorf("config.yaml lacks the zero:\n%s", text)
	}
	for _, text := range []string{string(text), strings.Replace(string(text), "size: 0\n", "", 1)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		size = -1
		s, err := Serve(t.Context(), []Task{task}, dir, "")
		if err != nil {
			t.Fatalf("%v, with the configuration\n%s", err, text)
		}
		s.Close()
		if size != 0 {
			t.Errorf("opened with size %d, want 0, with the configuration\n%s", size, text)
		}
	}
}
