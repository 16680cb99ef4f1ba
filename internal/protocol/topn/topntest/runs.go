package topntest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// End checks that every task runs to its end and leaves floors and a level beside the result, an account, and the
// scores of every user. more checks a run directory and the printed text.
func (s Suite) End(t *testing.T, more func(t *testing.T, dir, text string)) {
	for _, task := range s.Tasks {
		t.Run(task.Name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			text := s.Start(t, task, dir)
			for _, want := range []string{"random (floor)", "popularity (floor)", "evidence level D",
				"accounted epsilon"} {
				if !strings.Contains(text, want) {
					t.Errorf("what is printed lacks %q:\n%s", want, text)
				}
			}
			o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
			metrics, files := 4, 1
			if o.Data.Candidates > 0 {
				metrics, files = 8, 2
				sampled(t, dir, text, o)
			}
			if len(o.Floors) != 2 || len(o.Evaluations) == 0 || len(o.Metrics) != metrics ||
				o.Data.Level != dataset.LevelD {
				t.Fatalf("%d floors, %d evaluations, metrics %v, level %s", len(o.Floors), len(o.Evaluations),
					o.Metrics, o.Data.Level)
			}
			if o.Data.TrainRows == 0 || o.Data.TestRows == 0 || o.Data.TestUsers == 0 {
				t.Errorf("%+v", o.Data)
			}
			for _, e := range append(o.Floors, o.Evaluations...) {
				if len(e.Values) != metrics {
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
			scores, err := filepath.Glob(filepath.Join(dir, "scores*.tsv.gz"))
			if err != nil || len(scores) != files*len(o.Evaluations) {
				t.Errorf("%d files of scores for %d evaluations (%v)", len(scores), len(o.Evaluations), err)
			}
			more(t, dir, text)
		})
	}
}

// VectorsRank checks that the written vectors of a release reproduce the scores in metrics.json.
func (s Suite) VectorsRank(t *testing.T, name, release string) {
	t.Run(name+release, func(t *testing.T) {
		t.Parallel()
		dir := filepath.Join(t.TempDir(), "run")
		s.Start(t, s.Task(t, name), dir)
		d := s.onStandIn(t).Data
		v, err := experiment.OpenVectors(dir, release, d.Users, d.Items)
		if err != nil {
			t.Fatal(err)
		}
		var users, find []int32 // a pair for each item to find
		for u, items := range d.Test {
			users, find = append(users, slices.Repeat([]int32{int32(u)}, len(items))...), append(find, items...)
		}
		each, err := eval.Ranks(t.Context(), &bpr.Ranking{Users: v.Users, Goods: v.Items}, users, find,
			eval.Options{Exclude: func(u int32) []int32 { return Seen(d, u) }})
		if err != nil {
			t.Fatal(err)
		}
		var ranks [][]int32
		for _, items := range d.Test {
			if n := len(items); n > 0 {
				ranks, each = append(ranks, each[:n]), each[n:]
			}
		}
		found := false
		for _, e := range runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true).Evaluations {
			if e.Release != release {
				continue
			}
			found = true
			if got := topn.Primary.MeanSet(ranks); got != e.Values[topn.Primary.String()] {
				t.Errorf("%v from the vectors, %v reported", got, e.Values[topn.Primary.String()])
			}
		}
		if !found {
			t.Errorf("nothing reported for release %q", release)
		}
	})
}

// Forecast checks that a forecast counts the steps that the run then makes when nothing stops
// it early, and writes no file. A task that trains on other rows than those of the data counts
// no steps. A task that does not train by epochs offers no forecast.
func (s Suite) Forecast(t *testing.T, otherRows func(task string) bool) {
	for _, task := range s.Tasks {
		t.Run(task.Name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "r")
			f, err := task.Forecast(t.Context(),
				run.Options{Sets: slices.Concat(s.Sets[task.Name], []string{"run.out=" + out})})
			if !s.trains(task.Name) {
				if !errors.Is(err, run.ErrNoForecast) {
					t.Errorf("of a task without epochs: %v, want %v", err, run.ErrNoForecast)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			rung, _ := s.onStandIn(t).Data.Ladder.Get(dataset.RungTrain)
			if want := 2 * ((rung.Rows + 511) / 512); !otherRows(task.Name) && f.Steps != want {
				t.Errorf("%d steps, want %d", f.Steps, want)
			}
			if !(f.StepSeconds > 0 && f.Seconds > float64(f.Steps)*f.StepSeconds && f.Fastest > 0 &&
				f.Fastest <= f.Seconds) || f.Basis == "" {
				t.Errorf("%+v", f)
			}
			if _, err := os.Stat(out); err == nil {
				t.Error("a forecast wrote a run directory")
			}
		})
	}
}

