package dpae

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

var suite = topntest.Suite{Tasks: []run.Task{Task()}, Recipe: "gerai", Config: map[string]string{"dpae": "../../../../configs/gerai/smoke-dpae.yaml"},
	Sets: map[string][]string{"dpae": topntest.Data("data.recipe=gerai", "eval.candidates=40", "privacy.epsilon=3", "model.dim=4", "train.epochs=2", "train.batch=32")}}

// A run's account is what its ledger composes to: its claim for a user, and more for a rating,
// which exchanges a user for another.
func TestRun(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
		if len(a.Units) != 2 || len(a.Unbounded) != 0 || len(a.Public) != 5 || a.Claimed.Unit != "user" || a.Claimed.Eps != 3 {
			t.Fatalf("%+v", a)
		}
		user, edge := float64(a.Units[0].Accounted.Eps), float64(a.Units[1].Accounted.Eps)
		if user > 3 || user < 3*(1-1e-6) || edge < user || edge > 3*user {
			t.Errorf("epsilon %v for a user and %v for an edge", user, edge)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		steps := int64(0)
		for _, e := range l.Entries() {
			steps += e.Count
		}
		if o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true); steps != int64(o.Steps) || steps != 12 {
			t.Errorf("%d steps in the ledger, %d made, want 12", steps, o.Steps)
		}
		if !strings.Contains(text, "joint differential privacy") {
			t.Errorf("what is printed does not say that own lists are of own rows:\n%s", text)
		}
	})
}

func TestAnswers(t *testing.T)         { suite.Answers(t) }
func TestWorkersAndSeeds(t *testing.T) { suite.Repeat(t, "dpae") }
func TestResume(t *testing.T)          { suite.Resume(t, "dpae", "dpae", "train.batch=50") }
func TestVectors(t *testing.T)         { suite.VectorsRank(t, "dpae", "") }
func TestForecast(t *testing.T)        { suite.Forecast(t, func(string) bool { return true }) }

// Almost without noise the network learns; the multiplier falls as epsilon rises.
func TestLearns(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[0], dir, "privacy.epsilon=1e5", "train.epochs=30", "train.rate=0.02")
	o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
	if floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; got < 3*floor {
		t.Errorf("Recall@20 %v, a random order gives %v", got, floor)
	}
	last := math.Inf(1)
	for _, eps := range []float64{0.4, 2, 20.4, 1e3} {
		c := Default()
		c.Privacy.Epsilon = eps
		d, err := c.sgd(943)
		if err != nil || d.NoiseMultiplier >= last || d.Rate != 64.0/943 || c.Steps(943) != 300 {
			t.Errorf("epsilon %v: %+v, %d steps, %v", eps, d, c.Steps(943), err)
		}
		last = d.NoiseMultiplier
	}
}

func TestBadSettings(t *testing.T) {
	for set, want := range map[string]string{
		"model.dim=0": "model.dim", "model.weight=0": "model.weight", "model.bias=.nan": "model.bias", "privacy.epsilon=0": "privacy.epsilon",
		"privacy.epsilon=-1": "privacy.epsilon", "privacy.epsilon=.inf": "privacy.epsilon", "privacy.delta=0": "privacy.delta", "privacy.delta=1": "privacy.delta",
		"privacy.clip=0": "privacy.clip", "train.epochs=0": "train.epochs", "train.batch=0": "train.batch", "train.rate=0": "train.rate",
		"eval.every=true": "eval.every", "eval.k=[0]": "eval.k", "data.name=": "data.name",
	} {
		if err := Task().Check("", []string{set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
}
