package dipsgnn

import (
	"context"
	"math"

	"privrec/internal/model/userinput"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

const cite = "Hu and Fang, Towards Differential Privacy in Sequential Recommendation: A Noisy Graph Neural Network " +
	"Approach, arXiv 2309.11515"

// Task returns the task of this paper's method. The baselines are in package baseline; Tables returns the paper's
// printed values for them.
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "dipsgnn", Cite: cite, Answers: true,
		Noisy: true, Summary: "noisy graph network for sequential recommendation",
		Default: Default, Check: check, Open: open, Secure: true,
	}.Task()
}

// open loads the data, perturbs user features, and prepares the network with noisy
// aggregation.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	s, err := c.setting()
	if err != nil {
		return nil, err
	}
	x, err := nextitem.Load(ctx, env, s)
	if err != nil {
		return nil, err
	}
	return x, prepare(env, x, c)
}

// prepare opens the ledger, perturbs user features, and sets how the network is made, ranked and accounted for.
func prepare(env *run.Env, x *nextitem.Experiment, c Config) error {
	p, err := newProtection(env, x, c)
	if err != nil {
		return err
	}
	features := tensor.Matrix{}
	if c.Model.UserInput == userinput.Features {
		if features, err = PerturbUsers(x.Data.Features, c.Privacy.Features, p.once, env); err != nil {
			return err
		}
	}
	var noisily func(*nextitem.Part) (noise, error)
	var graphs func(*nextitem.Part) (*graphNoise, error)
	if c.Privacy.Transitions.onEdges() {
		if err := p.releaseGraphs(); err != nil {
			return err
		}
		graphs = p.graphs
	} else if !math.IsInf(c.Privacy.Transitions.Epsilon, 1) {
		noisily = func(q *nextitem.Part) (noise, error) { return p.on(q) }
	}
	x.Modes, x.Extra, x.Account, x.Planned = c.Eval.Noise, p, p.account, p.planned
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		init := x.Uniform(c.Model.Dim)
		inner := NewNetwork(x.Items, c.Model, init)
		inner.Stopped, inner.whole = c.Privacy.Transitions.StopGradient, p.whole
		net := &noisy{inner, userinput.New(features, x.Data.Users, c.Model.UserDim, init), noisily, graphs, nil}
		return &nextitem.Sessions{Net: net, Part: q, Batch: c.Train.Batch, Misaligned: c.Train.MisalignUsers}, nil
	}
	return nil
}
