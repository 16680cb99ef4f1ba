package rdpgcf

import (
	"context"
	"testing"

	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// suite is the paper's tasks. smoke is the setting of seconds; the sets make every task
// smaller still. At a small epsilon most edges of the whole block of cells are false.
var suite = topntest.Suite{
	Tasks:  Tasks(),
	Config: map[string]string{"rdpgcf": "../../../configs/rdpgcf/smoke.yaml"},
	Sets: map[string][]string{
		"rdpgcf":   topntest.Trained("model.layers=2"),
		"edgerand": topntest.Trained("model.layers=2", "perturb.epsilon=8"),
		"lapgraph": topntest.Trained("model.layers=2", "perturb.epsilon=8"),
	},
}

// repairedSets make the smoke setting that of the repaired method.
func repairedSets() []string {
	return []string{"profile=repaired", "privacy.method=repaired", "privacy.accounting=poisson", "privacy.count=joint", "privacy.conversion=tight",
		"model.norm=right-clamp:5", "model.normalise_rows=true", "train.sampler=poisson", "train.negatives=all", "train.patience=0", "train.select=last",
		"release.kinds=[noisy]", "release.average=1", "eval.every=false"}
}

func task(t testing.TB, name string) run.Task { return suite.Task(t, name) }

func start(t testing.TB, task run.Task, dir string, sets ...string) string {
	t.Helper()
	return suite.Start(t, task, dir, sets...)
}

func try(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	return suite.Try(ctx, task, dir, sets, o)
}

// readJSON reads one file of a run directory.
func readJSON[T any](t testing.TB, dir, name string) (v T) {
	t.Helper()
	_, account := any(v).(Account) // which is written with more than it holds
	return runtest.ReadJSON[T](t, dir, name, !account)
}

// outcome reads the metrics.json of a run.
func outcome(t testing.TB, dir string) topn.Outcome {
	t.Helper()
	return readJSON[topn.Outcome](t, dir, "metrics.json")
}
