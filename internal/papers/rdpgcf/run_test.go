package rdpgcf

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/metrics"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// Every task runs to its end: floors and level beside the result, an account, the
// per-user scores, and what ranks for others.
func TestTasks(t *testing.T) {
	for _, task := range Tasks() {
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			text := start(t, task, dir)
			for _, want := range []string{"random (floor)", "popularity (floor)", "evidence level D", "accounted epsilon"} {
				if !strings.Contains(text, want) {
					t.Errorf("what is printed lacks %q:\n%s", want, text)
				}
			}
			o := readJSON[Outcome](t, dir, "metrics.json")
			if len(o.Floors) != 2 || len(o.Evaluations) == 0 || len(o.Metrics) != 4 || o.Data.Level != "D" {
				t.Fatalf("%d floors, %d evaluations, metrics %v, level %s", len(o.Floors), len(o.Evaluations), o.Metrics, o.Data.Level)
			}
			if o.Data.TrainRows == 0 || o.Data.TestRows == 0 || o.Data.TestUsers == 0 {
				t.Errorf("%+v", o.Data)
			}
			for _, e := range append(o.Floors, o.Evaluations...) {
				if len(e.Values) != 4 {
					t.Errorf("%s has the values %v", e.Name, e.Values)
				}
				for m, v := range e.Values {
					if !(v > 0 && v <= 1) {
						t.Errorf("%s: %s is %v", e.Name, m, v)
					}
				}
				if e.Paper != nil {
					t.Errorf("%s on a stand-in stands beside a printed number", e.Name)
				}
			}
			a := readJSON[Account](t, dir, "privacy.json")
			for _, l := range a.lines() {
				if !strings.Contains(text, l.head+" ") || !strings.Contains(text, l.text) {
					t.Errorf("what is printed lacks %q:\n%s", l.text, text)
				}
			}
			if !math.IsInf(float64(a.EpsTotal), 1) && len(a.Unprotected) > 0 {
				t.Errorf("a total of %v with %d things open", a.EpsTotal, len(a.Unprotected))
			}
			scores, err := filepath.Glob(filepath.Join(dir, "scores*.tsv.gz"))
			if err != nil || len(scores) != len(o.Evaluations) {
				t.Errorf("%d files of scores for %d evaluations (%v)", len(scores), len(o.Evaluations), err)
			}
		})
	}
}

// What a run releases is what it ranked: the vectors on file give the scores in
// metrics.json again.
func TestVectorsRankAsReported(t *testing.T) {
	for _, c := range []struct{ task, kind string }{{"bprmf", ""}, {"lightgcn", ""}, {"ngcf", ""}, {"rdpgcf", ReleaseNoisy}, {"rdpgcf", ReleaseAvg}, {"rdpgcf", ReleaseClean}} {
		t.Run(c.task+c.kind, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			start(t, task(t, c.task), dir)
			tensors, _, err := run.ReadSafetensors(filepath.Join(dir, vectorFile(c.kind)))
			if err != nil {
				t.Fatal(err)
			}
			o := readJSON[Outcome](t, dir, "metrics.json")
			x := onStandIn(t)
			users, err := tensors[0].Matrix()
			if err != nil {
				t.Fatal(err)
			}
			items, err := tensors[1].Matrix()
			if err != nil {
				t.Fatal(err)
			}
			if tensors[0].Name != "user" || tensors[1].Name != "item" || users.Rows != x.data.Users || items.Rows != x.data.Items {
				t.Fatalf("%s %d and %s %d", tensors[0].Name, users.Rows, tensors[1].Name, items.Rows)
			}
			ranks, err := x.rank(t.Context(), inner(users, items), x.test, 20)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range o.Evaluations {
				if e.Release != c.kind {
					continue
				}
				if got := primary.MeanSet(ranks); got != e.Values[primary.String()] {
					t.Errorf("%v from the vectors, %v reported", got, e.Values[primary.String()])
				}
			}
		})
	}
}

// onStandIn is an experiment on the stand-in of the tiny settings.
func onStandIn(t *testing.T) *experiment {
	t.Helper()
	s := DefaultMF()
	s.Data = DataConfig{Name: "standin-tiny", Recipe: "rdpgcf"}
	x, err := rehearsed(t.Context(), 1, s)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Training teaches: in a few epochs without noise every model leaves the random floor
// far behind.
func TestModelsLearn(t *testing.T) {
	for _, c := range []struct {
		task string
		sets []string
	}{
		{"bprmf", nil}, {"lightgcn", nil}, {"ngcf", []string{"train.rate=0.02"}},
		{"rdpgcf", []string{"privacy.epsilon=.inf", "release.kinds=[clean]"}},
	} {
		t.Run(c.task, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			start(t, task(t, c.task), dir, append([]string{"train.epochs=12", "model.dim=8", "train.rate=0.02"}, c.sets...)...)
			o := readJSON[Outcome](t, dir, "metrics.json")
			floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]
			if got < 3*floor {
				t.Errorf("Recall@20 %v, a random order gives %v", got, floor)
			}
			if first, last := o.Epochs[0].Loss, o.Epochs[len(o.Epochs)-1].Loss; last >= first {
				t.Errorf("the loss went from %v to %v", first, last)
			}
		})
	}
}

// Early stopping ends a run under its cap, which is printed; the epoch reported is
// the one with the best Recall@20 on validation.
func TestEarlyStopping(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	text := start(t, task(t, "bprmf"), dir, "train.epochs=400", "train.patience=3", "train.rate=0.05", "model.dim=16")
	o := readJSON[Outcome](t, dir, "metrics.json")
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

// The same seed gives the same bytes on 1, 2 and 5 workers, another seed others.
func TestWorkersAndSeeds(t *testing.T) {
	for _, name := range []string{"bprmf", "lightgcn", "ngcf", "rdpgcf"} {
		t.Run(name, func(t *testing.T) {
			var want map[string]string
			for _, workers := range []int{1, 2, 5} {
				dir := filepath.Join(t.TempDir(), fmt.Sprint(workers))
				start(t, task(t, name), dir, fmt.Sprint("run.workers=", workers))
				got := runtest.Artefacts(t, dir)
				if want == nil {
					want = got
				}
				runtest.Same(t, fmt.Sprintf("%d workers", workers), got, want)
			}
			dir := filepath.Join(t.TempDir(), "seed")
			start(t, task(t, name), dir, "run.seed=2")
			if runtest.Artefacts(t, dir)["metrics.json"] == want["metrics.json"] {
				t.Error("another seed gives the same scores")
			}
		})
	}
}

// The curve on test is drawn where it is asked for, and chooses nothing.
func TestEvery(t *testing.T) {
	dir, plain := filepath.Join(t.TempDir(), "every"), filepath.Join(t.TempDir(), "plain")
	start(t, task(t, "bprmf"), dir, "eval.every=true")
	start(t, task(t, "bprmf"), plain)
	a, b := readJSON[Outcome](t, dir, "metrics.json"), readJSON[Outcome](t, plain, "metrics.json")
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
