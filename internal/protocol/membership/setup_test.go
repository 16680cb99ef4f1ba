package membership_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/protocol/membership"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/target"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// tasks are those that are attacked here.
func tasks() []run.Task {
	return slices.Concat(baseline.TopN(topn.Tables{}, nextitem.Table{}), baseline.Sessions(nextitem.Table{}), []run.Task{baseline.SASRec(nextitem.Table{})})
}

// start runs a task in a folder of its own.
func start(t *testing.T, task run.Task, sets ...string) (dir, text string, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	_, err = task.Start(t.Context(), run.Options{Sets: append([]string{"run.out=" + dir, "run.workers=1"}, sets...), Stdout: &out,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	return dir, out.String(), err
}

// outcome is what an attack wrote.
type outcome = target.Outcome[membership.DataSummary, membership.Threat]

// attack runs the attack.
func attack(t *testing.T, sets ...string) (o outcome, text string, err error) {
	t.Helper()
	dir, text, err := start(t, membership.Task(tasks()), append([]string{"profile=own", "eval.resamples=200"}, sets...)...)
	if err != nil {
		return o, text, err
	}
	return runtest.ReadJSON[outcome](t, dir, "metrics.json", false), text, nil
}

// measured runs the attack on a model of generated rows, which must not fail.
func measured(t *testing.T, task, set string, sets ...string) outcome {
	t.Helper()
	o, _, err := attack(t, append([]string{"target.task=train " + task, "target.set=[data.name=standin-tiny, data.recipe=rdpgcf, " + set + "]"}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
