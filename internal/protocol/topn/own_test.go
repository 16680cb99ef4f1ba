package topn_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/model/modeltest"
	"privrec/internal/nn"
	"privrec/internal/protocol/topn"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
)

// ownConfig is a setting of a model with a loss and a score of its own.
type ownConfig struct {
	Profile string          `yaml:"profile"`
	Data    topn.DataConfig `yaml:"data"`
	Model   struct {
		Dim      int    `yaml:"dim"`
		Releases string `yaml:"releases"` // "" or two
	} `yaml:"model"`
	Train topn.TrainConfig `yaml:"train"`
	Eval  topn.EvalConfig  `yaml:"eval"`
}

func defaultOwn() ownConfig {
	c := ownConfig{Profile: "own", Data: topn.DataConfig{Name: "standin-tiny", Recipe: "rdpgcf"}, Train: topn.DefaultTrain(), Eval: topn.DefaultEval()}
	c.Model.Dim = 4
	return c
}

// gates scores s_ui = h·sigmoid(a_u + c_i). Its loss over the differences x of a pair's scores
// is the mean of ln 2 - x/2 + x²/8, and half of L2 times the squares of all parameters.
type gates struct {
	a, c, h *autograd.Param // (users, d), (items, d), (1, d)
	l2      float64
	steps   []topn.Step // seen, without their triples
}

func (m *gates) Params() []*autograd.Param { return []*autograd.Param{m.a, m.c, m.h} }

func (m *gates) Loss(t *autograd.Tape, s topn.Step) (*autograd.Node, error) {
	b := len(s.Users)
	if len(s.Items) != 2*b {
		return nil, errors.New("want one negative a pair")
	}
	m.steps = append(m.steps, topn.Step{Number: s.Number, Count: s.Count})
	a, c, h := t.Use(m.a), t.Use(m.c), t.Use(m.h)
	q := func(items []int32) *autograd.Node { return a.Gather(s.Users).Add(c.Gather(items)).Sigmoid() } // (B, d)
	x := q(s.Items[:b]).Sub(q(s.Items[b:])).MatMulT(h)                                                  // (B, 1)
	loss := x.SumSq().Scale(1 / (8 * s.Count)).Sub(x.SumAll().Scale(1 / (2 * s.Count)))
	for _, p := range []*autograd.Node{a, c, h} {
		loss = loss.Add(p.SumSq().Scale(m.l2 / 2))
	}
	return loss, nil
}

func (m *gates) Release(kind string, _ topn.Call) (experiment.Vectors, error) {
	v := experiment.Vectors{Users: m.a.Value, Items: m.c.Value, Output: m.h.Value}
	if kind == "halved" {
		v.Output = tensor.New(m.h.Value.Rows, m.h.Value.Cols)
		for i, x := range m.h.Value.Data {
			v.Output.Data[i] = -x / 2
		}
	}
	return v, nil
}

// gated scores by what gates releases.
type gated struct{ v experiment.Vectors }

func newGated(v experiment.Vectors) (eval.Scorer, error) {
	if v.Output.Rows != 1 || v.Output.Cols != v.Users.Cols {
		return nil, errors.New("the model has no output layer")
	}
	return gated{v}, nil
}

func (g gated) Items() int { return g.v.Items.Rows }

func (g gated) Score(_ *autograd.Tape, users []int32, scores tensor.Matrix) error {
	for k, u := range users {
		row := tensor.Row(scores, k)
		for i := range row {
			s := 0.0
			for j, h := range tensor.Row(g.v.Output, 0) {
				s += float64(h) * modeltest.Sigmoid(float64(tensor.Row(g.v.Users, int(u))[j]+tensor.Row(g.v.Items, i)[j]))
			}
			row[i] = tensor.Float(s)
		}
	}
	return nil
}

// ownTask makes the task. made sees every model that is made for a run.
func ownTask(made func(*gates)) run.Task {
	return run.Spec[ownConfig]{
		Verb: "train", Name: "gates", Summary: "a loss and a score of its own", Cite: "ours", Default: defaultOwn, Answers: true,
		Check: func(v *config.Checker, c ownConfig) { c.Train.Check(v); c.Eval.CheckOwn(v) },
		Open: func(ctx context.Context, env *run.Env, c ownConfig) (run.Work, error) {
			m := topn.Method{Name: "Gates", Data: c.Data, Train: c.Train, Eval: c.Eval, Scorer: newGated, Loss: "mean polynomial (nats)"}
			if c.Model.Releases != "" {
				m.Releases = []string{"whole", "halved"}
			}
			x, err := topn.Load(ctx, env, m)
			if err != nil || x.Finished() {
				return x, err
			}
			if err := x.Unprotect(); err != nil {
				return nil, err
			}
			init := nn.Normal(env.Seed, 0.1)
			g := &gates{a: nn.NewParam("a", x.Data.Users, c.Model.Dim, init), c: nn.NewParam("c", x.Data.Items, c.Model.Dim, init),
				h: nn.NewParam("h", 1, c.Model.Dim, nn.Normal(env.Seed, 1)), l2: c.Train.L2}
			made(g)
			x.Model = g
			return x, nil
		},
	}.Task()
}

var ownSuite = topntest.Suite{Tasks: []run.Task{ownTask(func(*gates) {})}, Sets: map[string][]string{"gates": topntest.Trained()}}

