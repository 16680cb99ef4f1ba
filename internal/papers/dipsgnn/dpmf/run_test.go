package dpmf

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// start runs a task under its smoke setting.
func start(ctx context.Context, task run.Task, dir string, o run.Options, sets ...string) error {
	o.Config = "../../../../configs/dipsgnn/smoke-" + task.Name + ".yaml"
	o.Sets = slices.Concat([]string{"run.out=" + dir, "run.workers=1"}, sets)
	o.Log, o.Progress = slog.New(slog.DiscardHandler), run.Silent{}
	if o.Stdout == nil {
		o.Stdout = &bytes.Buffer{}
	}
	o.NoiseSeed = 1 // so that runs can be compared
	_, err := task.Start(ctx, o)
	return err
}

// A run claims what the proof says, accounts for infinity, and answers.
func TestRun(t *testing.T) {
	for _, task := range Tasks() {
		t.Run(task.Name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			var out bytes.Buffer
			if err := start(t.Context(), task, dir, run.Options{Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
			if a.Claimed == nil || a.Claimed.Eps != 5 || a.Claimed.Delta != 0 || !math.IsInf(float64(a.Total), 1) || len(a.Unbounded) != 3 || len(a.Units) != 2 || a.Units[0].Neighbouring != "replace" {
				t.Errorf("%+v", a)
			}
			if got := float64(a.Units[0].Accounted.Eps); got > 5 || got < 5*(1-1e-12) {
				t.Errorf("the noise comes to %v", got)
			}
			for _, want := range []string{"existence: ", "users_vectors: ", "minimum: ", "claimed epsilon    5"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the result does not say %q:\n%s", want, &out)
				}
			}
			o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
			if len(o.Evaluations) != 1 || !strings.HasPrefix(o.Method, "DPMF_") || o.Data.TestSamples != 863 {
				t.Errorf("%s: %+v", o.Method, o.Evaluations)
			}
			s, err := experiment.Ask(t.Context(), Tasks(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if e, err := s.Evaluate(t.Context()); err != nil || e.Differs != 0 {
				t.Errorf("evaluated again: %+v, %v", e, err)
			}
		})
	}
}

// Without noise both rank better than at random, ratings hardly: these say how much users like what they
// take, not what they take. The account says that nothing is protected.
func TestLearnsWithoutNoise(t *testing.T) {
	for _, task := range Tasks() {
		dir := filepath.Join(t.TempDir(), "run")
		if err := start(t.Context(), task, dir, run.Options{}, "privacy.epsilon=.inf", "train.epochs=100"); err != nil {
			t.Fatal(err)
		}
		o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
		if floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; !(got > 1.1*floor) {
			t.Errorf("%s: Recall@20 %v, a random order gives %v", task.Name, got, floor)
		}
		a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
		if a.Claimed != nil || !math.IsInf(float64(a.Total), 1) || len(a.Unbounded) != 1 || a.Unbounded[0].What != "no noise" {
			t.Errorf("%+v", a)
		}
	}
}

// What is drawn in every epoch adds up.
func TestDrawsAddUp(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := start(t.Context(), Tasks()[0], dir, run.Options{}, "privacy.draws=epoch", "train.epochs=3"); err != nil {
		t.Fatal(err)
	}
	a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
	if got := float64(a.Units[0].Accounted.Eps); a.Claimed.Eps != 5 || math.Abs(got-15) > 1e-9 || !math.IsInf(float64(a.Total), 1) {
		t.Errorf("%+v", a)
	}
}

// The same seed gives the same bytes for any number of workers and after an interruption; another
// seed gives others.
func TestRepeat(t *testing.T) {
	for _, task := range Tasks() {
		whole := runtest.NewFuse(t, 0, nil)
		dir := filepath.Join(t.TempDir(), "run")
		if err := start(whole, task, dir, run.Options{}); err != nil {
			t.Fatal(err)
		}
		want := runtest.Artefacts(t, dir)
		for _, at := range []int{whole.Looks / 3, whole.Looks * 2 / 3, whole.Looks} {
			dir := filepath.Join(t.TempDir(), "run")
			if err := start(runtest.NewFuse(t, at, nil), task, dir, run.Options{}, "run.workers=3"); !run.WasInterrupted(err) {
				t.Fatalf("%s, interrupted at look %d of %d: %v", task.Name, at, whole.Looks, err)
			}
			if err := start(t.Context(), task, dir, run.Options{Resume: true}); err != nil {
				t.Fatal(err)
			}
			runtest.Same(t, task.Name+", interrupted", runtest.Artefacts(t, dir), want)
		}
		other := filepath.Join(t.TempDir(), "run")
		if err := start(t.Context(), task, other, run.Options{}, "run.seed=2"); err != nil {
			t.Fatal(err)
		}
		a := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
		b := runtest.ReadJSON[nextitem.Outcome](t, other, "metrics.json", true)
		if a.Evaluations[0].Values["MRR@20"] == b.Evaluations[0].Values["MRR@20"] {
			t.Errorf("%s: two seeds have the same MRR@20", task.Name)
		}
	}
}

// The files are the profile, at which the paper's numbers stand beside ours.
func TestConfigs(t *testing.T) {
	for _, name := range []string{"ml-1m-dpmf-exp", "ml-1m-dpmf-imp", "yelp-dpmf-exp", "yelp-dpmf-imp", "tmall-dpmf-imp"} {
		type file struct {
			Of   string `yaml:"task"`
			Task Config `yaml:",inline"`
			Run  struct {
				Seed int `yaml:"seed"`
			} `yaml:"run"`
		}
		c, _, err := config.Load("../../../../configs/dipsgnn/"+name+".yaml", nil, file{})
		if err != nil {
			t.Fatal(err)
		}
		want := Default()
		want.Data.Name, _, _ = strings.Cut(name, "-dpmf")
		s, err := experiment.Stand(c.Task, "paper", map[string]Config{"paper": want}, nil)
		if err != nil || s.Text != "profile paper" || c.Task.Profile != "paper" {
			t.Errorf("%s: %s, %v", name, s.Text, err)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, set := range []string{"model.dim=0", "model.lambda=-1", "model.std=0", "privacy.epsilon=0", "privacy.draws=never", "privacy.epsilon=.nan", "train.epochs=0", "train.rate=2", "eval.k=[]", "data.candidates=all"} {
		key, _, _ := strings.Cut(set, "=")
		if err := Tasks()[0].Check("", []string{set}); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", set, err)
		}
	}
	if _, err := Tasks()[0].Forecast(t.Context(), run.Options{Sets: []string{"data.name=standin-tiny"}}); !errors.Is(err, run.ErrNoForecast) {
		t.Errorf("forecast: %v", err)
	}
}
