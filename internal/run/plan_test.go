package run

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"privrec/internal/config"
)

type planned struct {
	N    int    `yaml:"n"`
	Stop string `yaml:"stop"` // fail, cancel
}

func plannedTask() Task {
	return Spec[planned]{
		Verb: "train", Name: "planned", Default: func() planned { return planned{N: 3} },
		Open: func(_ context.Context, env *Env, c planned) (Work, error) { return plannedWork{env, c}, nil },
	}.Task()
}

// plannedWork is the task under one configuration.
type plannedWork struct {
	env *Env
	c   planned
}

func (w plannedWork) Run(context.Context) error {
	if err := errors.Join(declaresNothing(w.env), w.env.SaveCheckpoint(Checkpoint{State: json.RawMessage("{}")})); err != nil {
		return err
	}
	switch w.c.Stop {
	case "cancel":
		return ErrInterrupted
	case "fail":
		return errors.New("no")
	}
	return w.env.WriteMetrics(w.c.N)
}

func (w plannedWork) Forecast(context.Context) (Forecast, error) {
	return Forecast{Steps: w.c.N, Seconds: float64(w.env.Seed)}, nil
}

// A plan names the directory and says what is in it, and takes its configuration
// from text as from a file.
func TestPlan(t *testing.T) {
	task := plannedTask()
	start := func(o Options) {
		o.Stdout, o.Log, o.Progress = io.Discard, slog.New(slog.DiscardHandler), Silent{}
		task.Start(context.Background(), o)
	}
	for _, c := range []struct {
		name, stop string
		want       State
	}{{"new", "x", StateNew}, {"done", "", StateDone}, {"cut", "cancel", StateResumable}, {"failed", "fail", StateResumable}} {
		dir := filepath.Join(t.TempDir(), "r")
		o := Options{Config: "built in", Text: []byte("n: 4\nrun: {seed: 7}\n"), Sets: []string{"run.out=" + dir}}
		if c.stop != "" {
			o.Sets = append(o.Sets, "stop="+c.stop)
		}
		if c.want != StateNew {
			start(o)
		}
		p, err := task.Plan(o)
		if err != nil || p.State != c.want || p.Dir != dir || p.Seed != 7 || len(p.Hash) != 64 {
			t.Errorf("%s: %+v, %v; want %s", c.name, p, err, c.want)
		}
		if (p.Manifest == nil) != (c.want == StateNew) {
			t.Errorf("%s: manifest %v", c.name, p.Manifest)
		}
		if c.want == StateDone {
			o.Sets = append(o.Sets, "n=5")
			if p, err := task.Plan(o); err != nil || p.State != StateForeign {
				t.Errorf("another configuration: %+v, %v", p, err)
			}
		}
	}
	_, err := task.Plan(Options{Config: "built in", Text: []byte("m: 4\n")})
	if !config.Is(err) || err.Error() != "built in:1:1: m: unknown key" {
		t.Errorf("unknown key: %v", err)
	}
}

// A directory that a living process writes is busy, for a plan and for a start;
// what a dead one left is resumable.
func TestPlanBusy(t *testing.T) {
	task, dir := plannedTask(), filepath.Join(t.TempDir(), "r")
	o := Options{Sets: []string{"run.out=" + dir, "stop=cancel"}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}}
	task.Start(context.Background(), o)
	l, err := acquire(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := task.Plan(o); err != nil || p.State != StateBusy || p.Holder != os.Getpid() {
		t.Errorf("%+v, %v", p, err)
	}
	o.Resume = true
	if _, err := task.Start(context.Background(), o); !IsBusy(err) {
		t.Errorf("start: %v", err)
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, lockName), []byte(`{"pid":999999999,"host":""}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := task.Plan(o); err != nil || p.State != StateResumable {
		t.Errorf("after a death: %+v, %v", p, err)
	}
	if _, err := task.Start(context.Background(), Options{Sets: []string{"run.out=" + filepath.Join(dir, "lock", "x")}}); IsBusy(err) {
		t.Errorf("another refusal counts as busy: %v", err)
	}
}

func TestForecastOf(t *testing.T) {
	f, err := plannedTask().Forecast(context.Background(), Options{Sets: []string{"n=9", "run.seed=5"}})
	if err != nil || f.Steps != 9 || f.Seconds != 5 {
		t.Errorf("%+v, %v", f, err)
	}
	none := Task{Action: Bind(func() planned { return planned{} }, nil, nil)}
	if _, err := none.Forecast(context.Background(), Options{}); !errors.Is(err, ErrNoForecast) {
		t.Errorf("without a forecast: %v", err)
	}
}
