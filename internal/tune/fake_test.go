package tune

import (
	"context"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// fakeConfig is a task whose score is a known function of its settings.
type fakeConfig struct {
	Data struct {
		Name   string `yaml:"name"`
		Recipe string `yaml:"recipe"`
	} `yaml:"data"`
	Train struct {
		Epochs int     `yaml:"epochs"`
		Rate   float64 `yaml:"rate"`
		Refit  bool    `yaml:"refit"`
	} `yaml:"train"`
	Width int     `yaml:"width"`
	Peek  string  `yaml:"peek"`         // "", whole, log, lie
	On    int     `yaml:"on,omitempty"` // 1 by default
	Sigma float64 `yaml:"sigma"`        // noise of a release about a user; 0: nothing is protected
}

// fake counts what is begun, and can stop the world.
type fake struct {
	starts atomic.Int64
	hook   func(c fakeConfig) error // in every run, after its data are loaded; may be nil
	seen   func(d *dataset.Interactions)
}

func (f *fake) task() run.Task {
	return run.Spec[fakeConfig]{
		Verb: "train", Name: "fake", Summary: "scores by a formula", Cite: "A. Author",
		Default: func() (c fakeConfig) {
			c.Data.Name, c.Data.Recipe = "standin-tiny", "rdpgcf"
			c.Train.Epochs, c.Train.Rate, c.Width, c.On = 9, 0.1, 8, 1
			return c
		},
		Check: func(v *config.Checker, c fakeConfig) {
			v.Within("train.rate", c.Train.Rate, 1e-9, 1e9)
			v.Check(c.Width != 13, "width", "must not be 13")
		},
		Open: func(ctx context.Context, env *run.Env, c fakeConfig) (run.Work, error) { return opened{f, env, c}, nil },
	}.Task()
}

type opened struct {
	f   *fake
	env *run.Env
	c   fakeConfig
}

// optimum is where score is largest: rate 0.003, width 32.
const bestRate, bestWidth = 0.003, 32

// score rises with the epochs.
func score(c fakeConfig) float64 {
	r, w := math.Log10(c.Train.Rate/bestRate), math.Log2(float64(c.Width)/bestWidth)
	return 0.8 * math.Exp(-r*r-w*w/4) * float64(c.Train.Epochs) / float64(c.Train.Epochs+2)
}

func (o opened) Run(ctx context.Context) error {
	o.f.starts.Add(1)
	d := &dataset.Interactions{Name: o.c.Data.Name, Recipe: o.c.Data.Recipe}
	if o.env.View().Withheld != nil {
		d.InPlace = dataset.ValidRows
	}
	if o.c.Peek != "" || o.f.seen != nil {
		var err error
		if d, err = o.load(ctx); err != nil {
			return err
		}
	}
	l, err := o.env.Ledger(privacy.Research, privacy.Declaration{})
	if err != nil {
		return err
	}
	if o.c.Sigma > 0 {
		if err := l.Record("release", privacy.Gaussian{Sigma: o.c.Sigma, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, 1); err != nil {
			return err
		}
	}
	if o.f.hook != nil {
		if err := o.f.hook(o.c); err != nil {
			return err
		}
	}
	m := metrics.Metric{Kind: metrics.NDCG, K: 20}
	type data struct {
		experiment.Data
		Users int `json:"test_users"`
	}
	out := experiment.Outcome[data]{Version: experiment.Version, Method: "Fake", Protocol: "top-n", Metrics: []metrics.Metric{m},
		Evaluations: []experiment.Scores{{Name: "Fake", Values: map[string]float64{m.String(): score(o.c)}}}}
	out.Data.Name, out.Data.Recipe, out.Data.Users, out.Data.Level = d.Name, d.Recipe, 200, dataset.LevelD
	out.Data.Source.Level = dataset.LevelD
	if d.InPlace != dataset.TestRows && o.c.Peek != "lie" {
		out.Data.InPlace = experiment.Validation
	}
	return o.env.WriteMetrics(out)
}

// study is a search of the fake.
func study(t *testing.T, f *fake, change func(*Study)) *Study {
	t.Helper()
	s := Default()
	s.Name, s.Trials, s.Rows = "fake", 12, Public
	s.Tasks = []Task{{Task: "train fake", Space: map[string]Space{
		"train.rate": {Log: []float64{1e-5, 1}}, "width": {Choice: []Word{"8", "13", "16", "32", "64"}}}}}
	if change != nil {
		change(&s)
	}
	if err := s.Form(nil, []run.Task{f.task()}); err != nil {
		t.Fatal(err)
	}
	return &s
}

// search makes a search in a new folder, and returns it with the log.
func search(t *testing.T, s *Study, o Options) (*Result, string) {
	t.Helper()
	if o.Out == "" {
		o.Out = t.TempDir()
	}
	o.Progress = run.Silent{}
	r, err := Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, logOf(t, o.Out)
}

func logOf(t *testing.T, out string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(out, logName))
	if err != nil && !os.IsNotExist(err) { // it is removed where no trial has ended
		t.Fatal(err)
	}
	return string(b)
}

// load reads the rows as the configuration says, honestly or not.
func (o opened) load(ctx context.Context) (*dataset.Interactions, error) {
	v := o.env.View()
	switch o.c.Peek {
	case "whole":
		v = dataset.View{Seed: o.env.Seed}
	case "log":
		if _, _, err := registry.LoadLog(ctx, o.c.Data.Name, v, registry.Options{}); err != nil {
			return nil, err
		}
	}
	d, err := registry.LoadInteractions(ctx, o.c.Data.Name, o.c.Data.Recipe, v, registry.Options{})
	if err == nil && o.f.seen != nil {
		o.f.seen(d)
	}
	return d, err
}

var discard = slog.New(slog.DiscardHandler)
