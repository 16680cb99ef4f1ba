package dipsgnn

import (
	"context"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/model/apgnn"
	"privrec/internal/model/gru4rec"
	"privrec/internal/model/srgnn"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

const cite = "Hu and Fang, Towards Differential Privacy in Sequential Recommendation: A Noisy Graph Neural Network Approach, arXiv 2309.11515"

// Tasks are what the command line offers of this paper.
func Tasks() []run.Task {
	return []run.Task{
		{
			Verb: "train", Name: "dipsgnn", Cite: cite,
			Summary: "noisy graph network for sequential recommendation",
			Action:  run.Serving(run.BindForecast(Default, Validate, Train, forecast[Config]), serve[Config]("DIPSGNN")),
		},
		{
			Verb: "train", Name: "srgnn",
			Summary: "session graph network without user vectors or noise (DIPSGNN's Table 2)",
			Cite:    "Wu et al., Session-based Recommendation with Graph Neural Networks, AAAI 2019",
			Action:  run.Serving(run.BindForecast(DefaultSRGNN, ValidateSRGNN, TrainSRGNN, forecast[SRGNNConfig]), serve[SRGNNConfig]("SRGNN")),
		},
		{
			Verb: "train", Name: "apgnn",
			Summary: "personalised session graph network without noise (DIPSGNN's Table 2)",
			Cite:    "Zhang et al., Personalized Graph Neural Networks with Attention Mechanism for Session-Aware Recommendation, arXiv 1910.08887",
			Action:  run.Serving(run.BindForecast(DefaultAPGNN, ValidateAPGNN, TrainAPGNN, forecast[APGNNConfig]), serve[APGNNConfig]("APGNN")),
		},
		sessionTask("GRU4Rec", "recurrent network over sessions, without graph, user vectors or noise", gru4rec.Cite, gru4rec.Default, gru4rec.New),
	}
}

// Train runs DIPSGNN: load, perturb user features, train with noisy
// aggregation, rank with and without that noise, account.
func Train(ctx context.Context, env *run.Env, c Config) error {
	x, err := load(ctx, env, "DIPSGNN", c)
	if err != nil {
		return err
	}
	p, err := newProtection(env, x, c)
	if err != nil {
		return err
	}
	features := tensor.Matrix{}
	if c.Model.UserInput == UserFeatures {
		if features, err = p.perturbUsers(x.data.Features); err != nil {
			return err
		}
	}
	x.user = newUserInput(features, x.data.Users, c.Model.UserDim, x.init())
	x.net = noisy{NewNetwork(x.items, c.Model, x.init())}
	x.modes, x.extra = c.Eval.Noise, p
	if !math.IsInf(c.Privacy.Transitions.Epsilon, 1) {
		x.noise = func(q *part) (noise, error) { return p.on(q) }
	}
	fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	o, err := x.measure(ctx, fitted)
	if err != nil {
		return err
	}
	if err := p.check(); err != nil {
		return err
	}
	a, err := p.account(fitted)
	if err != nil {
		return err
	}
	return x.write(o, a)
}

// TrainSRGNN runs SR-GNN on the same samples.
func TrainSRGNN(ctx context.Context, env *run.Env, c SRGNNConfig) error {
	x, err := load(ctx, env, "SRGNN", c)
	if err != nil {
		return err
	}
	x.net = plain{srgnn.New(x.items, c.Model.Dim, c.Model.Steps, x.init())}
	return x.finish(ctx)
}

// TrainAPGNN runs A-PGNN, without its history part, on the same samples.
func TrainAPGNN(ctx context.Context, env *run.Env, c APGNNConfig) error {
	x, err := load(ctx, env, "APGNN", c)
	if err != nil {
		return err
	}
	features := tensor.Matrix{}
	if c.Model.UserInput == UserFeatures {
		if features, err = clearFeatures(x.data.Features); err != nil {
			return err
		}
	}
	x.user = newUserInput(features, x.data.Users, c.Model.UserDim, x.init())
	x.net = personal{apgnn.New(x.items, c.Model.Dim, c.Model.UserDim, c.Model.Steps, x.init())}
	return x.finish(ctx)
}

// finish is the rest of a run without privacy.
func (x *experiment) finish(ctx context.Context) error {
	p := x.unprotected()
	if _, err := x.env.Ledger(privacy.Research, declaration(p.Unbounded, nil)); err != nil {
		return err
	}
	fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	o, err := x.measure(ctx, fitted)
	if err != nil {
		return err
	}
	return x.write(o, p)
}

// noisy, plain and personal make networks of the three models.
type (
	noisy    struct{ *Network }
	plain    struct{ *srgnn.Model }
	personal struct{ *apgnn.Model }
)

func (n noisy) Items() *autograd.Param    { return n.Item }
func (n plain) Items() *autograd.Param    { return n.Item }
func (n personal) Items() *autograd.Param { return n.Item }

func (n noisy) Forward(t *autograd.Tape, b batch) *autograd.Node {
	return n.Network.Forward(t, b.graph, b.user, b.perturb)
}

func (n plain) Forward(t *autograd.Tape, b batch) *autograd.Node {
	return n.Model.Forward(t, b.graph)
}

func (n personal) Forward(t *autograd.Tape, b batch) *autograd.Node {
	return n.Model.Forward(t, b.graph, b.user)
}
