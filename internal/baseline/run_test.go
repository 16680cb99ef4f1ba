package baseline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// Every task runs to its end and claims nothing.
func TestTasks(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", false)
		if a.Claimed != nil || !math.IsInf(float64(a.Total), 1) || len(a.Unbounded) == 0 || len(a.Units) != 0 {
			t.Errorf("%+v", a)
		}
		for _, o := range a.Unbounded {
			if !strings.Contains(text, o.What+": "+o.Why) {
				t.Errorf("what is printed lacks %q:\n%s", o.What, text)
			}
		}
	})
}

// A ranking among sampled items stands beside the one among all, for models of both kinds.
func TestSampledCandidates(t *testing.T) {
	s := suite
	s.Tasks = []run.Task{task(t, "bprmf"), task(t, "ease")}
	s.Sets = map[string][]string{"bprmf": topntest.Trained("eval.candidates=30"), "ease": topntest.Data("eval.candidates=30")}
	s.End(t, func(*testing.T, string, string) {})
	s.Answers(t)
	s.Repeat(t, "bprmf")
	s.Resume(t, "ease", "ease")
}

// What a run keeps is what it ranked.
func TestVectorsRankAsReported(t *testing.T) {
	for _, task := range suite.Tasks {
		if trains(task) {
			suite.VectorsRank(t, task.Name, "")
		}
	}
}

func TestForecast(t *testing.T) { suite.Forecast(t, func(string) bool { return false }) }

func TestModelsLearn(t *testing.T) {
	for _, task := range suite.Tasks {
		suite.Learn(t, task.Name)
	}
}

func TestWorkersAndSeeds(t *testing.T) {
	for _, task := range suite.Tasks {
		if runtest.HasKey(task, "model.dim") { // vectors begin with random values
			suite.Repeat(t, task.Name)
		}
	}
}

func TestResume(t *testing.T) {
	for _, task := range suite.Tasks {
		var sets []string
		if trains(task) {
			sets = []string{"eval.every=true"}
		}
		suite.Resume(t, task.Name, task.Name, sets...)
	}
}

// A schedule trains as the same steps spelled out do, and a stopped run of it goes on to the same bytes.
func TestScheduleLarge(t *testing.T) {
	scores := func(sets ...string) string {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, task(t, "bprmf"), dir, append(sets, "train.epochs=4", "model.dim=16")...)
		o := outcome(t, dir)
		return fmt.Sprint(o.Steps, o.Epochs, o.Evaluations)
	}
	plain := scores("train.batch=32", "train.rate=0.002")
	large := scores("train.batch=32", "train.rate=0.002", "train.schedule=large")
	if spelled := scores("train.batch=512", "train.rate=0.008", "train.warm_up=100"); large != spelled || large == plain {
		t.Errorf("the schedule gives\n%s\nits steps\n%s\nand without it\n%s", large, spelled, plain)
	}
	suite.Resume(t, "lightgcn", "lightgcn", "train.schedule=large", "train.batch=8")
}

// Early stopping ends a run under its cap, which is printed; the epoch reported is
// the one with the best Recall@20 on validation.
func TestEarlyStopping(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	text := start(t, task(t, "bprmf"), dir, "train.epochs=400", "train.patience=3", "train.rate=0.05", "model.dim=16")
	o := outcome(t, dir)
	if !o.Stopped || len(o.Epochs) == 400 || o.Cap != 400 {
		t.Fatalf("stopped %t after %d of %d epochs", o.Stopped, len(o.Epochs), o.Cap)
	}
	if want := fmt.Sprintf("cap 400, stopped early after %d", len(o.Epochs)); !strings.Contains(text, want) {
		t.Errorf("what is printed lacks %q", want)
	}
	best, bad, r, n := 0, 0, -1.0, -1.0
	for i, e := range o.Epochs {
		recall, ndcg := math.NaN(), math.NaN()
		for _, s := range e.Scores {
			switch s.Name {
			case "valid Recall@20":
				recall = s.Value
			case "valid NDCG@20":
				ndcg = s.Value
			}
		}
		bad++
		if recall > r {
			best, r, bad = i, recall, 0
		}
		if ndcg > n {
			n, bad = ndcg, 0
		}
		if (bad >= 3) != (i == len(o.Epochs)-1) {
			t.Errorf("epoch %d: %d epochs without a better score of %d", i+1, bad, len(o.Epochs))
		}
	}
	if o.Selected != best+1 {
		t.Errorf("epoch %d is reported, %d was best", o.Selected, best+1)
	}
}

// The curve on test is drawn where it is asked for, and chooses nothing.
func TestEvery(t *testing.T) {
	dir, plain := filepath.Join(t.TempDir(), "every"), filepath.Join(t.TempDir(), "plain")
	start(t, task(t, "bprmf"), dir, "eval.every=true")
	start(t, task(t, "bprmf"), plain)
	a, b := outcome(t, dir), outcome(t, plain)
	name := "test " + metrics.Metric{Kind: metrics.NDCG, K: 20}.String()
	for i, e := range a.Epochs {
		found := false
		for _, s := range e.Scores {
			found = found || s.Name == name
		}
		if !found {
			t.Errorf("epoch %d has no %s", i+1, name)
		}
	}
	if fmt.Sprint(a.Evaluations) != fmt.Sprint(b.Evaluations) {
		t.Error("watching the test rows changes the result")
	}
}

// A run leaves nothing behind but its directory.
func TestNothingElseIsWritten(t *testing.T) {
	if _, err := os.Stat("runs"); err == nil {
		t.Error("a test wrote runs")
	}
}

func TestForecastErrors(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	if _, err := task(t, "bprmf").Forecast(t.Context(), run.Options{}); !errors.Is(err, dataset.ErrNotFound) {
		t.Errorf("without data: %v", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if _, err := task(t, "bprmf").Forecast(ctx, run.Options{Sets: topntest.Trained()}); !run.WasInterrupted(err) {
		t.Errorf("interrupted: %v", err)
	}
}
