package sgdmf

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

var suite = topntest.Suite{Tasks: []run.Task{Task()}, Recipe: "gerai", Config: map[string]string{"dp-sgd-mf": "../../../configs/private/smoke-dp-sgd-mf.yaml"},
	Sets: map[string][]string{"dp-sgd-mf": topntest.Data("data.recipe=gerai", "model.dim=3", "train.steps=5")}}

// A run's account is what its ledger composes to: the setting's epsilon for a user, beside a certified bracket that
// holds it and the Rényi bound above it. It says whom it is against.
func TestRun(t *testing.T) {
	for _, sets := range [][]string{nil, {"train.sample=1", "privacy.epsilon=0.7"}, {"train.optimizer=adam", "train.rate=0.05", "train.sample=0.1"}} {
		dir := filepath.Join(t.TempDir(), "run")
		text := suite.Start(t, suite.Tasks[0], dir, sets...)
		a := runtest.ReadJSON[release.Account](t, dir, "privacy.json", true)
		if len(a.Units) != 1 || len(a.Unbounded) != 0 || a.Claimed.Unit != "user" || a.Threat != release.Threat || len(a.Beside) != 2 {
			t.Fatalf("%+v", a)
		}
		claimed, total := float64(a.Claimed.Eps), float64(a.Total)
		bracket, renyi := a.Beside[0], a.Beside[1]
		if total > claimed || total < claimed*(1-1e-6) || float64(bracket.Lower) > total || float64(bracket.Eps) < total || float64(bracket.Lower) < total*0.99 || float64(renyi.Eps) < total {
			t.Errorf("%v: claimed %v, exact %v, bracket %v, Rényi %v", sets, claimed, total, bracket, renyi)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, "ledger.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		steps := map[string]int64{}
		for _, e := range l.Entries() {
			steps[e.Purpose] += e.Count
		}
		if o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true); o.Steps != 5 || steps[purposeGradients] != 5 || steps[release.CountsPurpose] != 1 || len(steps) != 2 {
			t.Errorf("%d steps, the ledger has %v", o.Steps, steps)
		}
		if !strings.Contains(text, release.Threat) {
			t.Errorf("what is printed does not name the threat model:\n%s", text)
		}
	}
}

func TestAnswers(t *testing.T)         { suite.Answers(t) }
func TestWorkersAndSeeds(t *testing.T) { suite.Repeat(t, "dp-sgd-mf") }
func TestResume(t *testing.T)          { suite.Resume(t, "dp-sgd-mf", "dp-sgd-mf") }
func TestVectors(t *testing.T)         { suite.VectorsRank(t, "dp-sgd-mf", "") }