// Runs of a model with a loss and a score of its own keep the protocol's contract: they end,
// answer from what they kept, forecast, resume and repeat.
func TestOwn(t *testing.T) {
	ownSuite.End(t, func(t *testing.T, dir, _ string) {
		w, err := experiment.OpenModel(dir)
		if err != nil {
			t.Fatal(err)
		}
		if m, err := w.Matrix("output"); err != nil || m.Rows != 1 || m.Cols != 4 {
			t.Errorf("output layer %v, %v", m, err)
		}
	})
	ownSuite.Answers(t)
	ownSuite.Forecast(t, func(string) bool { return false })
	ownSuite.Learn(t, "gates")
	ownSuite.Repeat(t, "gates")
	ownSuite.Resume(t, "gates", "gates", "eval.every=true", "model.releases=two")
	ownSuite.Resume(t, "sgd", "gates", "train.optimizer=sgd", "train.decay=0.01")
}

// The same with a ranking among sampled items.
func TestOwnSampled(t *testing.T) {
	s := ownSuite
	s.Sets = map[string][]string{"gates": topntest.Trained("eval.candidates=40", "model.releases=two")}
	s.End(t, func(*testing.T, string, string) {})
	s.Answers(t)
	s.Repeat(t, "gates")
	s.Resume(t, "gates", "gates")
}

// The loss gets the steps of the training in order, and nothing is added to it: the loss of the
// first epoch is that of the formula.
func TestOwnLossIsAll(t *testing.T) {
	var g *gates
	s := ownSuite
	s.Tasks = []run.Task{ownTask(func(m *gates) { g = m })}
	dir := filepath.Join(t.TempDir(), "run")
	s.Start(t, s.Tasks[0], dir, "train.l2=0", "train.rate=1e-12", "train.epochs=2", "train.select=last", "train.patience=0")
	o := runtest.ReadJSON[topn.Outcome](t, dir, "metrics.json", true)
	if len(g.steps) != 2*o.Epochs[0].Steps {
		t.Fatalf("%d steps, the result says %d an epoch", len(g.steps), o.Epochs[0].Steps)
	}
	for i, s := range g.steps {
		last := (i+1)%o.Epochs[0].Steps == 0
		if s.Number != i || !last && s.Count != 512 || last && (s.Count < 1 || s.Count > 512) {
			t.Errorf("step %d has number %d and count %v", i, s.Number, s.Count)
		}
	}
	// Two losses of the same parameters over other negatives: near 0, not near ln 2, and alike.
	if a, b := o.Epochs[0].Loss, o.Epochs[1].Loss; math.Abs(a) > 0.1 || math.Abs(a-b) > 0.02 || a == b {
		t.Errorf("losses %v and %v", a, b)
	}

	// A penalty on all parameters is the model's: it does not count rows of the batch.
	other := filepath.Join(t.TempDir(), "run")
	s.Start(t, s.Tasks[0], other, "train.l2=0.5", "train.rate=1e-12", "train.epochs=2", "train.select=last", "train.patience=0")
	sum := 0.0
	for _, p := range g.Params() {
		for _, v := range p.Value.Data {
			sum += float64(v) * float64(v)
		}
	}
	with := runtest.ReadJSON[topn.Outcome](t, other, "metrics.json", true).Epochs[0].Loss
	if want := o.Epochs[0].Loss + 0.25*sum; math.Abs(with-want) > 1e-5*want {
		t.Errorf("loss %v with the penalty, want %v", with, want)
	}
}

// Every release is kept with its output layer, and answers rank by that.
func TestOwnReleases(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ownSuite.Start(t, ownSuite.Tasks[0], dir, "model.releases=two")
	server, d := ownSuite.Open(t, dir), topntest.OnStandIn(t).Data
	all := d.Items - len(topntest.Seen(d, int32(slices.Index(d.UserIDs, "3"))))
	var scores [2][]float64
	for k, release := range []string{"whole", "halved"} {
		r, err := server.Recommend(t.Context(), experiment.Question{Users: []string{"3"}, K: all, Release: release})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range r.Lists[0].Items {
			scores[k] = append(scores[k], i.Score)
		}
	}
	slices.Reverse(scores[1])
	if len(scores[0]) != all || len(scores[1]) != all {
		t.Fatalf("%d and %d of %d items", len(scores[0]), len(scores[1]), all)
	}
	for i, v := range scores[0] {
		if math.Abs(v+2*scores[1][i]) > 1e-6 {
			t.Fatalf("place %d: score %v, and %v of the halved release", i, v, scores[1][i])
		}
	}
}

// Optimisers other than Adam give other parameters, and one that is not known is refused.
func TestOwnOptimizer(t *testing.T) {
	results := map[string]string{}
	for _, o := range []string{"", "adam", "sgd"} {
		dir := filepath.Join(t.TempDir(), "run")
		var sets []string
		if o != "" {
			sets = []string{"train.optimizer=" + o}
		}
		ownSuite.Start(t, ownSuite.Tasks[0], dir, sets...)
		results[o] = runtest.Artefacts(t, dir)["model.safetensors"]
	}
	if results[""] != results["adam"] || results["sgd"] == results["adam"] {
		t.Error("no optimiser is not Adam, or SGD is Adam")
	}
	err := ownSuite.Try(t.Context(), ownSuite.Tasks[0], t.TempDir(), []string{"train.optimizer=lbfgs"}, run.Options{})
	if err == nil || !strings.Contains(err.Error(), "train.optimizer") {
		t.Errorf("%v", err)
	}
	err = ownSuite.Try(t.Context(), ownSuite.Tasks[0], t.TempDir(), []string{"eval.sigmoid=true"}, run.Options{})
	if err == nil || !strings.Contains(err.Error(), "no inner products") {
		t.Errorf("%v", err)
	}
}
