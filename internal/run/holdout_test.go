package run

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
)

// looking is work that notes what is held out when it is opened, run and asked.
type looking struct {
	env  *Env
	seen *[]dataset.HoldOut
}

func (l looking) Run(context.Context) error {
	if h := l.env.View().HoldOut; h != nil {
		*l.seen = append(*l.seen, *h)
	}
	return nil
}

// looks is a task of looking, which loads data unless blind.
func looks(seen *[]dataset.HoldOut, blind bool) Task {
	return Spec[openedConfig]{Verb: "train", Name: "looking", Summary: "looks", Cite: "none",
		Default: func() openedConfig { return openedConfig{} }, Check: func(*config.Checker, openedConfig) {},
		Open: func(_ context.Context, env *Env, _ openedConfig) (Work, error) {
			if !blind {
				if h := env.View().HoldOut; h != nil {
					*seen = append(*seen, *h)
				}
			}
			return looking{env, seen}, nil
		},
	}.Task()
}

// A run is opened and run under what is held out, its manifest says so, and its hash is another.
// A task that loads nothing so is refused, and so is what cannot be held out.
func TestHoldOut(t *testing.T) {
	var seen []dataset.HoldOut
	start := func(task Task, sets ...string) (string, error) {
		dir := filepath.Join(t.TempDir(), "run")
		return task.Start(t.Context(), Options{Sets: append(sets, "run.out="+dir), Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}})
	}
	hash := func(sets ...string) string {
		p, err := looks(&seen, false).Plan(Options{Sets: append(sets, "run.out="+t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	dir, err := start(looks(&seen, false), "run.hold_out.rows=0.5", "run.hold_out.draw=3", "run.seed=4")
	if err != nil {
		t.Fatal(err)
	}
	if want := (dataset.HoldOut{Rows: 0.5, Draw: 3, Seed: 4}); len(seen) != 2 || seen[0] != want || seen[1] != want {
		t.Errorf("held out %+v, want %+v twice", seen, want)
	}
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.HoldOut == nil || *m.HoldOut != (HoldOut{Rows: 0.5, Draw: 3}) {
		t.Errorf("the manifest has %+v", m.HoldOut)
	}
	if hash() == hash("run.hold_out.rows=0.5") || hash("run.hold_out.rows=0.5") == hash("run.hold_out.rows=0.5", "run.hold_out.swap=true") {
		t.Error("what is held out does not change the hash")
	}
	if dir, err = start(looks(&seen, false)); err != nil {
		t.Fatal(err)
	}
	if m, err = ReadManifest(dir); err != nil || m.HoldOut != nil || len(seen) != 2 {
		t.Errorf("nothing is held out: %+v, %v, %d", m.HoldOut, err, len(seen))
	}
	for want, sets := range map[string][]string{
		"run.hold_out: holds nothing out": {"run.hold_out.draw=1"},
		"run.hold_out.users":              {"run.hold_out.users=1"},
	} {
		if _, err := start(looks(&seen, false), sets...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", sets, err, want)
		}
	}
	if _, err := start(looks(&seen, true), "run.hold_out.users=0.5"); err == nil || !strings.Contains(err.Error(), "loads no data") {
		t.Errorf("a task without data: %v", err)
	}
}
