package baseline

import (
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// deepSets is a small setting of GRU4Rec under leave-one-out.
var deepSets = []string{
	"profile=own", "protocol=leave-one-out", "data.recipe=sasrec", "model.dim=8", "model.hidden=12", "model.layers=2", "model.dropout=0.2", "model.length=20",
	"train.stride=5", "train.batch=32", "train.epochs=4", "train.rate=0.01", "train.decay_every=1", "train.decay_by=1", "train.l2=0", "train.tick_before=false",
	"train.validation=0", "train.refit=false", "train.patience_total=false", "eval.every=false",
}

// GRU4Rec learns under leave-one-out, to the same bytes for any number of workers, and after
// a stop.
func TestDeepGRU4Rec(t *testing.T) {
	task := sessionTask(t, "gru4rec")
	dir := filepath.Join(t.TempDir(), "run")
	printed := startSession(t, task, dir, deepSets)
	o := readJSON[nextitem.Outcome](t, dir, "metrics.json")
	if o.Data.LastItemCounts == nil || o.Data.TestRows != 200 || len(o.Epochs) != 4 || !(o.Epochs[3].Loss < o.Epochs[0].Loss) {
		t.Errorf("outcome %+v", o)
	}
	if got, random := o.Evaluations[0].Values["NDCG@10"], o.Floors[0].Values["NDCG@10"]; !(got > 2*random) {
		t.Errorf("NDCG@10 is %v, a random order has %v", got, random)
	}
	if !strings.Contains(printed, "those of the user's history included") {
		t.Errorf("the result does not say what is ranked:\n%s", printed)
	}
	want := runtest.Artefacts(t, dir)
	other := filepath.Join(t.TempDir(), "run")
	startSession(t, task, other, append(deepSets, "run.workers=3"))
	runtest.Same(t, "3 workers", runtest.Artefacts(t, other), want)

	for _, part := range []int{3, 2} {
		whole := runtest.NewFuse(t, 0, nil)
		if err := trySession(whole, task, filepath.Join(t.TempDir(), "run"), deepSets, run.Options{}); err != nil {
			t.Fatal(err)
		}
		stopped := filepath.Join(t.TempDir(), "run")
		if err := trySession(runtest.NewFuse(t, whole.Looks/part, nil), task, stopped, deepSets, run.Options{}); !run.WasInterrupted(err) {
			t.Fatal(err)
		}
		if err := trySession(t.Context(), task, stopped, deepSets, run.Options{Resume: true}); err != nil {
			t.Fatal(err)
		}
		runtest.Same(t, "after a stop", runtest.Artefacts(t, stopped), want)
	}
	if f, err := task.Forecast(t.Context(), run.Options{Sets: append([]string{"data.name=standin-tiny"}, deepSets...)}); err != nil || f.Steps != o.Steps {
		t.Errorf("forecast %+v, %v; the run made %d steps", f, err, o.Steps)
	}
}

// Each protocol refuses the keys of the other.
func TestDeepGRU4RecRefuses(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"model.hidden=4"}, "model.hidden: belongs to protocol leave-one-out, must be left out"},
		{[]string{"model.layers=4"}, "model.layers: belongs to protocol leave-one-out, must be left out"},
		{[]string{"model.dropout=0.4"}, "model.dropout: belongs to protocol leave-one-out, must be left out"},
		{[]string{"model.length=4"}, "model.length: belongs to protocol leave-one-out, must be left out"},
		{[]string{"train.stride=4"}, "train.stride: belongs to protocol leave-one-out, must be left out"},
		{[]string{"protocol=top-n"}, `protocol: must be one of next-item, leave-one-out, got "top-n"`},
		{append(deepSets, "model.hidden=0"), "model.hidden: must lie in 1..4096, got 0"},
		{append(deepSets, "model.layers=0"), "model.layers: must lie in 1..100, got 0"},
		{append(deepSets, "model.length=0"), "model.length: must lie in 1..10000, got 0"},
		{append(deepSets, "train.stride=21"), "train.stride: must lie in 1..20, got 21"},
		{append(deepSets, "train.stride=0"), "train.stride: must lie in 1..20, got 0"},
		{append(deepSets, "train.validation=0.1"), "train.validation: has no meaning under leave-one-out"},
		{append(deepSets, "train.refit=true"), "train.refit: has no meaning under leave-one-out"},
		{append(deepSets, "train.select=last"), "train.select: must be one of validation"},
		{append(deepSets, "eval.every=true"), "eval.every: has no meaning under leave-one-out"},
		{append(deepSets, "data.recipe=dipsgnn"), "holds out no validation row"},
	} {
		err := trySession(t.Context(), sessionTask(t, "gru4rec"), filepath.Join(t.TempDir(), "run"), c.sets, run.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %q", c.sets[len(c.sets)-1], err, c.want)
		}
	}
	err := trySession(t.Context(), sessionTask(t, "srgnn"), filepath.Join(t.TempDir(), "run"), []string{"protocol=leave-one-out"}, run.Options{})
	if err == nil || !strings.Contains(err.Error(), "protocol: must be next-item or left out for SRGNN") {
		t.Error(err)
	}
}
