package target_test

import (
	"bytes"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/target"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// An attack that says no more than how candidates are scored leaves results, cells, an account and a page. A run that
// it trains itself is attacked likewise, and what is not there is refused before anything is trained.
func TestAttack(t *testing.T) {
	tasks := baseline.TopN(topn.Tables{}, nextitem.Table{})
	start := func(task run.Task, sets ...string) (dir, text string, err error) {
		dir = filepath.Join(t.TempDir(), "run")
		var out bytes.Buffer
		sets = append([]string{"run.out=" + dir, "run.workers=1"}, sets...)
		_, err = task.Start(t.Context(), run.Options{Sets: sets, Stdout: &out,
			Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
		return dir, out.String(), err
	}
	ease, _, err := start(runtest.Task(t, tasks, "ease"), "data.name=standin-tiny")
	if err != nil {
		t.Fatal(err)
	}
	attack := activity(tasks)
	dir, text, err := start(attack, "on.run="+ease, "eval.resamples=100")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Activity of users of EASE", "asked about", "guess budget       100 guesses", "Found active users, percent",
		"nothing (floor)", "histories: the attack is told",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	o := runtest.ReadJSON[target.Outcome[experiment.Data, any]](t, dir, "metrics.json", true)
	if o.Protocol != "activity" || o.Target.Method != "EASE" || o.Threat != nil {
		t.Errorf("%+v", o)
	}
	if len(o.Floors) != 1 || len(o.Evaluations) != 1 {
		t.Errorf("%d floors, %d evaluations", len(o.Floors), len(o.Evaluations))
	}
	all, err := experiment.ReadCells(dir)
	if err != nil || len(all.Cells) != len(o.Gains) {
		t.Fatalf("%d cells of %d gains, %v", len(all.Cells), len(o.Gains), err)
	}
	auc := slices.IndexFunc(all.Cells, func(c experiment.Cell) bool { return c.Metric == "AUC active users" })
	c := all.Cells[auc]
	if c.Row != "mean score" || c.Over != "nothing" || c.Value <= c.Floor || c.Interval[0] > c.Gain {
		t.Errorf("%+v", c)
	}
	if c.Sees != "scores" || c.Budget != "100 guesses" || !strings.Contains(c.About, "users, active above") {
		t.Errorf("%+v", c)
	}

	trains := []string{"target.task=train ease", "target.set=[data.name=standin-tiny]", "eval.resamples=100"}
	if _, _, err := start(attack, trains...); err != nil {
		t.Errorf("of a run that it trains: %v", err)
	}
	if _, _, err := start(attack); err == nil || !strings.Contains(err.Error(), "nothing to attack is named") {
		t.Errorf("nothing named: %v", err)
	}
	_, _, err = start(attack, "target.task=train trees")
	if err == nil || !strings.Contains(err.Error(), "train trees") {
		t.Errorf("no such task: %v", err)
	}
}
