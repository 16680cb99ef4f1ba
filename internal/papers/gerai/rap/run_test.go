package rap

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/baseline"
	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// tiny makes the task small, on a stand-in whose ages are ranges already.
var tiny = topntest.Trained("data.recipe=gerai-valid", "eval.candidates=30", "attack.users=32", "attack.read=5", "attack.k=6", "attack.dim=4", "attack.rate=0.01",
	"attack.attributes=[{name: gender}, {name: age, bands: [25, 45]}]")

var suite = topntest.Suite{Tasks: []run.Task{Task(topn.Tables{})}, Sets: map[string][]string{"rap": tiny}, Recipe: "gerai-valid"}

func TestRuns(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
		if a.Claimed != nil || !math.IsInf(float64(a.Total), 1) || strings.Join(experiment.Names(a.Unbounded), " ") != "edges attributes" {
			t.Errorf("claimed %v, total %v, open %v", a.Claimed, a.Total, a.Unbounded)
		}
	})
}

func TestVectorsRankAsReported(t *testing.T) { suite.VectorsRank(t, "rap", "") }

func TestForecast(t *testing.T) { suite.Forecast(t, func(string) bool { return false }) }

func TestLearns(t *testing.T) { suite.Learn(t, "rap", "attack.weight=0.1") }

func TestWorkersAndSeeds(t *testing.T) { suite.Repeat(t, "rap") }

func TestAnswers(t *testing.T) { suite.Answers(t) }

// The attacker's parameters and both optimisers survive an interruption: with several steps
// between those of the recommender, and with more users asked for than there are.
func TestResume(t *testing.T) {
	suite.Resume(t, "one step", "rap")
	suite.Resume(t, "three steps, all users", "rap", "attack.steps=3", "attack.users=1000", "train.select=validation")
}

// Without a weight the recommender is BPRMF to the last bit, whatever the attacker does beside
// it. With one it is not.
func TestWithoutAWeightItIsBPRMF(t *testing.T) {
	base := t.TempDir()
	small := topntest.Trained("data.recipe=gerai-valid", "model.init={law: normal, std: 0.1}", "train.l2=0.01", "train.patience=0", "train.select=last")
	bprmf := topntest.Suite{Tasks: baseline.BPRTasks(topn.Tables{}, nextitem.Table{}), Sets: map[string][]string{"bprmf": small}}
	bprmf.Start(t, bprmf.Task(t, "bprmf"), filepath.Join(base, "bprmf"))
	vectors := func(name string) experiment.Vectors {
		v, err := experiment.OpenVectors(filepath.Join(base, name), "", 200, 300)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := vectors("bprmf")
	for name, weight := range map[string]string{"watched": "0", "played": "1"} {
		suite.Start(t, suite.Task(t, "rap"), filepath.Join(base, name), "train.l2=0.01", "attack.weight="+weight)
		got, equal := vectors(name), true
		for u := range 200 {
			for k, x := range tensor.Row(got.Users, u) {
				equal = equal && x == tensor.Row(want.Users, u)[k]
			}
		}
		if equal != (weight == "0") {
			t.Errorf("weight %s: equal to BPRMF is %v", weight, equal)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"attack.attributes=[]", "attack.attributes"},
		{"attack.attributes=[{name: gender}, {name: gender}]", "attack.attributes.1.name"},
		{"attack.attributes=[{name: ''}]", "attack.attributes.0.name"},
		{"attack.attributes=[{name: age, bands: [3]}]", "attack.attributes.0.bands"},
		{"attack.weight=-1", "attack.weight"},
		{"attack.weight=.nan", "attack.weight"},
		{"attack.steps=0", "attack.steps"},
		{"attack.users=0", "attack.users"},
		{"attack.read=-1", "attack.read"},
		{"attack.k=-1", "attack.k"},
		{"attack.temperature=0", "attack.temperature"},
		{"attack.dim=0", "attack.dim"},
		{"attack.rate=0", "attack.rate"},
		{"model.dim=0", "model.dim"},
		{"train.epochs=0", "train.epochs"},
		{"eval.k=[0]", "eval.k"},
	} {
		err := Task(topn.Tables{}).Check("", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) || !config.Is(err) {
			t.Errorf("%s: %v, want an error of the configuration about %s", c.set, err, c.want)
		}
	}
}

// What only the data can tell is refused before anything is written.
func TestBadData(t *testing.T) {
	for _, c := range []struct {
		sets []string
		want string
	}{
		{[]string{"attack.k=300"}, "attack.k: lists of 300"},
		{[]string{"attack.k=290"}, "does not have in train"},
		{[]string{"attack.attributes=[{name: height}]"}, "height"},
		{[]string{"data.recipe=rdpgcf"}, "takes no user features"},
		{[]string{"attack.attributes=[{name: age, bands: [0.1, 0.2]}]"}, "all users have the same value"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		err := suite.Try(t.Context(), suite.Task(t, "rap"), dir, c.sets, run.Options{})
		usage, data := (*run.UsageError)(nil), (*dataset.Error)(nil)
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.As(err, &usage) && !errors.As(err, &data) {
			t.Errorf("%v: %v, want an error about %q", c.sets, err, c.want)
		}
	}
}
