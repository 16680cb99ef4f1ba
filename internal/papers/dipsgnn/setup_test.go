package dipsgnn

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/graph"
	"privrec/internal/model/userinput"
	"privrec/internal/nn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
	"privrec/internal/tensor"
	"privrec/internal/train"
)

// smoke is the setting of seconds; tiny makes it smaller still, on one
// worker: others wait for a core where tests run beside each other.
const smoke = "../../../configs/dipsgnn/smoke.yaml"

var tiny = []string{"model.dim=4", "model.user_dim=2", "train.epochs=2", "run.workers=1"}

// inRun calls f inside a real run of the small setting with its data loaded.
func inRun(t *testing.T, sets []string, f func(ctx context.Context, env *run.Env, c Config, x *nextitem.Experiment) error) {
	t.Helper()
	start(t, taskOf(f), t.TempDir(), sets)
}

// taskOf is the task with other work.
func taskOf(f func(ctx context.Context, env *run.Env, c Config, x *nextitem.Experiment) error) run.Task {
	return run.Spec[Config]{Verb: "train", Name: "dipsgnn", Noisy: true, Default: Default, Check: check, Open: func(_ context.Context, env *run.Env, c Config) (run.Work, error) {
		return runtest.Work(func(ctx context.Context) error {
			s, err := c.setting()
			if err != nil {
				return err
			}
			x, err := nextitem.Load(ctx, env, s)
			if err != nil {
				return err
			}
			return f(ctx, env, c, x)
		}), nil
	}}.Task()
}

// start runs a task under the small setting into a directory and returns what
// it printed.
func start(t *testing.T, task run.Task, dir string, sets []string) string {
	t.Helper()
	var out bytes.Buffer
	if err := try(t.Context(), task, dir, sets, run.Options{Stdout: &out}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func try(ctx context.Context, task run.Task, dir string, sets []string, o run.Options) error {
	o.Config, o.Sets = smoke, slices.Concat([]string{"run.out=" + dir}, tiny, sets)
	o.Log = slog.New(slog.DiscardHandler)
	if o.Stdout == nil {
		o.Stdout = &bytes.Buffer{}
	}
	if o.Progress == nil {
		o.Progress = run.Silent{}
	}
	o.NoiseSeed = 1 // so that runs can be compared
	_, err := task.Start(ctx, o)
	return err
}

// eventful runs DIPSGNN under one seed after the other until validation prefers
// an epoch before the last, and returns that outcome and its seed.
func eventful(t *testing.T, sets []string) (nextitem.Outcome, string) {
	t.Helper()
	for seed := 1; seed <= 20; seed++ {
		dir := filepath.Join(t.TempDir(), "run")
		start(t, Task(), dir, append([]string{fmt.Sprint("run.seed=", seed)}, sets...))
		if o := readJSON[nextitem.Outcome](t, dir, "metrics.json"); o.Selected < max(len(o.Epochs), len(o.Selection)) {
			return o, fmt.Sprint("run.seed=", seed)
		}
	}
	t.Fatal("validation prefers the last epoch under every seed, so nothing is tested")
	return nextitem.Outcome{}, ""
}

// readJSON reads one file of a run directory.
func readJSON[T any](t testing.TB, dir, name string) T {
	t.Helper()
	return runtest.ReadJSON[T](t, dir, name, true)
}

// recommender is the network on the samples of a part, as it is trained and ranked by.
type recommender struct {
	train.Model
	eval.Scorer
	net  *noisy
	part *nextitem.Part
}

// newRecommender takes all samples as one batch; by adds noise, nil: none.
func newRecommender(t testing.TB, net *noisy, p *nextitem.Part, by noise) *recommender {
	t.Helper()
	if by != nil {
		net.noise = func(*nextitem.Part) (noise, error) { return by, nil }
	}
	s := &nextitem.Sessions{Net: net, Part: p, Batch: max(1, p.Samples.Len())}
	l, err := s.Lessons(0)
	if err != nil {
		t.Fatal(err)
	}
	scorer, err := s.Scorer(p, 0, by != nil)
	if err != nil {
		t.Fatal(err)
	}
	return &recommender{l.Model, scorer, net, p}
}

// forward returns the vectors (B, d) of samples with the user vectors of users; nil: their
// own.
func (r *recommender) forward(t *autograd.Tape, pass nextitem.Pass, samples, users []int32) (*autograd.Node, error) {
	sessions, err := graph.NewSessions(r.part.Sequences, r.Items())
	if err != nil {
		return nil, err
	}
	g := &graph.Packed{}
	g.Pack(sessions, r.part.Samples.User, r.part.Samples.Length, samples)
	if users == nil {
		users = g.User
	}
	return r.net.Forward(t, &nextitem.Step{Part: r.part, Pass: pass, Noisy: true, Samples: samples, Graph: g, Users: users})
}

// newNoisy is a network with user vectors, without noise.
func newNoisy(items, users int, c ModelConfig, features tensor.Matrix, init nn.Init) *noisy {
	return &noisy{Network: NewNetwork(items, c, init), user: userinput.New(features, users, c.UserDim, init)}
}
