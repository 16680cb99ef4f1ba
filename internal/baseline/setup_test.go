package baseline

import (
	"context"
	"testing"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// suite is every model under package topn's protocol, made small.
var suite = topntest.Suite{
	Tasks: TopN(topn.Tables{}, nextitem.Table{}),
	Sets: map[string][]string{
		"ease": topntest.Data(), "itemknn": topntest.Data(), "ials": topntest.Data("model.dim=4"), "userknn": topntest.Data(), "rp3beta": topntest.Data(), "bprmf": topntest.Trained(),
		"lightgcn": topntest.Trained("model.layers=2"), "ngcf": topntest.Trained("model.layers=2"),
	},
}

func task(t testing.TB, name string) run.Task { return suite.Task(t, name) }

func start(t testing.TB, task run.Task, dir string, sets ...string) string {
	t.Helper()
	return suite.Start(t, task, dir, sets...)
}

func try(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	return suite.Try(ctx, task, dir, sets, o)
}

// outcome reads the metrics.json of a run.
func outcome(t testing.TB, dir string) topn.Outcome {
	t.Helper()
	return runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
}
