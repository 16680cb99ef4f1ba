package dpae

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/papers/gerai"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Method is the method's name in tables.
const Method = "DPAE"

const cite = "Liu, Li, Ni, Hou, Differentially private recommender system with autoencoders, iThings 2019, as " +
	"GERAI's tables (WWW 2021) have it"

// Task returns the task of DPAE.
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "dpae", Noisy: true, Summary: "autoencoder of users' rows, trained by DP-SGD over users",
		Cite:    cite,
		Default: Default, Check: check, Open: open, Answers: true,
	}.Task()
}

// work holds DPAE and its data, with the noise of its steps.
type work struct {
	*topn.Experiment
	cfg    Config
	sgd    descent.DPSGD
	steps  int
	ledger *privacy.Ledger
}

// open loads the data, calibrates the noise, and declares the assumptions of the guarantee.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default()}, nil,
		topn.Free()...)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: Method, Standing: standing, Data: c.Data, Eval: c.Eval,
		Tables: gerai.Tables(),
		Shape:  topn.Shape{Epsilon: c.Privacy.Epsilon}}) // a width of hidden units is not GERAI's d
	if err != nil || x.Finished() {
		return x, err
	}
	w := &work{Experiment: x, cfg: c, steps: c.Steps(cmp.Or(c.Data.Sizes.Users, x.Graph.Users))}
	if w.sgd, err = c.sgd(x.Graph.Users); err != nil {
		return nil, &run.UsageError{Message: fmt.Sprintf("privacy.epsilon: %v", err),
			Fix: "take a larger epsilon, or fewer epochs"}
	}
	a := experiment.Protected(public...)
	if err := a.Decide(env, x.Data.Source,
		experiment.Taken{Items: true,
			HowMany: []experiment.Number{experiment.HowManyUsers(c.Data.Public,
				"the rate and the number of steps")}}); err != nil {
		return nil, err
	}
	d := a.Declaration()
	d.Plan = &privacy.Plan{Budget: privacy.Budget{Epsilon: c.Privacy.Epsilon, Delta: c.Privacy.Delta},
		Subject: privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove},
		Releases: []privacy.Entry{{Purpose: purposeGradients, Count: w.sgd.Count(int64(w.steps)),
			Event: w.sgd.Event()}}}
	if w.ledger, err = env.Ledger(privacy.Research, d); err != nil {
		return nil, err
	}
	x.Compute = w.make
	x.Account = func(*experiment.Fitted) (experiment.Privacy, error) { return w.account(a) }
	return w, nil
}

// public lists the assumptions of the total.
var public = []privacy.Assumption{
	{What: "users' own lists and vectors",
		Why: "they are computed from the user's own row in the clear, so the guarantee is for what all others see " +
			"(joint differential privacy)"},
	{What: "the settings", Why: "to choose them by results on these rows is not accounted for"},
	{What: "what is measured here", Why: "numbers of rows, floors and ranks of held-out rows"},
}

// account adds the composition of the steps, for one user more or less and for one rating more or less.
func (w *work) account(a experiment.Account) (experiment.Privacy, error) {
	p := w.cfg.Privacy
	a.Claimed = &experiment.Claim{Eps: privacy.Number(p.Epsilon), Delta: p.Delta, Unit: string(privacy.User),
		Theorem: "DP-SGD over Poisson samples of users"}
	if w.sgd.Steps > 0 {
		a.Claimed.Theorem = "DP-SGD over epochs of random allocation of users"
	}
	if err := a.Compose(w.ledger, privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove},
		p.Delta); err != nil {
		return nil, err
	}
	if eps := float64(a.Noised()); !(eps <= p.Epsilon*(1+1e-9)) {
		return nil, fmt.Errorf("the ledger composes to epsilon %.10g for one user, the setting's is %v", eps, p.Epsilon)
	}
	return &a, a.Compose(w.ledger, privacy.Subject{Unit: privacy.Edge, Neighbouring: privacy.AddRemove}, p.Delta)
}

// make trains the network and returns its vectors.
func (w *work) make(ctx context.Context) (*topn.Made, error) {
	defer w.Env.Stage("train")()
	p := w.Env.Progress
	p.Begin("step", w.steps)
	net, err := w.train(ctx, w.steps, func() { p.Add(1) })
	if err != nil {
		return nil, err
	}
	// No loss is shown: it would be a statistic of the rows that nothing covers.
	p.End(fmt.Sprintf("%d steps", w.steps))
	users, items := net.vectors(w.Graph)
	return &topn.Made{Scorer: &bpr.Ranking{Users: users, Goods: items}, Steps: w.steps,
		Vectors: &experiment.Vectors{Users: users, Items: items}}, nil
}

// train makes a number of steps from new weights, each on its own batch.
func (w *work) train(ctx context.Context, steps int, done func()) (*network, error) {
	c, g := w.cfg, w.Graph
	n := size(g.Items, c.Model.Dim)
	noise, err := w.Env.Noise("dpae", purposeGradients)
	if err != nil {
		return nil, err
	}
	sgd, err := descent.Open[tensor.Float](w.sgd, n, w.ledger, noise)
	if err != nil {
		return nil, err
	}
	net := newNetwork(g.Items, c.Model, w.Env.Seed.Stream("dpae.init"))
	sum := over(make([]tensor.Float, n), g.Items, c.Model.Dim)
	mean, first, second := make([]tensor.Float, n), make([]tensor.Float, n), make([]tensor.Float, n)
	p := &pass{net: net, graph: g, weight: tensor.Float(c.Model.Weight), clip: c.Privacy.Clip}
	perEpoch := w.steps / c.Train.Epochs
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("%w at step %d: %w", run.ErrInterrupted, step, err)
		}
		epoch := step / perEpoch
		users, err := sgd.Begin(uint64(epoch), uint64(step))
		if err != nil {
			return nil, err
		}
		if err := sgd.AddSum(p.sum(users, sum), sum.values); err != nil {
			return nil, err
		}
		if err := sgd.Finish(mean); err != nil {
			return nil, err
		}
		tensor.AdamStep(net.values, mean, first, second, tensor.NewAdamCoef(c.Train.Rate, 0.9, 0.999, 1e-8, 0, step+1))
		if (step+1)%perEpoch == 0 {
			if err := w.ledger.Flush(fmt.Sprintf("epoch %d", epoch+1)); err != nil {
				return nil, err
			}
		}
		done()
	}
	return net, sgd.Check()
}

// Forecast implements run.Forecaster. It makes a few steps, ranks some users, and extrapolates.
func (w *work) Forecast(ctx context.Context) (f run.Forecast, err error) {
	opening := w.Env.Opening()
	steps := min(w.steps, topn.ForecastSteps)
	start := time.Now()
	net, err := w.train(ctx, steps, func() {})
	if err != nil {
		return f, err
	}
	step := time.Since(start).Seconds() / float64(steps)
	users, items := net.vectors(w.Graph)
	defer tensor.Free(users)
	defer tensor.Free(items)
	return w.Estimate(ctx, experiment.Rehearsed{Opening: opening, Steps: []float64{step}, Of: w.steps,
		Text: fmt.Sprintf("%d epochs of DP-SGD", w.cfg.Train.Epochs)}, users, items)
}
