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
var suite = topntest.Suite{Tasks: TopN(topn.Tables{}, nextitem.Table{}),
	Sets: topntest.Small(TopN(topn.Tables{}, nextitem.Table{}))}

// trains reports whether a model is trained by epochs.
func trains(task run.Task) bool { return runtest.HasKey(task, "train.epochs") }

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
