package reproduce

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// fakeConfig is a task that does no more than its configuration says.
type fakeConfig struct {
	Data struct {
		Name string `yaml:"name"`
	} `yaml:"data"`
	Value float64 `yaml:"value"` // Recall@20 of seed 1; each further seed adds 0.01
	Level string  `yaml:"level"`
	// Fail is empty, error, data, once (interrupted after a checkpoint), badmetrics, definition or large (results).
	Fail  string  `yaml:"fail"`
	Short string  `yaml:"short"` // what the run says of its epochs
	Eps   string  `yaml:"eps"`   // claimed; "" writes no privacy.json
	Users int     `yaml:"users"` // whose scores are kept: half of them 0.1 above the result, half below
	User  float64 `yaml:"user"`  // accounted epsilon of a user; 0: 70
}

// aboutConfig is a task about finished runs of the fake.
type aboutConfig struct {
	On struct {
		Runs   []string `yaml:"runs"`
		Beside bool     `yaml:"beside"` // the run's own directory
	} `yaml:"on"`
	Level string `yaml:"level"`
}

// about is the task: its Recall@20 is the sum of those of the runs.
func about(began func()) run.Task {
	return run.Spec[aboutConfig]{
		Verb: "attack", Name: "fake", Summary: "adds up", Cite: "A. Author",
		Default: func() aboutConfig { return aboutConfig{Level: "B"} },
		Check: func(v *config.Checker, c aboutConfig) {
			v.Check(len(c.On.Runs) > 0, "on.runs", "must name at least one")
		},
		Open: func(_ context.Context, env *run.Env, c aboutConfig) (run.Work, error) {
			return work(func(context.Context) error {
				began()
				f, sum := &fake{}, 0.0
				for _, dir := range c.On.Runs {
					if c.On.Beside {
						dir = filepath.Join(filepath.Dir(env.Dir), dir)
					}
					o, err := experiment.ReadOutcome(dir)
					if err != nil {
						return err
					}
					sum += o.Evaluations[0].Values["Recall@20"]
				}
				own := fakeConfig{Value: sum - 0.01*float64(env.Seed-1), Level: c.Level} // the fake adds it again
				return f.work(context.Background(), env, own)
			}), nil
		},
	}.Task()
}

type work func(context.Context) error

func (w work) Run(ctx context.Context) error { return w(ctx) }

// fake is the task and how often its work began.
type fake struct {
	starts atomic.Int64
	ctx    func() // called in every work, to stop the world
}

func (f *fake) task() run.Task {
	return run.Spec[fakeConfig]{
		Verb: "train", Name: "fake", Summary: "does nothing", Cite: "A. Author",
		Default: func() fakeConfig { return fakeConfig{Value: 0.2, Level: "B", Eps: "5"} },
		Check:   func(v *config.Checker, c fakeConfig) { v.Check(c.Value >= 0, "value", "must not be negative") },
		Open:    func(_ context.Context, env *run.Env, c fakeConfig) (run.Work, error) { return opened{f, env, c}, nil },
	}.Task()
}

// opened is the fake under one configuration.
type opened struct {
	f   *fake
	env *run.Env
	c   fakeConfig
}

func (o opened) Run(ctx context.Context) error { return o.f.work(ctx, o.env, o.c) }

func (o opened) Forecast(context.Context) (run.Forecast, error) {
	if o.c.Fail == "data" {
		return run.Forecast{}, &dataset.Error{File: o.c.Data.Name, Msg: "nothing there", Err: dataset.ErrNotFound, Hint: "fetch it"}
	}
	return run.Forecast{Steps: 100, StepSeconds: 0.5, Seconds: 50, Fastest: 40, Bytes: 64 << 20, Basis: "guessed"}, nil
}

