package private

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy/budget"
	"privrec/internal/private/release"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// The runs that spend from one budget, one of them with noise that cannot be drawn again. Each promises epsilon 1 at
// delta 1e-6.
var spenders = runtest.Spenders{
	Tasks: Tasks(), About: release.About, Each: 1, Delta: 1e-6, Kills: 10,
	Runs: map[string]runtest.Spending{
		"dp-als":    {Task: "train dp-als", Config: "../../configs/private/smoke-dp-als.yaml", Sets: []string{"privacy.epsilon=1", "privacy.delta=1e-6"}},
		"dp-sgd-mf": {Task: "train dp-sgd-mf", Config: "../../configs/private/smoke-dp-sgd-mf.yaml", Sets: []string{"privacy.epsilon=1", "privacy.delta=1e-6", "train.steps=8", "run.save_steps=3"}},
		"secure":    {Task: "train dp-sgd-mf", Config: "../../configs/private/smoke-dp-sgd-mf.yaml", Sets: []string{"privacy.epsilon=1", "privacy.delta=1e-6", "train.steps=8", "run.save_steps=3", "run.secure=true"}},
	},
	Alone: map[string]runtest.Spending{
		"long": {Task: "train dp-sgd-mf", Config: "../../configs/private/smoke-dp-sgd-mf.yaml", Sets: []string{"privacy.epsilon=1", "privacy.delta=1e-6", "train.steps=40", "run.save_steps=3", "run.secure=true"}},
	},
}

func TestMain(m *testing.M) { os.Exit(spenders.Main(m, os.Stdout, os.Stderr)) }

// Runs spend from one budget at once and are killed at ten moments. In the end all are done, and one more is refused
// before it releases anything, with both numbers.
func TestTwoRunsSpend(t *testing.T) {
	file := spenders.TwoSpend(t)
	third := filepath.Join(t.TempDir(), "third")
	var no *budget.Refusal
	for want, set := range map[string]string{
		"would spend epsilon 1 at delta 1e-06, and epsilon 0.5 of 3.5": "privacy.items=11",
		"and the budget in " + file + " is for":                        "run.seed=2", // which makes other stand-in data
	} {
		if err := spenders.Start(t.Context(), "dp-als", file, third, run.Silent{}, set); !errors.As(err, &no) || !strings.Contains(err.Error(), want) {
			t.Errorf("the third run with %s: %v, want %q", set, err, want)
		}
	}
	if _, err := os.Stat(third); !os.IsNotExist(err) {
		t.Errorf("the refused run left its directory: %v", err)
	}
}

// A run whose noise has no seed is paid once, whatever becomes of its directory: killed and copied, resumed in
// turn and at once, copied and gone on with, copied and overtaken, killed ten times.
func TestSecureRunIsPaidOnce(t *testing.T) {
	for _, copies := range []int{2, 10} {
		spenders.Copies(t, "secure", copies)
	}
	spenders.CopiesAtOnce(t, "secure", 4)
	spenders.OlderCopy(t, "secure")
	spenders.Overtaken(t, "secure")
	for seed := range uint64(2) {
		spenders.Killed(t, "long", 10, seed)
	}
}

// The same holds where the noise is seeded and a copy would release the same again.
func TestSeededRunIsPaidOnce(t *testing.T) {
	spenders.Copies(t, "dp-sgd-mf", 3)
}
