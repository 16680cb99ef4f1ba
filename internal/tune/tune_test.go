package tune

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/run"
)

// Random search finds the planted optimum within its budget. The budget is what it may spend, the
// configuration as it stands included.
func TestFindsThePlantedOptimum(t *testing.T) {
	f := &fake{}
	s := study(t, f, func(s *Study) { s.Trials = 40 })
	r, log := search(t, s, Options{})
	best, ok := r.Best("fake")
	if !ok || r.Err() != nil {
		t.Fatal(r.Err())
	}
	rate, err := strconv.ParseFloat(best.Settings["train.rate"], 64)
	if err != nil || math.Abs(math.Log10(rate/bestRate)) > 0.35 || best.Settings["width"] != "32" {
		t.Errorf("best %v, score %v; the optimum is rate %v, width %d", best.Settings, best.Score, bestRate, bestWidth)
	}
	if n := f.starts.Load(); n != 40 || strings.Count(log, "\n") != 40 {
		t.Errorf("%d runs, %d lines, want 40", n, strings.Count(log, "\n"))
	}
	if !strings.HasPrefix(log, `{"trial":1,"task":"fake","candidate":1,"rung":0,"settings":{},`) {
		t.Errorf("the first trial is not the configuration as it stands: %.100s", log)
	}
	if strings.Contains(log, `"width":"13"`) {
		t.Error("a setting was tried that the task refuses")
	}
	// What wins is a complete configuration of a run on test rows.
	p, err := f.task().Plan(run.Options{Config: r.Files()[0]})
	if err != nil || p.State != run.StateNew {
		t.Errorf("the winning configuration: %+v, %v", p.State, err)
	}
	text, err := os.ReadFile(r.Files()[0])
	if err != nil || !strings.Contains(string(text), "width: 32") || !strings.Contains(string(text), "# Study fake, seed 1, trial "+strconv.Itoa(best.Trial)) {
		t.Errorf("%s, %v", text, err)
	}
}

// Halving finds it too, with fewer epochs than its budget.
func TestHalvingFindsThePlantedOptimum(t *testing.T) {
	f := &fake{}
	s := study(t, f, func(s *Study) {
		s.Trials, s.Search, s.Halving = 24, HalvingName, Halving{Key: "train.epochs", Least: 1, Most: 9, Keep: 3}
	})
	r, _ := search(t, s, Options{})
	best, _ := r.Best("fake")
	rate, err := strconv.ParseFloat(best.Settings["train.rate"], 64)
	if err != nil || math.Abs(math.Log10(rate/bestRate)) > 0.35 || best.Settings["width"] != "32" || best.Resource != 9 {
		t.Errorf("best %+v", best)
	}
	spent := 0
	for _, l := range r.tasks[0].lines {
		spent += l.Resource
	}
	if spent > 24*9 || spent < 24*9*3/4 {
		t.Errorf("%d epochs spent of %d", spent, 24*9)
	}
	if len(r.tasks[0].lines) < 2*24 {
		t.Errorf("%d trials: halving is to try more settings than random search", len(r.tasks[0].lines))
	}
}

// Rungs never spend more than their budget, and the last one has the whole resource.
func TestHalvingSpendsAtMostItsBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Halving{Least: rapid.IntRange(1, 20).Draw(t, "least"), Keep: rapid.IntRange(2, 5).Draw(t, "keep")}
		h.Most = h.Least + rapid.IntRange(0, 300).Draw(t, "more")
		budget := rapid.IntRange(1, 60).Draw(t, "trials") * h.Most
		rungs, spent := halvings(h, budget), 0
		for i, r := range rungs {
			spent += r.resource * r.size
			if r.size < 1 || i > 0 && (r.size > rungs[i-1].size || r.resource <= rungs[i-1].resource) {
				t.Fatalf("%+v", rungs)
			}
		}
		if spent > budget || rungs[len(rungs)-1].resource != h.Most || rungs[0].resource < h.Least {
			t.Fatalf("%+v spend %d of %d", rungs, spent, budget)
		}
	})
}

