package baseline

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/model/gru4rec"
	"privrec/internal/privacy"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/nextitem/nextitemtest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// The baseline that the documentation adds: it trains, learns, is found by its
// forecast, and names nothing that the paper prints.
func TestSessionTask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	sets := []string{"data.name=standin-tiny", "model.dim=16", "train.epochs=4", "train.rate=0.01"}
	startSession(t, sessionTask(t, "gru4rec"), dir, sets)
	o := readJSON[nextitem.Outcome](t, dir, "metrics.json")
	if o.Method != "GRU4Rec" || !strings.HasPrefix(o.Setting, "profile sessions, changed:") {
		t.Errorf("method %q, setting %q", o.Method, o.Setting)
	}
	floor := o.Floors[slices.IndexFunc(o.Floors, func(s experiment.Scores) bool { return s.Name == "random" })]
	got := o.Evaluations[0]
	if got.Values["Recall@20"] <= 1.3*floor.Values["Recall@20"] || got.Paper != nil {
		t.Errorf("Recall@20 is %v beside %v at random; printed %v", got.Values["Recall@20"], floor.Values["Recall@20"], got.Paper)
	}
	f, err := sessionTask(t, "gru4rec").Forecast(context.Background(), run.Options{Sets: sets})
	if err != nil || f.Steps < o.Steps || f.StepSeconds <= 0 {
		t.Errorf("forecast %+v for %d steps: %v", f, o.Steps, err)
	}
}

// file is a configuration file: the run's settings and the task's.
type file[C any] struct {
	Of   string       `yaml:"task"`
	Run  run.Settings `yaml:"run"`
	Task C            `yaml:",inline"`
}

func configOf[C any](t *testing.T, name string) C {
	t.Helper()
	c, _, err := config.Load("../../configs/dipsgnn/"+name+".yaml", nil, file[C]{})
	if err != nil {
		t.Fatal(err)
	}
	return c.Task
}

// The files on ML-1M are the methods' own settings, and those are their profiles.
func TestSessionConfigs(t *testing.T) {
	sameFile(t, "ml-1m-srgnn", srGNN())
	sameFile(t, "ml-1m-apgnn", apGNN())
	sameFile(t, "ml-1m-gru4rec", session("GRU4Rec", "", "", gru4rec.Default, gru4rec.New))
}

func sameFile[M Shape](t *testing.T, name string, m method[M]) {
	t.Helper()
	if diff := cmp.Diff(m.config(), configOf[SessionConfig[M]](t, name)); diff != "" {
		t.Errorf("%s differs from the defaults:\n%s", name, diff)
	}
	text, err := m.task(nextitem.Table{}).Defaults()
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Parse("defaults", text, nil, file[SessionConfig[M]]{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m.config(), c.Task); diff != "" {
		t.Errorf("the defaults of %s: %s", m.name, diff)
	}
	s, err := m.setting(c.Task, nextitem.Table{})
	if err != nil || s.Standing.Text != "profile "+m.profile || !s.Standing.Printed || s.Standing.Stated.Epochs < 10 {
		t.Errorf("%s stands as %+v (%v)", name, s.Standing, err)
	}
}

// Every field refuses what cannot be run, and says which field, what it wants
// and what it got.
func TestSessionValidation(t *testing.T) {
	shared := nextitemtest.Refused()
	for _, name := range []string{"srgnn", "apgnn", "gru4rec"} {
		for _, r := range shared {
			if name != "gru4rec" || !strings.HasPrefix(r.Set, "model.steps") {
				refuses(t, name, r.Set, r.Message)
			}
		}
	}
	for _, r := range []struct{ Set, Message string }{
		{"model.user_dim=0", "must lie in 1..4096, got 0"},
		{"model.user_dim=5000", "must lie in 1..4096, got 5000"},
		{"model.user_input=age", `must be one of features, id, got "age"`},
	} {
		refuses(t, "apgnn", r.Set, r.Message)
	}
}

func refuses(t *testing.T, name, set, message string) {
	t.Helper()
	err := sessionTask(t, name).Check("", []string{set})
	path, _, _ := strings.Cut(set, "=")
	if err == nil {
		t.Errorf("%s: %s is accepted", name, set)
	} else if !strings.Contains(err.Error(), message) || !strings.Contains(err.Error(), path) {
		t.Errorf("%s: %s: %v, want %q", name, set, err, message)
	}
}

// A run of fewer epochs than its profile states says so, whatever its data.
func TestShortTraining(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	printed := startSession(t, sessionTask(t, "srgnn"), dir, []string{"profile=paper", "train.epochs=1"})
	o := readJSON[nextitem.Outcome](t, dir, "metrics.json")
	if want := "trained for 1 of the 30 epochs stated"; !strings.Contains(o.Short, want) || !strings.Contains(printed, want) {
		t.Errorf("short %q, want %q:\n%s", o.Short, want, printed)
	}
}

// The baselines run on the same samples, claim nothing, and account what they
// are: without bound.
func TestBaselines(t *testing.T) {
	for _, c := range []struct {
		name, method string
		sets         []string
		unbounded    string
	}{
		{"srgnn", "SRGNN", nil, "sequences,selection"}, {"apgnn", "APGNN", nil, "sequences,features,selection"},
		{"apgnn", "APGNN", []string{"model.user_input=id"}, "sequences,selection"},
		{"srgnn", "SRGNN", []string{"train.select=last", "train.patience=0", "train.refit=false"}, "sequences"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		printed := startSession(t, sessionTask(t, c.name), dir, c.sets)
		o := readJSON[nextitem.Outcome](t, dir, "metrics.json")
		if o.Method != c.method || len(o.Floors) != 2 || len(o.Evaluations) != 2 || !strings.Contains(printed, "popularity (floor)") {
			t.Errorf("%s: %+v\n%s", c.name, o, printed)
		}
		p := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", false)
		if p.Claimed != nil || !math.IsInf(float64(p.Total), 1) || strings.Join(experiment.Names(p.Unbounded), ",") != c.unbounded {
			t.Errorf("%s: %+v", c.name, p)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range l.Entries() {
			if _, open := e.Event.(privacy.Unprotected); !open {
				t.Errorf("%s recorded %+v", c.name, e)
			}
		}
		if runtest.Artefacts(t, dir)["scores-noise-off.tsv.gz"] == "" {
			t.Errorf("%s left no scores by user", c.name)
		}
	}
}

// A run that is interrupted anywhere and resumed leaves the bytes of one that was not.
func TestSessionResume(t *testing.T) {
	whole := runtest.NewFuse(t, 0, nil)
	dir := filepath.Join(t.TempDir(), "run")
	if err := trySession(whole, sessionTask(t, "apgnn"), dir, nil, run.Options{}); err != nil {
		t.Fatal(err)
	}
	want := runtest.Artefacts(t, dir)
	if whole.Looks < 20 {
		t.Fatalf("only %d places to interrupt at", whole.Looks)
	}
	for _, at := range []int{whole.Looks / 4, whole.Looks / 2, whole.Looks * 3 / 4, whole.Looks} {
		dir := filepath.Join(t.TempDir(), "run")
		if err := trySession(runtest.NewFuse(t, at, nil), sessionTask(t, "apgnn"), dir, nil, run.Options{}); !run.WasInterrupted(err) {
			t.Fatalf("interrupted at look %d of %d: %v", at, whole.Looks, err)
		}
		if err := trySession(t.Context(), sessionTask(t, "apgnn"), dir, nil, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		runtest.Same(t, fmt.Sprintf("interrupted at look %d of %d", at, whole.Looks), runtest.Artefacts(t, dir), want)
	}
}
