package nextitem

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"testing"

	"privrec/internal/config"
	"privrec/internal/experiment"
	"privrec/internal/model/gru4rec"
	"privrec/internal/run"
	"privrec/internal/train"
)

// small is a setting of tenths of a second.
func small() Setting {
	s := Setting{
		Method: "GRU4Rec", Standing: experiment.Standing{Text: "small"},
		From: Data{Name: "standin-tiny", Recipe: "dipsgnn", Candidates: CandidatesTrain},
		Fit:  SessionTraining(), Eval: Ranking{K: []int{5, 10, 20}, Every: true},
	}
	s.Fit.Epochs = 2
	return s
}

// inRun calls f inside a real run of a setting with its data cut.
func inRun(t *testing.T, s Setting, f func(ctx context.Context, x *Experiment) error) {
	t.Helper()
	type nothing struct {
		Method string `yaml:"method"`
	}
	task := run.Spec[nothing]{
		Verb: "train", Name: "small", Default: func() nothing { return nothing{s.Method} }, Check: func(*config.Checker, nothing) {},
		Open: func(ctx context.Context, env *run.Env, _ nothing) (run.Work, error) {
			x, err := Load(ctx, env, s)
			if err != nil {
				return nil, err
			}
			x.New = func(q *Part) (Learner, error) {
				return &Sessions{Net: Plain(gru4rec.New(x.Items, gru4rec.Config{Dim: 4}, x.Uniform(4))), Part: q, Batch: s.Fit.Batch}, nil
			}
			return work{x, f}, x.Unprotect()
		},
	}.Task()
	_, err := task.Start(t.Context(), run.Options{
		Sets: []string{"run.out=" + filepath.Join(t.TempDir(), "run"), "run.workers=1"}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// work is an experiment that does something else.
type work struct {
	x *Experiment
	f func(ctx context.Context, x *Experiment) error
}

func (w work) Run(ctx context.Context) error { return w.f(ctx, w.x) }

// measured is what an experiment reports of a new model after a training with such a
// history.
func measured(ctx context.Context, x *Experiment, history []train.EpochRecord) (*Outcome, error) {
	if err := x.Make(x.Train); err != nil {
		return nil, err
	}
	return x.measure(ctx, &experiment.Fitted{Result: &train.Result{Epochs: history, Best: 1}})
}