// Two groups of users have items of their own, all alike in popularity. Almost without noise, the held-out items of
// a user's group come before those of the other group. Without the steps they do not.
func TestLearnsWhatCountsDoNotSay(t *testing.T) {
	const users, items = 60, 20
	var ids []string
	var rows [][]int32
	for u := range users {
		ids = append(ids, fmt.Sprint(u))
		var row []int32
		for i := range int32(items / 2) {
			if (int(i)+u)%5 != 0 {
				row = append(row, i+int32(u%2*items/2))
			}
		}
		rows = append(rows, row)
	}
	counts := slices.Repeat([]float64{users * 2 / 5}, items)
	for _, way := range []string{SGD, Adam, Deferred} {
		optimizer := way
		if way == Deferred {
			optimizer = SGD
		}
		c := Default()
		c.Privacy.Epsilon, c.Model.Dim, c.Train.Steps, c.Train.Clip, c.Train.Optimizer, c.Train.Rate = 900, 3, 60, 2, optimizer, 1
		if optimizer == Adam {
			c.Train.Rate = 0.05
		}
		if way == Deferred {
			c.Train.Noise, c.Train.Others, c.Train.Negatives, c.Train.Average = Deferred, Drawn, 10, false
		}
		b, err := newBudget(c, users, items)
		if err != nil {
			t.Fatal(err)
		}
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := newTraining(c, b, ids, rows, counts, l,
			func(p string) rng.Stream { return rng.Seed(2).Stream(p) }, func(p string) (rng.Stream, error) { return rng.Seed(2).Stream(p), nil })
		if err != nil {
			t.Fatal(err)
		}
		right := func() (n int) {
			vu, vi := tr.f.vectors(rows, counts)
			defer tensor.Free(vu)
			defer tensor.Free(vi)
			for u := range users {
				held, best := math.Inf(1), math.Inf(-1)
				for i := range items {
					s := float64(tensor.Dot(tensor.Row(vu, u), tensor.Row(vi, i)))
					if i/(items/2) != u%2 {
						best = max(best, s)
					} else if !slices.Contains(rows[u], int32(i)) {
						held = min(held, s)
					}
				}
				if held > best {
					n++
				}
			}
			return n
		}
		before := right()
		if err := tr.run(t.Context(), nil, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if after := right(); before > users/2 || after < users*9/10 {
			t.Errorf("%s: %d of %d users ranked right, %d before the steps", way, after, users, before)
		}
	}
}

func TestForecast(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r")
	f, err := Task().Forecast(t.Context(), run.Options{Sets: slices.Concat(suite.Sets["dp-sgd-mf"], []string{"run.out=" + out, "model.items=100", "train.sample=0.2", "data.recipe=gerai"})})
	if err != nil || f.Steps != 5 || !(f.StepSeconds > 0 && f.Seconds > 5*f.StepSeconds) {
		t.Errorf("%+v, %v", f, err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a forecast wrote a run directory")
	}
}

// A step whose sample is empty moves every vector, by noise.
func TestEmptySampleIsNoise(t *testing.T) {
	c := Default()
	c.Train.Steps, c.Model.Items = 2, 6
	b, err := newBudget(c, 3, 6)
	if err != nil {
		t.Fatal(err)
	}
	b.sgd.Rate = 1e-9 // no user is in the sample
	l, err := privacy.NewLedger(privacy.Research)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := newTraining(c, b, []string{"a", "b", "c"}, make([][]int32, 3), []float64{5, 4, 3, 2, 1, 0}, l,
		func(p string) rng.Stream { return rng.Seed(2).Stream(p) }, func(p string) (rng.Stream, error) { return rng.Seed(2).Stream(p), nil })
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(tr.f.v.Data)
	if err := tr.advance(); err != nil {
		t.Fatal(err)
	}
	for k, x := range tr.f.v.Data {
		if x == before[k] {
			t.Fatalf("value %d has no noise", k)
		}
	}
	if e := l.Entries(); len(e) != 1 || e[0].Count != 1 {
		t.Errorf("ledger %v", e)
	}
}

// The multiplier falls as epsilon rises, and the composition is the setting's epsilon for any sample and length.
func TestBudget(t *testing.T) {
	for _, sample := range []float64{0.02, 0.5, 1} {
		last := math.Inf(1)
		for _, eps := range []float64{0.5, 1, 4, 16} {
			c := Default()
			c.Privacy.Epsilon, c.Train.Sample = eps, sample
			b, err := newBudget(c, 6040, 3000)
			if err != nil {
				t.Fatal(err)
			}
			got, err := b.epsilon(c.Privacy)
			if err != nil || got > eps || got < eps*(1-1e-6) || b.sgd.NoiseMultiplier >= last {
				t.Errorf("sample %v, epsilon %v: %v, multiplier %v after %v, %v", sample, eps, got, b.sgd.NoiseMultiplier, last, err)
			}
			last = b.sgd.NoiseMultiplier
		}
	}
}

func TestBadSettings(t *testing.T) {
	for set, want := range map[string]string{
		"model.dim=0": "model.dim", "model.items=0": "model.items", "model.unobserved=0": "model.unobserved", "model.unobserved=1.5": "model.unobserved",
		"model.lambda=0": "model.lambda", "model.prior=-1": "model.prior", "privacy.epsilon=.inf": "privacy.epsilon", "privacy.items=0": "privacy.items",
		"privacy.secure=true": "privacy.secure", "train.steps=0": "train.steps", "train.sample=0": "train.sample", "train.sample=1.1": "train.sample",
		"train.clip=0": "train.clip", "train.negatives=-1": "train.negatives", "train.optimizer=x": "train.optimizer", "train.rate=.nan": "train.rate",
		"train.decay=1": "train.decay", "eval.every=true": "eval.every", "data.name=": "data.name",
	} {
		if err := Task().Check("", []string{set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", set, err)
		}
	}
}
