package als

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

var suite = topntest.Suite{Tasks: []run.Task{Task()}, Recipe: "gerai",
	Config: map[string]string{"dp-als": "../../../configs/private/smoke-dp-als.yaml"},
	Sets:   map[string][]string{"dp-als": topntest.Data("data.recipe=gerai")}}

// The sets that make a run of the form with matrices of items, of ones and of ratings.
var (
	observed = []string{"model.cells=observed", "model.average=false", "model.shrink=0", "model.unobserved=0.1", "model.lambda=0.1", "model.lambda_item=1", "model.matrices=0.4", "model.common=0.1", "model.clip=1"}
	ratings  = append([]string{"model.values=ratings"}, observed...)
)

// All forms use their epsilon up, at one user, by counts and sums of every round; nothing is left open.
func TestRun(t *testing.T) {
	for name, c := range map[string]struct {
		sets     []string
		releases int
	}{"all": {nil, 4}, "observed": {observed, 10}, "ratings": {ratings, 10}, "no common": {append(observed, "model.unobserved=0", "model.common=0"), 7}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			text := suite.Start(t, suite.Tasks[0], dir, c.sets...)
			a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
			if len(a.Unbounded) != 0 || len(a.Units) != 1 || !(a.Total <= 8 && a.Total > 8*(1-1e-6)) || a.Claimed.Eps != 8 || a.Claimed.Unit != "user" || len(a.Beside) != 2 {
				t.Errorf("%+v", a)
			}
			if !strings.Contains(text, release.Threat) {
				t.Error("the threat model is not in the result")
			}
			l, err := (privacy.Reading{}).File(filepath.Join(dir, run.LedgerName))
			if err != nil {
				t.Fatal(err)
			}
			square, n := 0.0, 0
			for _, e := range l.Entries() {
				g, ok := e.Event.(privacy.Gaussian)
				if !ok || g.Unit != privacy.User || g.Neighbouring != privacy.AddRemove || e.Count != 1 {
					t.Errorf("entry %+v", e)
					continue
				}
				n++
				square += g.Sensitivity * g.Sensitivity / (g.Sigma * g.Sigma)
			}
			if n != c.releases || !(square > 0) {
				t.Errorf("%d releases, want %d; mu² %v", n, c.releases, square)
			}
		})
	}
}

func TestEnds(t *testing.T)    { suite.End(t, func(*testing.T, string, string) {}) }
func TestAnswers(t *testing.T) { suite.Answers(t) }
func TestVectors(t *testing.T) { suite.VectorsRank(t, "dp-als", "") }
func TestRepeat(t *testing.T)  { suite.Repeat(t, "dp-als") }
func TestResume(t *testing.T)  { suite.Resume(t, "dp-als", "dp-als") }

// All forms learn from the stand-in's few users where there is hardly any noise.
func TestLearns(t *testing.T) {
	for name, sets := range map[string][]string{"all": nil, "observed": observed} {
		dir := filepath.Join(t.TempDir(), "run")
		suite.Start(t, suite.Tasks[0], dir, append([]string{"privacy.epsilon=900", "privacy.items=1000", "model.rounds=5", "model.items=1000", "eval.k=[20]"}, sets...)...)
		o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
		if random, got := o.Floors[0].Values["Recall@20"], o.Evaluations[0].Values["Recall@20"]; !(got > 2*random) {
			t.Errorf("%s: Recall@20 %v, a random order %v", name, got, random)
		}
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ want, sets string }{
		{"model.items", "model.items=1"}, {"model.dim", "model.dim=0"}, {"model.dim", "model.dim=40"}, {"model.rounds", "model.rounds=0"},
		{"model.cells", "model.cells=some"}, {"model.values", "model.values=counts"}, {"model.values", "model.values=ratings"},
		{"model.item_weight", "model.item_weight=-1"}, {"model.clip", "model.clip=0"}, {"model.clip", "model.clip=2"}, {"model.growth", "model.growth=0"},
		{"model.shrink", "model.shrink=-1"}, {"model.lambda", "model.lambda=-1"}, {"model.unobserved", "model.unobserved=1"}, {"model.lambda_item", "model.lambda_item=1"},
		{"model.matrices", "model.matrices=0.5"}, {"model.common", "model.common=0.5"}, {"privacy.epsilon", "privacy.epsilon=0"}, {"privacy.secure", "privacy.secure=true"},
		{"privacy.items", "privacy.items=0"}, {"eval.every", "eval.every=true"}, {"profile", "profile="},
		{"model.average", strings.Join(observed, " ") + " model.average=true"}, {"model.lambda", strings.Join(observed, " ") + " model.lambda=0"},
		{"model.matrices", strings.Join(observed, " ") + " model.matrices=0"}, {"model.common", strings.Join(observed, " ") + " model.common=0"},
		{"model.common", strings.Join(observed, " ") + " model.common=0.6"}, {"model.common", strings.Join(observed, " ") + " model.unobserved=0"},
		{"model.unobserved", strings.Join(observed, " ") + " model.unobserved=-1"}, {"model.lambda_item", strings.Join(observed, " ") + " model.lambda_item=-1"},
	} {
		if err := suite.Task(t, "dp-als").Check(suite.Config["dp-als"], strings.Fields(c.sets)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.sets, err)
		}
	}
}

// The plan's releases come to mu² of the budget, in the shares of the setting.
func TestPlan(t *testing.T) {
	for name, m := range forms {
		c := Default()
		c.Model, c.Privacy.Items = m, 7
		counts, rounds, err := c.plan()
		if err != nil {
			t.Fatal(err)
		}
		first, total := 0.0, 1/(counts.Multiplier*counts.Multiplier)
		for n, r := range rounds {
			of := 0.0
			for _, s := range []release.Sum{r.vectors, r.matrix, r.common} {
				if s.Purpose != "" {
					of += 1 / (s.Multiplier * s.Multiplier)
				}
			}
			if n == 0 {
				first = of
			}
			if want := first * math.Pow(m.Growth, float64(n)); math.Abs(of/want-1) > 1e-9 {
				t.Errorf("%s: round %d has %v, want %v", name, n, of, want)
			}
			total += of
		}
		if got := 1 / (counts.Multiplier * counts.Multiplier) / total; math.Abs(got-c.Privacy.Counts) > 1e-9 {
			t.Errorf("%s: the counts have %v of the budget", name, got)
		}
		if len(rounds) != m.Rounds {
			t.Errorf("%s: %d rounds", name, len(rounds))
		}
	}
}
