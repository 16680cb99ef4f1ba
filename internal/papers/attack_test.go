package papers

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
)

// begin starts a task in silence and returns what it printed.
func begin(t *testing.T, name, config string, sets ...string) string {
	t.Helper()
	var out bytes.Buffer
	for _, task := range All() {
		if task.String() != name {
			continue
		}
		_, err := task.Start(t.Context(), run.Options{NoiseSeed: 1, Config: config, Sets: sets, Stdout: &out, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return out.String()
	}
	t.Fatalf("no task %q", name)
	return ""
}

// onRun trains a recommender and attacks what it recommends: behaviours are what it was
// given, slates what it answers, and the floors stand beside the attack.
func onRun(t *testing.T, name, config string, sets ...string) {
	t.Helper()
	dir, to := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "attack")
	if config != "" {
		config = filepath.Join(configs, config)
	}
	begin(t, name, config, append([]string{"run.out=" + dir, "run.workers=1"}, sets...)...)
	text := begin(t, "attack exposure", "", "run.out="+to, "run.workers=1", "on.run="+dir, "data.slate=6", "data.behaviour=3", "attack.dim=8", "attack.ffn=8",
		"train.epochs=2", "train.rate=0.01", "eval.k=[5]", "eval.resamples=100")
	for _, want := range []string{"Exposure attack on recommendations of " + name, "popularity (floor)", "co-occurrence (floor)", "evidence level D", "slates are what " + name + " recommends", "nothing is protected"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s: does not say %q:\n%s", name, want, text)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "scores.tsv.gz")); err != nil {
		t.Error(err)
	}
}

// The recommendations of a finished run can be attacked.
func TestAttackOnRun(t *testing.T) {
	onRun(t, "train lightgcn", "", "data.name=standin-tiny", "model.dim=8", "train.epochs=1")
}
