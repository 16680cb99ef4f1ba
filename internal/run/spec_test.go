package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/privacy"
)

// opened is a method that notes what became of it.
type opened struct {
	env    *Env
	draw   uint64 // of the run's seed and configuration
	closed *int
}

type openedConfig struct {
	Value int `yaml:"value"`
}

// Run implements Work.
func (o opened) Run(context.Context) error {
	return errors.Join(o.env.SaveCheckpoint(Checkpoint{State: json.RawMessage("{}")}), o.env.WriteMetrics(o.draw))
}

// Forecast implements Forecaster. It tries to write, as a slip would.
func (o opened) Forecast(context.Context) (Forecast, error) {
	return Forecast{Steps: 3}, o.refuses()
}

// refuses is an error where anything is kept.
func (o opened) refuses() error {
	o.env.AppendLog("shown")
	o.env.Stage("measure")()
	if err := o.env.Note("a remark"); err != nil {
		return err
	}
	for name, err := range map[string]error{
		"checkpoint": o.env.SaveCheckpoint(Checkpoint{State: json.RawMessage("{}")}),
		"metrics":    o.env.WriteMetrics(1),
		"privacy":    o.env.WritePrivacy(1),
		"scores":     o.env.WriteScores("s", Column{"a", []int32{1}}),
		"artefact":   o.env.WriteArtefact("a", func(io.Writer) error { return nil }),
	} {
		if !errors.Is(err, errWritesNothing) {
			return errors.New(name + " was kept")
		}
	}
	return nil
}

// Answer implements Answerer.
func (o opened) Answer(context.Context) (Answers, error) {
	var was uint64
	if err := ReadMetrics(o.env.Dir, &was); err != nil {
		return nil, err
	}
	if was != o.draw {
		return nil, errors.New("the finished run drew something else")
	}
	if f, ok := o.env.Finished(); !ok || f.Manifest.Status != StatusDone {
		return nil, errors.New("the run is not known to be finished")
	}
	return answering{o}, o.refuses()
}

// Close notes that memory was given back.
func (o opened) Close() { *o.closed++ }

type answering struct{ opened }

// specimen is a task of opened; hash is that of its data.
func specimen(t *testing.T, hash *string, closed *int) Task {
	return Spec[openedConfig]{
		Verb: "train", Name: "specimen", Summary: "notes", Cite: "none", Answers: true,
		Default: func() openedConfig { return openedConfig{Value: 1} },
		Check:   func(v *config.Checker, c openedConfig) { v.Between("value", c.Value, 1, 9) },
		Open: func(_ context.Context, env *Env, c openedConfig) (Work, error) {
			if err := env.RecordData("rows", *hash); err != nil {
				return nil, err
			}
			l, err := env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{{What: "rows", Why: "test"}}})
			if err != nil {
				return nil, err
			}
			once, err := env.Once()
			if err != nil {
				return nil, err
			}
			if err := once.Record("rows", privacy.Laplace{Sensitivity: 1, Scale: 1, Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, 1); err != nil {
				return nil, err
			}
			if l == nil {
				t.Error("no ledger")
			}
			s := env.Seed.Stream("specimen." + env.ConfigHash)
			return opened{env, s.Uint64(), closed}, nil
		},
	}.Task()
}

// The same opening serves a run, a forecast and a finished run: only the first one writes.
func TestSpec(t *testing.T) {
	hash, closed := "aa", 0
	task := specimen(t, &hash, &closed)
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := task.Forecast(t.Context(), Options{Sets: []string{"run.out=" + dir}}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("a forecast made the run directory (%v)", err)
	}
	o := Options{Sets: []string{"run.out=" + dir}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}}
	if _, err := task.Start(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	before := listed(t, dir)
	s, err := Serve(t.Context(), []Task{task}, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if after := listed(t, dir); after != before {
		t.Errorf("asking a finished run changed it:\n%s\n%s", before, after)
	}
	if closed != 3 {
		t.Errorf("memory was given back %d times, want 3", closed)
	}
	hash = "bb"
	if _, err := Serve(t.Context(), []Task{task}, dir, ""); err == nil ||
		!strings.Contains(err.Error(), "rows are not those of the run") {
		t.Errorf("other data: %v", err)
	}
	if err := task.Check("", []string{"value=10"}); err == nil || !strings.Contains(err.Error(), "value") {
		t.Errorf("a value out of range: %v", err)
	}
}

// listed is the names, sizes and times of the files of a folder.
func listed(t *testing.T, dir string) string {
	t.Helper()
	var all string
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil {
			all += path + " " + info.ModTime().String() + "\n"
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
