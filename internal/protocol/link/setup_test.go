package link_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/papers/gerai"
	"privrec/internal/papers/rdpgcf"
	"privrec/internal/protocol/link"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/target"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// tasks are those that are attacked here.
func tasks() []run.Task {
	return slices.Concat(baseline.TopN(topn.Tables{}, nextitem.Table{}), rdpgcf.Tasks(), gerai.Tasks())
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

// trained trains a model of generated rows.
func trained(t *testing.T, name string, sets ...string) string {
	t.Helper()
	dir, _, err := start(t, runtest.Task(t, tasks(), name), append([]string{"data.name=standin-tiny", "data.recipe=rdpgcf"}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// outcome is what an attack wrote.
type outcome = target.Outcome[link.DataSummary, link.Threat]

// attack runs the attack.
func attack(t *testing.T, sets ...string) (o outcome, text string, err error) {
	t.Helper()
	dir, text, err := start(t, link.Task(tasks()), append([]string{"profile=own", "eval.resamples=100", "attack.users=60", "attack.others=60", "attack.watched=40"}, sets...)...)
	if err != nil {
		return o, text, err
	}
	return runtest.ReadJSON[outcome](t, dir, "metrics.json", false), text, nil
}

// measured attacks a run, which must not fail.
func measured(t *testing.T, dir string, sets ...string) outcome {
	t.Helper()
	o, _, err := attack(t, append([]string{"on.run=" + dir}, sets...)...)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// Names of measures.
const (
	fromRandom = "AUC edges from random pairs"
	fromHeld   = "AUC edges from held-out interactions"
	right      = "precision at 1x edges among all pairs"
)

// value returns a measure of an evaluation or floor, with its interval.
func value(t *testing.T, o outcome, name, metric string) (float64, [2]float64) {
	t.Helper()
	for _, s := range append(o.Floors, o.Evaluations...) {
		if s.Name == name {
			v, ok := s.Values[metric]
			if !ok {
				t.Fatalf("%q has no %q", name, metric)
			}
			return v, s.Intervals[metric]
		}
	}
	t.Fatalf("no row %q", name)
	return 0, [2]float64{}
}
