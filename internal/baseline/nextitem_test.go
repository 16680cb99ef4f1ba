package baseline

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/train"
)

// ownFirst are the computed models that put a user's own items first, which stay in the list under that protocol: in
// few rows they fill it, and a random order finds more.
var ownFirst = []string{"ials"}

// others are the models of other protocols that learn under that of the next item at a pace of their own.
var others = map[string][]string{
	"ngcf":   {"model.dim=8", "model.layers=1", "train.epochs=3", "train.rate=0.01", "train.batch=256"},
	"sasrec": {"model.dim=8", "train.epochs=3", "train.rate=0.01", "train.batch=32"},
	"hrnn":   hrnnTiny,
}

// smallOther returns the settings that make one of these models small.
func smallOther(name string) []string {
	if sets := others[name]; sets != nil {
		return sets
	}
	return []string{"model.dim=8", "train.epochs=6", "train.rate=0.05", "train.batch=256"}
}

// otherTasks lists their tasks. The paper prints 1 % of everything for all of them.
func otherTasks() []run.Task {
	table := nextitem.Table{Row: func(string, string) map[string]float64 { return map[string]float64{"Recall@20": 0.01} }, From: "printed"}
	return append(TopN(topn.Tables{}, table), SASRec(table), HRNN(table))
}

// tryOther runs one under its setting for the next item, made small.
func tryOther(ctx context.Context, t testing.TB, name, dir string, o run.Options, sets ...string) error {
	o.Config = "../../configs/dipsgnn/ml-1m-" + name + ".yaml"
	if name == "ngcf" { // which has none
		o.Config, sets = "../../configs/dipsgnn/ml-1m-bprmf.yaml", append([]string{"task=train ngcf", "model={dim: 8, layers: 1, message_dropout: 0.1, node_dropout: 0.1, init: {law: xavier, std: 0}}"}, sets...)
	}
	o.Sets = slices.Concat([]string{"run.out=" + dir, "run.workers=1", "data.name=standin-tiny"}, smallOther(name),
		sets)
	o.Log = slog.New(slog.DiscardHandler)
	if o.Stdout == nil {
		o.Stdout = &bytes.Buffer{}
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	_, err := runtest.Task(t, otherTasks(), name).Start(ctx, o)
	return err
}

// Models of other protocols run under that of the next item: on its samples, with its
// metrics and floors, trained twice; they learn, and answer.
func TestNextItemOfOthers(t *testing.T) {
	for _, task := range otherTasks() {
		if !trains(task) {
			continue
		}
		name := task.Name
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			var out bytes.Buffer
			if err := tryOther(t.Context(), t, name, dir, run.Options{Stdout: &out}); err != nil {
				t.Fatal(err)
			}
			o := readJSON[nextitem.Outcome](t, dir, "metrics.json")
			if !strings.EqualFold(o.Method, name) || len(o.Selection) == 0 || len(o.Epochs) != o.Selected ||
				len(o.Floors) != 2 || len(o.Evaluations) != 2 {
				t.Errorf("%s, %d epochs after %d, epoch %d, %d floors, %d evaluations", o.Method, len(o.Epochs), len(o.Selection), o.Selected, len(o.Floors), len(o.Evaluations))
			}
			if o.Data.PrefixCounts == nil || o.Data.TestSamples != 863 || o.Data.ValidSamples == 0 || !slices.Contains(o.Metrics, metrics.Metric{Kind: metrics.MRR, K: 20}) {
				t.Errorf("data %+v, metrics %v", o.Data.PrefixCounts, o.Metrics)
			}
			profile := "next-item"
			if name == "hrnn" {
				profile = "init"
			}
			if name != "ngcf" && !strings.HasPrefix(o.Setting, "profile "+profile+", changed:") {
				t.Errorf("setting %q", o.Setting)
			}
			if last := o.Selection[len(o.Selection)-1]; !(last.Loss < o.Selection[0].Loss) {
				t.Errorf("the loss goes from %v to %v", o.Selection[0].Loss, last.Loss)
			}
			if got, random := o.Evaluations[0].Values["Recall@20"], o.Floors[0].Values["Recall@20"]; !(got > random) {
				t.Errorf("Recall@20 %v, a random order %v", got, random)
			}
			for _, want := range []string{"seen ones included", "without bound: sequences, selection"} {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the result does not say %q:\n%s", want, &out)
				}
			}
			s, err := experiment.Ask(t.Context(), otherTasks(), dir)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			e, err := s.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var text bytes.Buffer
			if err := e.Text(&text); err != nil || !strings.Contains(text.String(), "equal to what the run reported") {
				t.Errorf("%v: %s", err, &text)
			}
			h, _, err := s.Histories(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Recommend(t.Context(), experiment.Question{Users: []string{h[0].User}, K: 3}); err != nil {
				t.Error(err)
			}
		})
	}
}

