package dpfactor

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

// suite has one task of either way to have users' vectors.
var suite = topntest.Suite{Tasks: Tasks(), Recipe: "gerai",
	Config: map[string]string{"dpmf": "../../../../configs/gerai/smoke-dpmf.yaml", "dpne": "../../../../configs/gerai/smoke-dpne.yaml"},
	Sets: map[string][]string{
		"dpmf": topntest.Data("data.recipe=gerai", "eval.candidates=40", "model.matrix=adjacency", "model.rounds=2"),
		"dpne": topntest.Data("data.recipe=gerai", "eval.candidates=40", "privacy.users=public", "model.rounds=1", "model.common=0.3"),
	}}

// A run says what is open where users' vectors are trained, and is finite where they are public.
func TestRun(t *testing.T) {
	suite.End(t, func(t *testing.T, dir, text string) {
		a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
		if len(a.Units) != 2 || a.Units[0].Accounted.Eps != 20.4 || a.Claimed.Eps != 20.4 || a.Claimed.Unit != "edge" {
			t.Fatalf("%+v", a)
		}
		open := strings.Contains(text, "\n"+DPMF+" on ")
		if open != (len(a.Unbounded) == 2) || open != math.IsInf(float64(a.Total), 1) || open != math.IsInf(float64(a.Units[0].Total), 1) || open != (len(a.Public) == 0) {
			t.Errorf("%+v", a)
		}
		most := float64(a.Units[1].Accounted.Eps) / 20.4
		if most < 2 || math.Abs(most-math.Round(most)) > 1e-9 {
			t.Errorf("a user is a group of %v edges", most)
		}
		if l, err := (privacy.Reading{}).File(filepath.Join(dir, "ledger.jsonl")); err != nil || len(l.Holdings()) != 1 || l.Holdings()[0].Most != int64(math.Round(most)) {
			t.Errorf("%v, %v", l, err)
		}
	})
}

// Ratings leave open which items have one.
func TestRatings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	suite.Start(t, suite.Tasks[0], dir, "model.matrix=ratings")
	a := runtest.ReadJSON[experiment.Account](t, dir, "privacy.json", true)
	if a.Claimed.Unit != "interaction" || a.Units[0].Neighbouring != "replace" || len(a.Unbounded) != 3 || !math.IsInf(float64(a.Total), 1) {
		t.Errorf("%+v", a)
	}
	o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
	if floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; got < floor {
		t.Errorf("Recall@20 %v, a random order gives %v", got, floor)
	}
}

// With hardly any noise both forms learn.
func TestLearns(t *testing.T) {
	for _, task := range suite.Tasks {
		dir := filepath.Join(t.TempDir(), task.Name)
		suite.Start(t, task, dir, "privacy.epsilon=1e5", "model.dim=8", "model.lambda=1")
		o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
		if floor, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; got < 3*floor {
			t.Errorf("%s: Recall@20 %v, a random order gives %v", task.Name, got, floor)
		}
	}
}

func TestAnswers(t *testing.T) { suite.Answers(t) }

func TestWorkersAndSeeds(t *testing.T) {
	suite.Repeat(t, "dpmf")
	suite.Repeat(t, "dpne")
}

func TestResume(t *testing.T) {
	suite.Resume(t, "dpmf", "dpmf", "model.rounds=4")
	suite.Resume(t, "dpne", "dpne")
}

func TestVectors(t *testing.T) { suite.VectorsRank(t, "dpmf", "") }

// A forecast counts the rounds, and writes nothing.
func TestForecast(t *testing.T) {
	for _, task := range suite.Tasks {
		out := filepath.Join(t.TempDir(), "r")
		f, err := task.Forecast(t.Context(), run.Options{Sets: append(suite.Sets[task.Name], "run.out="+out), Config: suite.Config[task.Name]})
		want := map[string]int{"dpmf": 2, "dpne": 1}[task.Name]
		if err != nil || f.Steps != want || !(f.Seconds > float64(f.Steps)*f.StepSeconds && f.StepSeconds > 0) {
			t.Errorf("%s: %+v, %v", task.Name, f, err)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ task, want, sets string }{
		{"dpmf", "model.dim", "model.dim=0"}, {"dpmf", "model.matrix", "model.matrix=binary"}, {"dpne", "model.matrix", "model.matrix=ratings"},
		{"dpmf", "model.lambda", "model.lambda=0"}, {"dpmf", "model.lambda_users", "model.lambda_users=-1"}, {"dpmf", "model.rounds", "model.rounds=0"},
		{"dpmf", "model.common", "model.common=0.5"}, {"dpne", "model.common", "model.common=1 privacy.users=public model.rounds=1"},
		{"dpmf", "privacy.epsilon", "privacy.epsilon=0"}, {"dpmf", "privacy.epsilon", "privacy.epsilon=-1"}, {"dpmf", "privacy.epsilon", "privacy.epsilon=.inf"},
		{"dpmf", "privacy.epsilon", "privacy.epsilon=.nan"}, {"dpmf", "privacy.users", "privacy.users=fixed"}, {"dpmf", "eval.every", "eval.every=true"},
		{"dpne", "model.rounds", "privacy.users=public model.rounds=2"}, {"dpmf", "model.matrix", "privacy.users=public model.rounds=1"},
		{"dpne", "model.common", "privacy.users=public model.rounds=1 model.dim=1 model.common=0.5"},
	} {
		if err := suite.Task(t, c.task).Check("", strings.Fields(c.sets)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: %v", c.task, c.sets, err)
		}
	}
}