// A search that is stopped at any moment, and whose log is cut at any byte, goes on to the same
// bytes, with any number of trials at a time.
func TestStoppedAndResumed(t *testing.T) {
	for _, halving := range []bool{false, true} {
		change := func(s *Study) {
			s.Trials = 4
			if halving {
				s.Search, s.Halving = HalvingName, Halving{Key: "train.epochs", Least: 1, Most: 9, Keep: 3}
			}
		}
		want := ""
		for _, jobs := range []int{1, 3} {
			_, log := search(t, study(t, &fake{}, change), Options{Jobs: jobs, Workers: jobs})
			if want == "" {
				want = log
			} else if log != want {
				t.Fatalf("%d jobs: another log:\n%s\n%s", jobs, log, want)
			}
		}
		// Stopped in the k-th run, before it wrote anything.
		for k := int64(1); k <= 5; k += 3 {
			for _, jobs := range []int{1, 3} {
				out := t.TempDir()
				f := &fake{}
				ctx, stop := context.WithCancel(context.Background())
				f.hook = func(fakeConfig) error {
					if f.starts.Load() >= k {
						stop()
						return run.ErrInterrupted
					}
					return nil
				}
				_, err := Run(ctx, study(t, f, change), Options{Out: out, Jobs: jobs, Progress: run.Silent{}})
				if !run.WasInterrupted(err) {
					t.Fatal(err)
				}
				if !strings.HasPrefix(want, logOf(t, out)) {
					t.Fatalf("stopped in run %d: the log is not a beginning:\n%s", k, logOf(t, out))
				}
				f.hook = nil
				if _, log := search(t, study(t, f, change), Options{Out: out, Resume: true, Jobs: jobs}); log != want {
					t.Fatalf("stopped in run %d: another log", k)
				}
			}
		}
		// Killed while a line was written.
		out := t.TempDir()
		search(t, study(t, &fake{}, change), Options{Out: out})
		for cut := 0; cut <= len(want); cut += 223 {
			if err := os.Truncate(filepath.Join(out, logName), int64(cut)); err != nil {
				t.Fatal(err)
			}
			if _, log := search(t, study(t, &fake{}, change), Options{Out: out, Resume: true}); log != want {
				t.Fatalf("cut at byte %d: another log", cut)
			}
		}
	}
}