// Models that are computed run under it too, of all training items, and are computed again
// where they are asked.
func TestNextItemOfComputed(t *testing.T) {
	for _, task := range otherTasks() {
		if trains(task) {
			continue
		}
		name, dir := task.Name, filepath.Join(t.TempDir(), "run")
		_, err := task.Start(t.Context(), run.Options{Config: "../../configs/dipsgnn/ml-1m-" + name + ".yaml", Sets: []string{"run.out=" + dir, "run.workers=1", "data.name=standin-tiny"},
			Stdout: &bytes.Buffer{}, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
		if err != nil {
			t.Fatal(err)
		}
		o := readJSON[nextitem.Outcome](t, dir, "metrics.json")
		if len(o.Evaluations) != 1 || !strings.EqualFold(o.Evaluations[0].Name, name) || o.Selected != 0 ||
			o.Data.ValidSamples != 0 || o.Data.TestSamples != 863 {
			t.Errorf("%+v of %+v", o.Evaluations, o.Data.PrefixCounts)
		}
		got, random := o.Evaluations[0].Values["Recall@20"], o.Floors[0].Values["Recall@20"]
		if !(got > random) && !slices.Contains(ownFirst, name) {
			t.Errorf("%s: Recall@20 %v, a random order %v", name, got, random)
		}
		s, err := experiment.Ask(t.Context(), otherTasks(), dir)
		if err != nil {
			t.Fatal(err)
		}
		e, err := s.Evaluate(t.Context())
		if err != nil || e.Differs != 0 {
			t.Errorf("%s, evaluated again: %+v, %v", name, e, err)
		}
		s.Close()
	}
}

// Without a configuration the items of training rows are ranked.
func TestNextItemWithoutConfiguration(t *testing.T) {
	task := runtest.Task(t, otherTasks(), "ease")
	start := func(sets ...string) (string, error) {
		dir := filepath.Join(t.TempDir(), "run")
		given := []string{"run.out=" + dir, "run.workers=1", "data.name=standin-tiny", "protocol=next-item"}
		_, err := task.Start(t.Context(), run.Options{Sets: append(given, sets...),
			Stdout: &bytes.Buffer{}, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
		return dir, err
	}
	dir, err := start()
	if err != nil {
		t.Fatal(err)
	}
	if o := readJSON[nextitem.Outcome](t, dir, "metrics.json"); !strings.Contains(o.Setting, "data.candidates=train") {
		t.Errorf("the setting is %q", o.Setting)
	}
	if _, err := start("data.candidates="); err == nil || !strings.Contains(err.Error(), "data.candidates") {
		t.Errorf("an empty value is taken: %v", err)
	}
}

// Runs of theirs that are interrupted in either training, and resumed, leave the bytes of
// runs that were not, on any number of workers.
func TestNextItemResume(t *testing.T) {
	for _, name := range []string{"lightgcn", "sasrec", "hrnn"} {
		whole := runtest.NewFuse(t, 0, nil)
		dir := filepath.Join(t.TempDir(), "run")
		if err := tryOther(whole, t, name, dir, run.Options{}); err != nil {
			t.Fatal(err)
		}
		want := runtest.Artefacts(t, dir)
		for _, at := range []int{whole.Looks / 4, whole.Looks / 2, whole.Looks * 4 / 5, whole.Looks} {
			dir := filepath.Join(t.TempDir(), "run")
			if err := tryOther(runtest.NewFuse(t, at, nil), t, name, dir, run.Options{}, "run.workers=2"); !run.WasInterrupted(err) {
				t.Fatalf("%s, interrupted at look %d of %d: %v", name, at, whole.Looks, err)
			}
			if err := tryOther(t.Context(), t, name, dir, run.Options{Resume: true}); err != nil {
				t.Fatal(err)
			}
			runtest.Same(t, fmt.Sprintf("%s, interrupted at look %d of %d", name, at, whole.Looks), runtest.Artefacts(t, dir), want)
		}
	}
}

// A forecast counts the steps of both trainings.
func TestNextItemForecast(t *testing.T) {
	for _, name := range []string{"bprmf", "sasrec", "hrnn"} {
		f, err := runtest.Task(t, otherTasks(), name).Forecast(t.Context(), run.Options{
			Config: "../../configs/dipsgnn/ml-1m-" + name + ".yaml",
			Sets:   append([]string{"data.name=standin-tiny", "run.workers=1"}, smallOther(name)...),
		})
		if err != nil || f.Steps == 0 || !strings.Contains(f.Basis, " and ") || !(f.Seconds > 0) {
			t.Errorf("%s: %+v (%v)", name, f, err)
		}
	}
}

// The files are the settings under which the paper's numbers stand beside ours.
func TestNextItemConfigs(t *testing.T) {
	same(t, "bprmf", NextItemBPRMF(), DefaultBPRMF())
	same(t, "lightgcn", NextItemLightGCN(), DefaultLightGCN())
	same(t, "sasrec", NextItemSASRec(), DefaultSASRec())
	c, err := NextItemSASRec().setting(nextitem.Table{})
	if err != nil || !c.Standing.Printed || c.Standing.Text != "profile next-item" || c.Standing.Stated != (train.Length{Epochs: 200, Patience: 10}) {
		t.Errorf("%+v (%v)", c.Standing, err)
	}
}

func same[C any](t *testing.T, name string, want, defaults C) {
	t.Helper()
	c, _, err := config.Load("../../configs/dipsgnn/ml-1m-"+name+".yaml", nil, file[C]{Task: defaults})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.Task); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

// What one protocol has and the other has not is refused by its line.
func TestNextItemValidation(t *testing.T) {
	for _, c := range []struct{ name, set, want string }{
		{"bprmf", "protocol=leave-one-out", `protocol: must be one of top-n, next-item, got "leave-one-out"`},
		{"bprmf", "data.candidates=all", "data.candidates: must be one of train, ten-core"},
		{"bprmf", "train.validation=0", "train.validation: must be above 0 to select on validation"},
		{"bprmf", "train.validation=1", "train.validation: must lie in [0,1), got 1"},
		{"bprmf", "train.select=last", "train.refit: needs train.select: validation"},
		{"bprmf", "eval.sigmoid=true", "eval.sigmoid: has no effect under protocol next-item"},
		{"bprmf", "eval.candidates=30", "eval.candidates: has no effect under protocol next-item"},
		{"ease", "eval.candidates=30", "eval.candidates: has no effect under protocol next-item"},
		{"bprmf", "train.optimizer=sgd", "train.optimizer: has no effect under protocol next-item"},
		{"bprmf", "protocol=", "data.candidates: has no effect under protocol top-n"},
		{"lightgcn", "protocol=top-n", "train.refit: has no effect under protocol top-n"},
		{"ease", "data.candidates=all", "data.candidates: must be one of train, ten-core"},
		{"ease", "protocol=top-n", "data.candidates: has no effect under protocol top-n"},
		{"itemknn", "protocol=other", `protocol: must be one of top-n, next-item, got "other"`},
		{"sasrec", "protocol=top-n", `protocol: must be one of leave-one-out, next-item, got "top-n"`},
		{"sasrec", "data.candidates=all", "data.candidates: must be one of train, ten-core"},
		{"sasrec", "data.recipe=histories", "data.recipe: must hold out sequences for protocol next-item"},
		{"sasrec", "train.validation=0", "train.validation: must lie in (0,1), got 0"},
		{"sasrec", "eval.mask_seen=true", "eval.mask_seen: must be false for protocol next-item"},
		{"sasrec", "protocol=", "train.refit: belongs to protocol next-item, must be false"},
		{"sasrec", "protocol=leave-one-out", "eval.every: belongs to protocol next-item, must be false"},
	} {
		err := runtest.Task(t, otherTasks(), c.name).Check("../../configs/dipsgnn/ml-1m-"+c.name+".yaml", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v, want %q", c.name, c.set, err, c.want)
		}
	}
}

// SASRec learns the labels of its part alone, and of users with one among the items it reads.
func TestSASRecLeavesHeldOutLabels(t *testing.T) {
	d := &dataset.Sequential{Name: "hand", Users: 3, Items: 9, Train: [][]int32{{1, 2, 3, 4}, {5, 6}, {7, 8, 9}}}
	all := dataset.Prefixes(d.Train)
	for _, c := range []struct {
		held    []int // samples: labels 2, 3, 4 of the first user, 6 of the second, 8, 9 of the third
		users   string
		targets string
	}{
		{nil, "[0 1 2]", "[2 3 4 6 8 9]"},
		{[]int{1}, "[0 1 2]", "[2 4 6 8 9]"},
		{[]int{3, 5}, "[0 2]", "[2 3 4 8]"},
		{[]int{0, 1, 2, 4}, "[1 2]", "[6 9]"},
	} {
		var learned dataset.Samples
		for i := range all.User {
			if !slices.Contains(c.held, i) {
				learned.User, learned.Length = append(learned.User, all.User[i]), append(learned.Length, all.Length[i])
			}
		}
		x := &nextitem.Experiment{Core: experiment.Core{Env: run.Rehearse(1)}, Data: d, Items: d.Items}
		setting := NextItemSASRec()
		setting.Model.Dim, setting.Model.Dropout = 4, 0
		setting.learnIn(x)
		m, err := x.New(nextitem.NewPart("train", d.Train, learned, d.Items))
		if err != nil {
			t.Fatal(err)
		}
		l, err := m.Lessons(0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Model.Loss(autograd.NewTape(), train.Batch{Samples: l.List}); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(m.(*sasrecLearner).batch.Targets); fmt.Sprint(l.List) != c.users || got != c.targets {
			t.Errorf("without the labels of %v: users %v, targets %s, want %s and %s", c.held, l.List, got, c.users, c.targets)
		}
	}
	// Labels before the items that are read give nothing to learn.
	p := nextitem.NewPart("train", d.Train, dataset.Samples{User: []int32{0}, Length: []int32{1}}, d.Items)
	if got := newLessons(p).users(d.Train, 2); len(got) != 0 {
		t.Errorf("users %v learn from the last two pairs alone", got)
	}
}
