package dipsgnn

import (
	"context"
	"privrec/internal/train"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/config"
	"privrec/internal/graph"
	"privrec/internal/nn"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// SessionConfig is one run, on the paper's data and protocol, of a model that
// reads the items of a session and nothing else. M is the model's own shape.
type SessionConfig[M shape] struct {
	Profile string      `yaml:"profile"`
	Data    DataConfig  `yaml:"data"`
	Model   M           `yaml:"model"`
	Train   TrainConfig `yaml:"train"`
	Eval    RankConfig  `yaml:"eval"`
}

// shape is the model's part of a configuration: a struct of its own.
type shape interface {
	Width() int // d, under the key model.dim
}

// sessionModel makes one vector a session out of the session alone.
type sessionModel interface {
	Forward(t *autograd.Tape, g *graph.Packed) *autograd.Node // (B, d)
	Items() *autograd.Param                                   // E (|V|+1, d), row 0 unused
	Params() []*autograd.Param
}

// sessionTask is the task that trains such a model on SR-GNN's setting, so that
// only the network differs. method is its name as published; in lower case it is
// the command's.
func sessionTask[M shape, N sessionModel](method, summary, cite string, defaults func() M, build func(items int, shape M, init nn.Init) N) run.Task {
	full := func() SessionConfig[M] {
		return SessionConfig[M]{
			Profile: "sessions", Data: Default().Data, Model: defaults(), Train: sessionTraining(),
			Eval: RankConfig{K: []int{5, 10, 20}, Every: true},
		}
	}
	bind := func(c SessionConfig[M]) sessionSetting[M] {
		return sessionSetting[M]{c, full(), func(items int, init nn.Init) network { return session{build(items, c.Model, init)} }}
	}
	train := func(ctx context.Context, env *run.Env, c SessionConfig[M]) error {
		s := bind(c)
		x, err := load(ctx, env, method, s)
		if err != nil {
			return err
		}
		x.net = s.build(x.items, x.init())
		return x.finish(ctx)
	}
	validate := func(c SessionConfig[M], doc *config.Document) error {
		v := config.NewChecker(doc)
		checkShared(v, bind(c).shared())
		return v.Err()
	}
	ahead := func(ctx context.Context, seed rng.Seed, c SessionConfig[M]) (run.Forecast, error) {
		return forecast(ctx, seed, bind(c))
	}
	return run.Task{
		Verb: "train", Name: strings.ToLower(method), Summary: summary, Cite: cite,
		Action: run.Serving(run.BindForecast(full, validate, train, ahead), func(ctx context.Context, f run.Finished, c SessionConfig[M]) (run.Server, error) {
			return serve[sessionSetting[M]](method)(ctx, f, bind(c))
		}),
	}
}

// sessionSetting is a configuration with what it needs to become a network.
type sessionSetting[M shape] struct {
	SessionConfig[M]
	defaults SessionConfig[M]
	build    func(items int, init nn.Init) network
}

func (s sessionSetting[M]) shared() shared {
	const steps = 1 // of propagation, which these models do not have
	return shared{s.Profile, s.Data, s.Model.Width(), steps, "", s.Train, s.Eval.K, s.Eval.Every}
}

func (s sessionSetting[M]) standing() (string, bool, error) {
	return standing(s.SessionConfig, s.Profile, map[string]SessionConfig[M]{s.defaults.Profile: s.defaults})
}

func (s sessionSetting[M]) stated() train.Length {
	if s.Profile != s.defaults.Profile {
		return train.Length{}
	}
	return s.defaults.Train.length()
}

func (s sessionSetting[M]) network(items int, init nn.Init) network { return s.build(items, init) }

// session makes a network of a model that needs no more than the session.
type session struct{ sessionModel }

func (s session) Forward(t *autograd.Tape, b batch) *autograd.Node {
	return s.sessionModel.Forward(t, b.graph)
}