// Resume checks that a run that is interrupted anywhere, even twice, and resumed leaves the same bytes as one that was
// not: parameters, vectors, scores, ledger and account.
func (s Suite) Resume(t *testing.T, title, name string, sets ...string) {
	t.Run(title, func(t *testing.T) {
		t.Parallel()
		task := s.Task(t, name)
		if s.trains(name) {
			sets = slices.Concat([]string{"train.epochs=3", "train.batch=700"}, sets)
		}
		whole := runtest.NewFuse(t, 0, nil)
		dir := filepath.Join(t.TempDir(), "whole")
		if err := s.Try(whole, task, dir, sets, run.Options{}); err != nil {
			t.Fatal(err)
		}
		want := runtest.Artefacts(t, dir)
		step := (whole.Looks + 2) / 3
		for at := 1; at <= whole.Looks; at += step {
			dir := filepath.Join(t.TempDir(), fmt.Sprint("run", at))
			for again, look := range []int{at, max(1, (whole.Looks-at)/2)} {
				err := s.Try(runtest.NewFuse(t, look, nil), task, dir, sets, run.Options{Resume: again > 0})
				if err == nil { // the second fuse may be longer than what was left
					break
				}
				if !run.WasInterrupted(err) {
					t.Fatalf("interrupted at look %d: %v", look, err)
				}
				for _, file := range []string{"metrics.json", "privacy.json", "result.json"} {
					if _, err := os.Stat(filepath.Join(dir, file)); err == nil && look < whole.Looks-1 {
						t.Errorf("interrupted at look %d: %s is there", look, file)
					}
				}
			}
			if err := s.Try(t.Context(), task, dir, sets, run.Options{Resume: true}); err != nil {
				t.Fatal(err)
			}
			runtest.Same(t, fmt.Sprintf("interrupted at look %d of %d", at, whole.Looks), runtest.Artefacts(t, dir),
				want)
		}
	})
}

// Repeat checks that a task leaves the same bytes on 1, 2 and 5 workers, and other bytes with another seed.
func (s Suite) Repeat(t *testing.T, name string) {
	t.Run(name, func(t *testing.T) {
		task := s.Task(t, name)
		var want map[string]string
		for _, workers := range []int{1, 2, 5} {
			dir := filepath.Join(t.TempDir(), fmt.Sprint(workers))
			s.Start(t, task, dir, fmt.Sprint("run.workers=", workers))
			got := runtest.Artefacts(t, dir)
			if want == nil {
				want = got
			}
			runtest.Same(t, fmt.Sprintf("%d workers", workers), got, want)
		}
		dir := filepath.Join(t.TempDir(), "seed")
		s.Start(t, task, dir, "run.seed=2")
		if runtest.Artefacts(t, dir)["metrics.json"] == want["metrics.json"] {
			t.Error("another seed gives the same scores")
		}
	})
}

// Learn checks that a model is far above the random floor. One that trains by epochs gets there in a few, and its loss
// falls.
func (s Suite) Learn(t *testing.T, name string, sets ...string) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		dir, trains := filepath.Join(t.TempDir(), "run"), s.trains(name)
		if trains {
			sets = slices.Concat([]string{"train.epochs=12", "model.dim=8", "train.rate=0.02"}, sets)
		}
		s.Start(t, s.Task(t, name), dir, sets...)
		o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
		floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]
		if got < 3*floor {
			t.Errorf("Recall@20 %v, a random order gives %v", got, floor)
		}
		if !trains {
			return
		}
		if first, last := o.Epochs[0].Loss, o.Epochs[len(o.Epochs)-1].Loss; last >= first {
			t.Errorf("the loss went from %v to %v", first, last)
		}
	})
}