// Another study, or one that was not asked to go on, leaves a log as it is.
func TestAnotherStudy(t *testing.T) {
	out := t.TempDir()
	_, log := search(t, study(t, &fake{}, nil), Options{Out: out})
	for want, c := range map[string]struct {
		resume bool
		change func(*Study)
	}{
		"already holds a search": {false, nil},
		"of another study":       {true, func(s *Study) { s.Seed = 2 }},
	} {
		_, err := Run(context.Background(), study(t, &fake{}, c.change), Options{Out: out, Resume: c.resume, Progress: run.Silent{}})
		if err == nil || !strings.Contains(err.Error(), want) || logOf(t, out) != log {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Another seed draws other settings; a further key leaves those of the others as they are.
func TestDrawsAreKeyed(t *testing.T) {
	at := func(change func(*Study)) candidate {
		s := study(t, &fake{}, change)
		c, err := s.candidate(&s.Tasks[0], 2)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, other := at(nil), at(func(s *Study) { s.Seed = 2 })
	if one.settings["train.rate"] == other.settings["train.rate"] {
		t.Error("two seeds draw the same")
	}
	more := at(func(s *Study) { s.Tasks[0].Space["sigma"] = Space{Uniform: []float64{0, 1}} })
	if one.settings["train.rate"] != more.settings["train.rate"] || more.settings["sigma"] == "" {
		t.Errorf("%v, with a further key %v", one, more)
	}
}

// A failed trial is counted and does not end the search; when all fail there is no winner.
func TestFailedTrials(t *testing.T) {
	f := &fake{hook: func(c fakeConfig) error {
		if c.Width == 8 {
			return errors.New("the loss is not finite")
		}
		return nil
	}}
	r, log := search(t, study(t, f, nil), Options{})
	if !strings.Contains(log, `"status":"failed","error":"the loss is not finite"`) || strings.Count(log, "\n") != 12 || r.Err() != nil {
		t.Errorf("%v\n%s", r.Err(), log)
	}
	f.hook = func(fakeConfig) error { return errors.New("no") }
	if r, _ = search(t, study(t, f, nil), Options{}); r.Err() == nil || len(r.Files()) > 0 {
		t.Errorf("no trial was done, and %v won", r.Files())
	}
}

// What is wrong with a study is said before anything runs, all at once.
func TestBadStudies(t *testing.T) {
	f := &fake{}
	for name, c := range map[string]struct {
		change func(*Study)
		want   string
	}{
		"rows":      {func(s *Study) { s.Rows = "" }, "rows: must be one of public, private"},
		"objective": {func(s *Study) { s.Objective = "best" }, "objective: metric"},
		"task":      {func(s *Study) { s.Tasks[0].Task = "train fale" }, "tasks.0.task: must be one of train fake"},
		"key":       {func(s *Study) { s.Tasks[0].Space["train.rat"] = Space{Uniform: []float64{0, 1}} }, `tasks.0.space.train.rat: must be one of`},
		"data":      {func(s *Study) { s.Tasks[0].Space["data.name"] = Space{Choice: []Word{"a"}} }, "the same in all trials"},
		"seed":      {func(s *Study) { s.Tasks[0].Space["run.seed"] = Space{Integer: []int{1, 9}} }, "the same in all trials"},
		"two":       {func(s *Study) { s.Tasks[0].Space["width"] = Space{Integer: []int{1, 9}, Uniform: []float64{0, 1}} }, "must be one of choice, uniform, log and integer"},
		"order":     {func(s *Study) { s.Tasks[0].Space["width"] = Space{Integer: []int{9, 1}} }, "the lower one first"},
		"log":       {func(s *Study) { s.Tasks[0].Space["width"] = Space{Log: []float64{0, 1}} }, "log must lie above 0"},
		"twice":     {func(s *Study) { s.Tasks = append(s.Tasks, s.Tasks[0]) }, `"fake" names two tasks`},
		"halving":   {func(s *Study) { s.Search = HalvingName }, "halving.key: must not be empty"},
		"resource": {func(s *Study) {
			s.Search, s.Halving = HalvingName, Halving{Key: "width", Least: 1, Most: 9, Keep: 3}
		}, "is the resource of the rungs"},
		"private":          {func(s *Study) { s.Rows, s.Search = Private, HalvingName }, "must be random where rows are private"},
		"sigma":            {func(s *Study) { s.Rows = Private }, "selection.sigma"},
		"rows of one user": {func(s *Study) { s.Rows, s.Objective = Private, "sampled Hit@20" }, "must be a mean over users"},
		"epoch":            {func(s *Study) { s.Rows, s.Tasks[0].Final = Private, []string{"train.epochs={epoch}"} }, "which epoch was best has no noise"},
	} {
		s := Default()
		s.Name, s.Rows = "fake", Public
		s.Tasks = []Task{{Task: "train fake", Space: map[string]Space{"width": {Choice: []Word{"8"}}}}}
		c.change(&s)
		if err := s.Form(nil, []run.Task{f.task()}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	for want, final := range map[string]string{"width: must not be 13": "width=13"} {
		s := study(t, f, func(s *Study) { s.Tasks[0].Final = []string{final} })
		if _, err := Run(context.Background(), s, Options{Out: t.TempDir(), Progress: run.Silent{}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", final, err)
		}
	}
	s := study(t, f, func(s *Study) { s.Tasks[0].Space["width"] = Space{Choice: []Word{"13"}} })
	if _, err := Run(context.Background(), s, Options{Out: t.TempDir(), Progress: run.Silent{}}); err == nil || !strings.Contains(err.Error(), "task fake, setting 2") {
		t.Errorf("a space of which the task takes nothing: %v", err)
	}
	if f.starts.Load() > 0 {
		t.Error("a bad study began")
	}
}

// A key that is off in the winner and on by default is off in its file.
func TestWinnerThatTurnsOff(t *testing.T) {
	f := &fake{}
	s := study(t, f, func(s *Study) { s.Tasks[0].Final = []string{"on=0"} })
	out := t.TempDir()
	if _, err := Run(context.Background(), s, Options{Out: out, Progress: run.Silent{}}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(out, "best", "fake.yaml"))
	if err != nil || !strings.Contains(string(b), `"on": 0`) {
		t.Errorf("%v:\n%s", err, b)
	}
}

// Spaces of the command line are those of a file.
func TestParseSpace(t *testing.T) {
	for text, want := range map[string]string{
		"log:1e-4,1e-2":  fmt.Sprint(Space{Log: []float64{1e-4, 1e-2}}),
		"uniform:-1, 2":  fmt.Sprint(Space{Uniform: []float64{-1, 2}}),
		"integer:1,4":    fmt.Sprint(Space{Integer: []int{1, 4}}),
		"choice:adam,32": fmt.Sprint(Space{Choice: []Word{"adam", "32"}}),
	} {
		if s, err := ParseSpace(text); err != nil || fmt.Sprint(s) != want {
			t.Errorf("%s: %v, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "log", "log:1", "log:a,b", "integer:1.5,2", "grid:1,2", "uniform:2,1", "uniform:nan,1"} {
		if s, err := ParseSpace(text); err == nil {
			t.Errorf("%q was taken as %v", text, s)
		}
	}
}