func (f *fake) work(ctx context.Context, env *run.Env, c fakeConfig) error {
	f.starts.Add(1)
	if _, err := env.Ledger(privacy.Research, privacy.Declaration{}); err != nil {
		return err
	}
	env.Progress.Begin("working", 2)
	env.Progress.Add(1)
	if f.ctx != nil {
		f.ctx()
	}
	if ctx.Err() != nil {
		return run.ErrInterrupted
	}
	switch c.Fail {
	case "error":
		return errors.New("it broke\nbadly")
	case "data":
		return &dataset.Error{File: c.Data.Name, Msg: "nothing there", Err: dataset.ErrNotFound, Hint: "fetch it"}
	case "once":
		if _, ok, err := env.LoadCheckpoint(); err != nil || !ok {
			return errors.Join(err, env.SaveCheckpoint(run.Checkpoint{State: json.RawMessage("{}")}), run.ErrInterrupted)
		}
	}
	env.Progress.End("worked")
	m := metrics.Metric{Kind: metrics.Recall, K: 20}
	v := c.Value + 0.01*float64(env.Seed-1)
	definition := m.Definition()
	if c.Fail == "definition" {
		definition = "something else"
	}
	var level dataset.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		return err
	}
	values := func(recall, mrr float64) map[string]float64 {
		return map[string]float64{"Recall@20": recall, "MRR@20": mrr}
	}
	out := experiment.Outcome[experiment.Data]{
		Version: experiment.Version, Setting: "profile own", Data: experiment.Data{Level: level, Source: dataset.Source{Level: level}},
		Definitions: map[string]string{"Recall@20": definition, "MRR@20": metrics.Metric{Kind: metrics.MRR, K: 20}.Definition(),
			metrics.Accuracy.String(): metrics.Accuracy.Definition()},
		Floors: []experiment.Scores{{Name: "random", Values: values(0.01, 0.001)}},
		Evaluations: []experiment.Scores{
			{Name: "fake, epoch 1, noise on", Values: values(v, v/4)},
			{Name: "fake, epoch 1, noise off", Values: values(v+0.1, v/2)},
			{Name: "fake, strength 0.5", Values: map[string]float64{"Recall@20": v / 2, "MRR@20": v / 8, "recommendation accuracy": 0.75}},
			{Name: "fake, strength 1", Values: values(0, 0)},
		},
		Trained: experiment.Trained{Short: c.Short, Epochs: make([]experiment.Epoch, 2), Selection: make([]experiment.Epoch, 3)},
	}
	if c.Fail == "large" {
		out.Definitions["long"] = strings.Repeat("it is long, ", 10_000)
	}
	if c.Fail == "badmetrics" {
		out.Floors = nil
	}
	if err := env.WriteMetrics(out); err != nil {
		return err
	}
	if c.Users > 0 {
		ids, noise, other := make([]string, c.Users), make([]float64, c.Users), make([]float64, c.Users)
		for i := range ids {
			by := 0.1 * float64(1-2*(i%2))
			ids[i], noise[i], other[i] = fmt.Sprint("u", i), v+by, v+0.1-by
		}
		for name, values := range map[string][]float64{"scores-on": noise, "scores-off": other} {
			if err := env.WriteScores(name, run.Column{Name: "user_id", Values: ids}, run.Column{Name: "Recall@20", Values: values}); err != nil {
				return err
			}
		}
	}
	if c.Eps == "" {
		return nil
	}
	var claimed privacy.Number
	if err := json.Unmarshal([]byte(c.Eps), &claimed); err != nil {
		return err
	}
	user := privacy.Number(70)
	if c.User > 0 {
		user = privacy.Number(c.User)
	}
	a := experiment.Unprotected("labels", "they are seen")
	a.Claimed = &experiment.Claim{Eps: claimed, Unit: "edge", Theorem: "1"}
	a.Units = []experiment.Unit{
		{Unit: "edge", Neighbouring: "add-remove", Delta: 1e-6, Accounted: experiment.Accounted{Eps: privacy.Number(7 + float64(env.Seed))}, Total: a.Total, Unbounded: []string{"labels"}},
		{Unit: "user", Neighbouring: "replace", Delta: 1e-6, Accounted: experiment.Accounted{Eps: user}, Total: user, Unbounded: []string{}},
	}
	return env.WritePrivacy(a)
}

const fakeGrid = `# a grid of a fake task
name: fake-table
paper: fake
table: 3
title: Fakes compared
source: {cite: "A. Author, 2026", where: page 7, about: one seed}
unit: percent
metrics:
  - {metric: Recall@20, printed: R}
  - {metric: MRR@20, printed: M}
data:
  - {name: ml-1m, printed: ML-1M, stand_in: standin-tiny}
profiles:
  smoke: {about: nothing, stand_in: true, seeds: [1], set: [level=D]}
  quick: {about: less, stand_in: false, seeds: [1], set: []}
  full: {about: all, stand_in: false, seeds: [1, 2, 3], set: []}
rows:
  - {method: One, data: ml-1m, task: train fake, config: fake.yaml, evaluation: noise on, printed: [19, 5.5]}
  - {method: Two, data: ml-1m, task: train fake, config: fake.yaml, evaluation: noise off, set: [value=0.3], printed: [null, 5.5]}
`

// load writes a grid with its configuration and loads it.
func load(t *testing.T, text string, tasks ...run.Task) (*grid.Grid, error) {
	t.Helper()
	return loadWith(t, text, nil, tasks...)
}

// loadWith is load with further configurations.
func loadWith(t *testing.T, text string, more map[string]string, tasks ...run.Task) (*grid.Grid, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"grid.yaml": text, "fake.yaml": "value: 0.2\n"}
	maps.Copy(files, more)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return grid.Load(filepath.Join(dir, "grid.yaml"), tasks)
}

func mustLoad(t *testing.T, text string, tasks ...run.Task) *grid.Grid {
	t.Helper()
	g, err := load(t, text, tasks...)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func options(t *testing.T, size string) roster.Options {
	return roster.Options{Size: size, Out: t.TempDir(), Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}}
}

// makeTable plans one table and makes it.
func makeTable(ctx context.Context, g *grid.Grid, o roster.Options) (*Outcome, error) {
	p, err := NewPlan([]*grid.Grid{g}, o)
	if err != nil {
		return nil, err
	}
	return p.Make(ctx, 0)
}

// markdown is the table as written.
func markdown(t *testing.T, o *Outcome) string {
	t.Helper()
	b, err := os.ReadFile(o.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// holds fails unless every part is in the text.
func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("no %q in\n%s", p, text)
		}
	}
}

func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if strings.Contains(text, p) {
			t.Errorf("%q in\n%s", p, text)
		}
	}
}

func statuses(o *Outcome) string {
	var out []string
	for _, r := range o.Runs {
		out = append(out, fmt.Sprintf("%s/%d %s", r.Method, r.Seed, r.Status))
	}
	return strings.Join(out, ", ")
}
