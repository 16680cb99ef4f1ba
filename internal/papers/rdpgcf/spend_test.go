package rdpgcf

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// The runs on perturbed graphs that spend from one budget for an edge. It is of replacing one, which changes two cells:
// answers about cells say nothing of how many edges there are.
var spenders = runtest.Spenders{
	Tasks: Tasks(), About: privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.Replace}, Each: 16, Delta: pureDelta, Kills: 10,
	Runs: map[string]runtest.Spending{
		"edgerand": {Task: "train edgerand", Sets: spendingSets},
		"lapgraph": {Task: "train lapgraph", Sets: spendingSets},
	},
}

var spendingSets = topntest.Trained("model.layers=1", "perturb.epsilon=8", "train.select=last", "train.patience=0", "eval.every=false", "run.save_steps=1", "train.batch=100000", "train.epochs=4")

func TestMain(m *testing.M) { os.Exit(spenders.Main(m, os.Stdout, os.Stderr)) }

// Two runs on perturbed graphs spend from one budget and are killed at ten moments. A third is refused before it
// releases anything, and so is one whose labels no noise covers.
func TestGraphsSpend(t *testing.T) {
	file := spenders.TwoSpend(t)
	var no *budget.Refusal
	for set, want := range map[string]string{"perturb.epsilon=7.9": "would spend epsilon 15.8", "perturb.labels=raw": "epsilon is infinite"} {
		dir := filepath.Join(t.TempDir(), "third")
		if err := spenders.Start(t.Context(), "edgerand", file, dir, run.Silent{}, set); !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}
