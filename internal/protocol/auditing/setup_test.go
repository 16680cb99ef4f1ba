package auditing_test

import (
	"bytes"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/experiment"
	"privrec/internal/model/ease"
	"privrec/internal/privacy"
	"privrec/internal/private"
	"privrec/internal/protocol/auditing"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// tasks are those that are audited here.
func tasks() []run.Task {
	return slices.Concat(baseline.TopN(topn.Tables{}, nextitem.Table{}), private.Tasks(), []run.Task{liar(), baseline.SASRec(nextitem.Table{})}, baseline.Sessions(nextitem.Table{}))
}

// found runs an audit in a folder of its own.
func found(t *testing.T, sets ...string) (o auditing.Outcome, text string, err error) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	var out bytes.Buffer
	_, err = auditing.Task(tasks()).Start(t.Context(), run.Options{Sets: append([]string{"run.out=" + dir, "run.workers=1", "profile=own", "audit.canaries=60"}, sets...), Stdout: &out,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
	if out.Len() == 0 {
		return o, "", err
	}
	o = runtest.ReadJSON[auditing.Outcome](t, dir, "metrics.json", false)
	checkCells(t, dir, o)
	return o, out.String(), err
}

// checkCells fails where the cells of a run do not say what its rows do, each beyond the negative control.
func checkCells(t *testing.T, dir string, o auditing.Outcome) {
	t.Helper()
	all, err := experiment.ReadCells(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(all.Cells) != 3*2 || all.Level != o.Data.Level {
		t.Fatalf("%d cells of level %v", len(all.Cells), all.Level)
	}
	floor := o.Rows[2]
	for k, c := range all.Cells {
		r := o.Rows[k/3]
		value := [...]float64{r.Bound.Epsilon, r.Advantage, r.AUC}[k%3]
		least := [...]float64{floor.Bound.Epsilon, floor.Advantage, floor.AUC}[k%3]
		if c.Row != r.Name || c.Over != auditing.Negative || c.Value != value || c.Floor != least ||
			c.Gain != value-least || c.Sees != o.Threat.Sees || c.Budget == "" || c.About == "" {
			t.Errorf("%+v of %+v", c, r)
		}
	}
}

// of names a task on generated rows.
func of(task, set string) []string {
	if set != "" {
		set = ", " + set
	}
	return []string{"target.task=train " + task, "target.set=[data.name=standin-tiny, data.recipe=rdpgcf" + set + "]"}
}

type liarConfig struct {
	Profile string          `yaml:"profile"`
	Data    topn.DataConfig `yaml:"data"`
}

// liar is EASE without noise, whose account promises epsilon 1 for one edge.
func liar() run.Task {
	return run.Spec[liarConfig]{Verb: "train", Name: "liar", Summary: "promises what it does not keep", Cite: "none", Answers: true,
		Default: func() liarConfig { return liarConfig{Profile: "liar", Data: topn.DefaultData()} },
		Open: func(ctx context.Context, env *run.Env, c liarConfig) (run.Work, error) {
			x, err := topn.Load(ctx, env, topn.Method{Name: "liar", Data: c.Data, Eval: topn.DefaultEval()})
			if err != nil {
				return nil, err
			}
			a := experiment.Protected()
			if _, err := env.Ledger(privacy.Research, a.Declaration()); err != nil {
				return nil, err
			}
			x.Compute = func(ctx context.Context) (*topn.Made, error) {
				m, err := ease.Fit(ctx, x.Graph, 20)
				return &topn.Made{Scorer: m}, err
			}
			x.Account = func(*experiment.Fitted) (experiment.Privacy, error) {
				own := a
				own.Add("edge", "add-remove", 1e-6, 1)
				return &own, nil
			}
			return x, nil
		},
	}.Task()
}
