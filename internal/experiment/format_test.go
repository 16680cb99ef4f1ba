package experiment

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/train"
)

// olds are the kept run directories of a program before version 2, one of each task.
func olds(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("..", "..", "testdata", "runs", "*"))
	if err != nil || len(dirs) < 17 {
		t.Fatalf("%d kept runs, %v", len(dirs), err)
	}
	return dirs
}

// What a run measured is read from files of every protocol of the older program.
func TestReadOldOutcomes(t *testing.T) {
	releases := map[string][]string{}
	for _, dir := range olds(t) {
		o, err := ReadOutcome(dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		if o.Version != 0 || o.Method == "" || o.Data.Name == "" || o.Data.Level != dataset.LevelD || len(o.Floors) < 2 || len(o.Evaluations) == 0 || len(o.Definitions) == 0 {
			t.Errorf("%s: %+v", dir, o)
		}
		for _, s := range slices.Concat(o.Floors, o.Evaluations) {
			if s.Name == "" || len(s.Values) < len(o.Metrics) {
				t.Errorf("%s: %+v", dir, s)
			}
		}
		for i, e := range o.Epochs {
			if e.Epoch != i+1 || e.Steps == 0 {
				t.Errorf("%s: epoch %d is %+v", dir, i+1, e)
			}
		}
		for _, e := range o.Evaluations {
			releases[filepath.Base(dir)] = append(releases[filepath.Base(dir)], e.Release)
		}
	}
	if r := releases["train-dipsgnn"]; len(r) < 2 || r[0] != "on" || r[1] != "off" {
		t.Errorf("evaluations of DIPSGNN with noise %v", r)
	}
	if r := releases["train-rdpgcf"]; len(r) == 0 || r[0] != "noisy" {
		t.Errorf("releases of RDP-GCF %v", r)
	}
}

// What a run says of its privacy is read from files of every paper of the older program.
func TestReadOldAccounts(t *testing.T) {
	units := map[string]int{}
	for _, dir := range olds(t) {
		a, err := ReadAccount(dir)
		if err != nil || a == nil {
			t.Errorf("%s: %v, %v", dir, a, err)
			continue
		}
		if a.Version != 0 || a.Noise == "" || !math.IsInf(float64(a.Total), 1) || len(a.Unbounded) == 0 {
			t.Errorf("%s: %+v", dir, a)
		}
		units[filepath.Base(dir)] = len(a.Units)
		if filepath.Base(dir) == "train-dipsgnn" && (a.Features == nil || a.Features.Eps1 != 20 || a.Claimed.Theorem != "4.2") {
			t.Errorf("DIPSGNN: features %+v, claim %+v", a.Features, a.Claimed)
		}
	}
	for name, n := range map[string]int{"train-dipsgnn": 4, "train-rdpgcf": 1, "train-pricdsr": 3, "train-lightgcn": 0} {
		if units[name] != n {
			t.Errorf("%s: %d units, want %d", name, units[name], n)
		}
	}
	if a, err := ReadAccount(t.TempDir()); a != nil || err != nil {
		t.Errorf("a run without an account: %v, %v", a, err)
	}
}

// An outcome comes back as it was written.
func TestOutcomeRoundTrip(t *testing.T) {
	m := metrics.Metric{Kind: metrics.Recall, K: 5}
	want := Outcome[Data]{
		Version: Version, Method: "M", Protocol: "top-n", Setting: "own", Data: Data{Name: "d", Level: dataset.LevelB, Source: dataset.Source{Level: dataset.LevelB}},
		Metrics: []metrics.Metric{m}, Definitions: Define([]metrics.Metric{m}, metrics.Metric.Definition),
		Floors: []Scores{NewScores("random", "", []metrics.Value{{Metric: m, Value: 0.1}})},
		Evaluations: []Scores{{Name: "M", Release: "noisy", Values: map[string]float64{"Recall@5": 0.2}, Users: map[string]float64{"Recall@5": 0.3},
			Intervals: map[string][2]float64{"Recall@5": {0.1, 0.3}}, Guesses: map[string]float64{"k=5": 4}, Paper: map[string]float64{"Recall@5": 0.25}, Printed: "table 2"}},
		Trained: TrainedBy(&Fitted{
			Result:    &train.Result{Steps: 4, Epochs: []train.EpochRecord{{Epoch: 0, Steps: 4, Samples: 9, Loss: 1, LR: 0.1}}},
			Selection: &train.Result{Steps: 8, Best: 0, Stopped: true, Epochs: []train.EpochRecord{{Epoch: 0, Steps: 4}, {Epoch: 1, Steps: 4, Best: true, Scores: []train.Score{{Name: "valid", Value: 1}}}}},
		}, true, 7, train.Length{Epochs: 7, Patience: 1}, Standing{Stated: train.Length{Epochs: 10, Patience: 3}}),
	}
	dir := t.TempDir()
	b, err := json.Marshal(want)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "metrics.json"), b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadOutcome(dir)
	if err != nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("%v: came back as\n%+v, want\n%+v", err, got, want)
	}
	if got.Selected != 1 || got.Steps != 12 || !got.Stopped || got.Short == "" || got.Chose()[1].Epoch != 2 {
		t.Errorf("trained %+v", got.Trained)
	}
}

// A guarantee is infinite where anything is open, and the total is that of the worst unit.
func TestAdd(t *testing.T) {
	a := Account{Version: Version, Units: []Unit{}, Unbounded: []Open{}}
	a.Add("edge", "add-remove", 1e-5, 3)
	a.Add("user", "replace", 1e-5, 7)
	if a.Total != 7 || a.Units[0].Total != 3 || len(a.Units[0].Unbounded) != 0 {
		t.Errorf("%+v", a)
	}
	b := Unprotected("labels", "they are seen")
	b.Add("edge", "add-remove", 1e-5, 3)
	b.Public = []privacy.Assumption{{What: "n", Why: "w"}, {What: "m"}}
	b.Features = &Features{Unbounded: []Open{{"range", "of the data"}}}
	if u := b.Units[0]; !math.IsInf(float64(u.Total), 1) || u.Accounted.Eps != 3 || !slices.Equal(u.Unbounded, []string{"labels"}) || !math.IsInf(float64(b.Total), 1) {
		t.Errorf("%+v", b)
	}
	d := b.Declaration()
	if len(d.WithoutNoise) != 2 || d.WithoutNoise[0].Unit != "" || d.WithoutNoise[1].Unit != privacy.Feature || len(d.Public) != 2 || b.PublicText() != "n: w; m" {
		t.Errorf("declared %+v, public %q", d, b.PublicText())
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	var back Account
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, b) {
		t.Errorf("%v: came back as %+v", err, back)
	}
}
