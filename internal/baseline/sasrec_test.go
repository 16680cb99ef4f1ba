package baseline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

const sasrecSmoke = "../../configs/exposure/smoke-sasrec.yaml"

// startSASRec runs the task under the small setting, on one worker unless told: others
// wait for a core where tests run beside each other.
func startSASRec(ctx context.Context, dir string, o run.Options, sets ...string) (string, error) {
	var out bytes.Buffer
	o.Config, o.Sets = sasrecSmoke, append([]string{"run.out=" + dir, "run.workers=1"}, sets...)
	o.Log, o.Stdout = slog.New(slog.DiscardHandler), &out
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	_, err := SASRec(nextitem.Table{}).Start(ctx, o)
	return out.String(), err
}

// sasrecRun is a finished run of the small setting.
func sasrecRun(t *testing.T, sets ...string) (dir, printed string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	printed, err := startSASRec(t.Context(), dir, run.Options{}, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return dir, printed
}

func TestSASRecRun(t *testing.T) {
	dir, printed := sasrecRun(t)
	o := runtest.ReadJSON[nextitem.Outcome](t, dir, "metrics.json", true)
	if len(o.Epochs) != 3 || o.Data.TestRows != 200 || o.Data.Level != dataset.LevelD || len(o.Floors) != 2 || len(o.Evaluations) != 1 {
		t.Errorf("outcome %+v", o)
	}
	if last := o.Epochs[len(o.Epochs)-1]; !(last.Loss < o.Epochs[0].Loss) {
		t.Errorf("the loss does not fall: %v, then %v", o.Epochs[0].Loss, last.Loss)
	}
	if got, random := o.Evaluations[0].Values["NDCG@10"], o.Floors[0].Values["NDCG@10"]; !(got > 2*random) {
		t.Errorf("NDCG@10 is %v, a random order has %v", got, random)
	}
	for _, want := range []string{"evidence level D", "random (floor)", "popularity (floor)", "without bound: sequences", "those of the user's history"} {
		if !strings.Contains(printed, want) {
			t.Errorf("the result does not say %q:\n%s", want, printed)
		}
	}
	a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
	if !math.IsInf(float64(a.Total), 1) || len(a.Unbounded) != 2 || a.Unbounded[1].What != "selection" || len(a.Units) != 0 || a.Noise != "none" {
		t.Errorf("account %+v", a)
	}
	ledger, err := os.ReadFile(filepath.Join(dir, "ledger.jsonl"))
	if err != nil || !bytes.Contains(ledger, []byte(`"unprotected"`)) {
		t.Errorf("ledger %s, %v", ledger, err)
	}
	for _, file := range []string{"config.yaml", "manifest.json", "scores.tsv.gz", "items.tsv.gz", experiment.ModelFile, "report.html", "result.json", "log.jsonl"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// Any number of workers gives the same bytes, with either loss.
func TestSASRecWorkers(t *testing.T) {
	for _, loss := range []string{LossAll, LossSampled} {
		// Batches large enough for the products to be divided.
		sets := []string{"train.loss=" + loss, "train.batch=200", "model.dim=32", "train.epochs=2"}
		if loss == LossAll {
			sets = append(sets, "train.stride=3")
		}
		dir, _ := sasrecRun(t, sets...)
		want := runtest.Artefacts(t, dir)
		for _, workers := range []string{"2", "5"} {
			dir, _ := sasrecRun(t, append(sets, "run.workers="+workers)...)
			runtest.Same(t, loss+", "+workers+" workers", runtest.Artefacts(t, dir), want)
		}
	}
	tensor.SetWorkers(1)
}

// Windows teach labels that the latest window does not have, and more of them.
func TestSASRecStride(t *testing.T) {
	c := DefaultSASRec()
	c.Model.Length, c.Model.Dropout = 2, 0
	rows := sasrecRows(t)
	rows.Train[0] = []int32{1, 2, 3, 4, 1, 2}
	latest, err := lessonsOf(t, c, rows)
	if err != nil {
		t.Fatal(err)
	}
	c.Train.Stride = 1
	all, err := lessonsOf(t, c, rows)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range all.Samples {
		if _, err := all.Model.Loss(autograd.NewTape(), train.Batch{Samples: []int32{int32(i)}}); err != nil {
			t.Fatal(err)
		}
		n += len(all.Model.(*sasrecLearner).batch.Targets)
	}
	want := 0
	for _, s := range rows.Train {
		want += max(0, len(s)-1)
	}
	if n != want || all.Samples <= len(latest.List) {
		t.Errorf("%d windows with %d labels, want %d; %d users", all.Samples, n, want, len(latest.List))
	}
}

// A run that is interrupted anywhere and resumed leaves the bytes of one that was not.
func TestSASRecResume(t *testing.T) {
	for _, loss := range []string{LossAll, LossSampled} {
		whole := runtest.NewFuse(t, 0, nil)
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := startSASRec(whole, dir, run.Options{}, "train.loss="+loss); err != nil {
			t.Fatal(err)
		}
		want := runtest.Artefacts(t, dir)
		if whole.Looks < 20 {
			t.Fatalf("only %d places to interrupt at", whole.Looks)
		}
		for _, at := range []int{whole.Looks / 4, whole.Looks / 2, whole.Looks - 1, whole.Looks} {
			dir := filepath.Join(t.TempDir(), "run")
			if _, err := startSASRec(runtest.NewFuse(t, at, nil), dir, run.Options{}, "train.loss="+loss); !run.WasInterrupted(err) {
				t.Fatalf("interrupted at look %d of %d: %v", at, whole.Looks, err)
			}
			if _, err := startSASRec(t.Context(), dir, run.Options{Resume: true}, "train.loss="+loss); err != nil {
				t.Fatal(err)
			}
			runtest.Same(t, fmt.Sprintf("%s, interrupted at look %d of %d", loss, at, whole.Looks), runtest.Artefacts(t, dir), want)
		}
	}
}

func TestSASRecBadConfig(t *testing.T) {
	for set, want := range map[string]string{
		`data.name=`:                           "data.name: must not be empty",
		`data.recipe=`:                         "data.recipe: must not be empty",
		"data.split=time":                      `data.split: must be one of users, released, got "time"`,
		"data.slate=0":                         "data.slate: must lie in 1..1000, got 0",
		"data.behaviour=0":                     "data.behaviour: must lie in 1..1000, got 0",
		"model.dim=0":                          "model.dim: must lie in 1..4096, got 0",
		"model.blocks=0":                       "model.blocks: must lie in 1..100, got 0",
		"model.heads=3":                        "model.heads: must divide model.dim, got 3 of 8",
		"model.length=0":                       "model.length: must lie in 1..10000, got 0",
		"model.dropout=1":                      "model.dropout: must lie in [0,1), got 1",
		"model.norm=post":                      `model.norm: must be one of code, paper, got "post"`,
		"train.loss=bpr":                       `train.loss: must be one of all, sampled, got "bpr"`,
		"train.stride=-1":                      "train.stride: must lie in 0..",
		"train.stride=1000":                    "train.stride: must lie in 0..",
		"train.epochs=0":                       "train.epochs: must lie in 1..100000, got 0",
		"train.batch=0":                        "train.batch: must lie in 1..1000000, got 0",
		"train.rate=0":                         "train.rate: must lie in [1e-12,100], got 0",
		"train.beta2=1":                        "train.beta2: must lie in [0,1), got 1",
		"train.patience=-1":                    "train.patience: must lie in 0..100000, got -1",
		"eval.k=[]":                            "eval.k: must name at least one cutoff",
		"eval.k=[5, 5]":                        "eval.k: names 5 twice",
		"eval.k=[0]":                           "eval.k: must lie in 1..100000, got 0",
		"eval.k=[1000]":                        "eval.k: cutoff 1000 is more than the 219 items ranked",
		"data.recipe=none":                     `unknown recipe "none"`,
		"data.name=nothing":                    "unknown data set",
		"train.negatives=5":                    "negatives",
		"data.recipe=dipsgnn":                  "holds out no validation row",
		"data.recipe=" + slate.HistoriesRecipe: "no set of slates",
	} {
		if _, err := startSASRec(t.Context(), filepath.Join(t.TempDir(), "run"), run.Options{}, set); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", set, err, want)
		}
	}
}

// sasrecRows are four users: the second's test item is in no training row, the third's
// validation item is not, the fourth comes back to an item it had.
func sasrecRows(t testing.TB) *dataset.Sequential {
	t.Helper()
	l := &dataset.Log{Name: "hand", Hash: "00", UserIDs: []string{"a", "b", "c", "d", "e"}, ItemIDs: []string{"1", "2", "3", "4", "5", "6"}}
	for u, items := range [][]int32{{0, 1, 2, 3}, {1, 2, 0, 4}, {3, 0, 5, 1}, {2, 3, 1, 2}, {1, 0}} {
		for _, i := range items {
			l.Users, l.Items = append(l.Users, int32(u)), append(l.Items, i)
		}
	}
	s, err := dataset.Recipe{Name: "hand", Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true}}.Apply(l, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// lessonsOf are those of a new model on rows.
func lessonsOf(t testing.TB, c SASRecConfig, rows *dataset.Sequential) (nextitem.Lessons, error) {
	t.Helper()
	c.Eval.K = []int{2}
	s, err := c.setting(nextitem.Table{})
	if err != nil {
		return nextitem.Lessons{}, err
	}
	x, err := nextitem.Cut(run.Rehearse(1), s, rows)
	if err != nil {
		return nextitem.Lessons{}, err
	}
	c.learnIn(x)
	m, err := x.New(x.Train)
	if err != nil {
		return nextitem.Lessons{}, err
	}
	return m.Lessons(0)
}

// A step draws negatives of its own, and the same ones whenever it is made.
func TestSASRecNegativesByStep(t *testing.T) {
	c := DefaultSASRec()
	c.Train.Loss, c.Model.Dropout = LossSampled, 0
	l, err := lessonsOf(t, c, sasrecRows(t))
	if err != nil {
		t.Fatal(err)
	}
	loss := func(step int) float64 {
		y, err := l.Model.Loss(autograd.NewTape(), train.Batch{Step: step, Samples: l.List})
		if err != nil {
			t.Fatal(err)
		}
		return y.Scalar()
	}
	seen := map[float64]bool{}
	for step := range 8 {
		if loss(step) != loss(step) {
			t.Errorf("step %d: two losses", step)
		}
		seen[loss(step)] = true
	}
	if len(seen) == 1 {
		t.Error("every step has the same negatives")
	}
}

// A user who has every item leaves nothing to draw, and the error says what to do.
func TestSASRecNoNegative(t *testing.T) {
	s := sasrecRows(t)
	s.Train[0] = []int32{1, 2, 3, 4}
	c := DefaultSASRec()
	c.Train.Loss = LossSampled
	if _, err := lessonsOf(t, c, s); err == nil || !strings.Contains(err.Error(), "user 0 has all 4 items") {
		t.Error(err)
	}
}

// A forecast counts the steps that the run makes when nothing stops it, and writes nothing.
func TestSASRecForecast(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	o := run.Options{Config: sasrecSmoke, Sets: []string{"run.out=" + dir, "run.workers=1"}}
	f, err := SASRec(nextitem.Table{}).Forecast(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := 3 * 7; f.Steps != want || !(f.StepSeconds > 0 && f.Seconds > float64(f.Steps)*f.StepSeconds && f.Fastest > 0 && f.Fastest <= f.Seconds) {
		t.Errorf("%+v, want %d steps", f, want)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a forecast wrote a run directory")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := SASRec(nextitem.Table{}).Forecast(ctx, o); !run.WasInterrupted(err) {
		t.Errorf("interrupted: %v", err)
	}
}

// Published numbers stand beside a result of the same data, ranking and model alone.
func TestSASRecPublished(t *testing.T) {
	c := DefaultSASRec()
	c.Data.Name, c.Data.Recipe, c.Model.Length = "ml-1m", "sasrec", 200
	if v := c.published(dataset.LevelB); v["HR@10"] != 0.3152 {
		t.Errorf("all items: %v", v)
	}
	c.Train.Loss = LossSampled
	if v := c.published(dataset.LevelB); v["NDCG@10"] != 0.1341 {
		t.Errorf("sampled: %v", v)
	}
	for name, change := range map[string]func(*SASRecConfig){
		"data":    func(c *SASRecConfig) { c.Data.Name = "standin-ml-1m" },
		"recipe":  func(c *SASRecConfig) { c.Data.Recipe = "rdpgcf" },
		"length":  func(c *SASRecConfig) { c.Model.Length = 50 },
		"ranking": func(c *SASRecConfig) { c.Eval.MaskSeen = false },
		"width":   func(c *SASRecConfig) { c.Model.Dim = 32 },
	} {
		other := c
		change(&other)
		if other.published(dataset.LevelB) != nil {
			t.Errorf("another %s is compared", name)
		}
	}
	if c.published(dataset.LevelD) != nil {
		t.Error("a stand-in is compared")
	}
}

func TestSASRecServes(t *testing.T) {
	dir, _ := sasrecRun(t)
	v, err := experiment.Ask(t.Context(), []run.Task{SASRec(nextitem.Table{})}, dir)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	text := func(r run.Result, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := r.Text(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	if got := text(v.Evaluate(t.Context())); !strings.Contains(got, "equal to what the run reported") {
		t.Error(got)
	}
	s, err := registry.Load(t.Context(), "standin-tiny", "sasrec", dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := v.Recommend(t.Context(), experiment.Question{Users: []string{s.UserIDs[3], s.UserIDs[0]}, K: s.Items})
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Tables []struct {
			Rows []struct {
				User, Item  string
				Rank, Score float64
			}
		} `json:"tables"`
	}
	if err := json.Unmarshal(b, &d); err != nil || len(d.Tables) != 1 {
		t.Fatalf("%v: %s", err, b[:200])
	}
	shown, before := map[string]int{}, math.Inf(1)
	for _, row := range d.Tables[0].Rows {
		user, item, score := row.User, row.Item, row.Score
		if row.Rank == 1 {
			before = math.Inf(1)
		}
		shown[user]++
		if int(row.Rank) != shown[user] || score > before {
			t.Errorf("row %v after a score of %v", row, before)
		}
		before = score
		u := slices.Index(s.UserIDs, user)
		i := int32(slices.Index(s.ItemIDs, item))
		if i < 1 || slices.Contains(s.Train[u], i) || slices.Contains(s.Test[u], i) || slices.Contains(s.Valid[u], i) {
			t.Errorf("user %s has %s already", user, item)
		}
	}
	for _, u := range []int{3, 0} {
		have := slices.Concat(s.Train[u], s.Valid[u], s.Test[u])
		slices.Sort(have)
		if want := s.Items - len(slices.Compact(have)); shown[s.UserIDs[u]] != want {
			t.Errorf("user %s is shown %d items, want %d", s.UserIDs[u], shown[s.UserIDs[u]], want)
		}
	}
	for want, o := range map[string]experiment.Question{
		"no user":    {Users: []string{"nobody"}, K: 3},
		"no release": {Users: []string{s.UserIDs[0]}, K: 3, Release: "x"},
		"0 items":    {Users: []string{s.UserIDs[0]}},
	} {
		_, err := v.Recommend(t.Context(), o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
		if usage := (*run.UsageError)(nil); o.Release != "" && (!errors.As(err, &usage) || !strings.Contains(usage.Fix, "on.release")) {
			t.Errorf("%+v: the hint is for privrec recommend alone", o)
		}
	}
}
