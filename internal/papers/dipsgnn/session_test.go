package dipsgnn

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/config"
	"privrec/internal/model/gru4rec"
	"privrec/internal/run"
)

// The baseline that the documentation adds: it trains, learns, is found by its
// forecast, and names nothing that the paper prints.
func TestSessionTask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	sets := []string{"data.name=standin-tiny", "model.dim=16", "train.epochs=4", "train.rate=0.01"}
	start(t, task(t, "gru4rec"), dir, sets)
	o := readJSON[Outcome](t, dir, "metrics.json")
	if o.Method != "GRU4Rec" || !strings.HasPrefix(o.Setting, "profile sessions, changed:") {
		t.Errorf("method %q, setting %q", o.Method, o.Setting)
	}
	floor := o.Floors[slices.IndexFunc(o.Floors, func(s Scores) bool { return s.Name == "random" })]
	got := o.Evaluations[0]
	if got.Values["Recall@20"] <= 1.3*floor.Values["Recall@20"] || got.Paper != nil {
		t.Errorf("Recall@20 is %v beside %v at random; printed %v", got.Values["Recall@20"], floor.Values["Recall@20"], got.Paper)
	}
	f, err := task(t, "gru4rec").Forecast(context.Background(), run.Options{Sets: sets})
	if err != nil || f.Steps < o.Steps || f.StepSeconds <= 0 {
		t.Errorf("forecast %+v for %d steps: %v", f, o.Steps, err)
	}
}

// The file is the task's default, and a width out of range is an error of its line.
func TestSessionConfig(t *testing.T) {
	text, err := task(t, "gru4rec").Defaults()
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := config.Parse("defaults", text, nil, file[SessionConfig[gru4rec.Config]]{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Task, configOf[SessionConfig[gru4rec.Config]](t, "ml-1m-gru4rec")); diff != "" {
		t.Errorf("the file differs from the defaults:\n%s", diff)
	}
	err = task(t, "gru4rec").Check("", []string{"model.dim=0"})
	if err == nil || !strings.Contains(err.Error(), "model.dim") {
		t.Errorf("a width of 0 gives %v", err)
	}
}
