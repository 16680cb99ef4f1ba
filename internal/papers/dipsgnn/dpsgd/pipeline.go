package dpsgd

import (
	"context"
	"fmt"

	"privrec/internal/experiment"
	"privrec/internal/model/userinput"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/privacy"
	"privrec/internal/privacy/descent"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Method is the method's name in tables.
const Method = "DPSGD"

const cite = "Abadi et al., Deep learning with differential privacy, CCS 2016, as DIPSGNN's Table 2 (arXiv " +
	"2309.11515) has it"

// Task returns the task of DPSGD.
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "dpsgd", Noisy: true,
		Summary: "DIPSGNN's network, trained by DP-SGD over samples or users", Cite: cite,
		Default: Default, Check: check, Open: open, Answers: true, Secure: true,
	}.Task()
}

// work is a run of DPSGD.
type work struct {
	x        *nextitem.Experiment
	cfg      Config
	examples int
	sgd      descent.DPSGD
	ledger   *privacy.Ledger
	noise    *noisySteps
	items    *released // nil: they are read in the clear
}

// open loads the data, calibrates the noise, declares the assumptions of the guarantee, perturbs user features, and
// sets the function that makes the network.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default(),
		Users().Profile: Users(), Interactions().Profile: Interactions()}, length)
	if err != nil {
		return nil, err
	}
	x, err := nextitem.Load(ctx, env, nextitem.Setting{
		Method: Method, Standing: standing, From: c.Data, Fit: c.training(), Eval: nextitem.Ranking{K: c.Eval.K},
		Table:      dipsgnn.Tables(),
		ByPosition: c.Privacy.Inputs > 0,
	})
	if err != nil {
		return nil, err
	}
	w := &work{x: x, cfg: c, examples: len(examplesOf(x.Train, privacy.Unit(c.Privacy.Unit))) - 1}
	if w.examples < 1 {
		return nil, &run.UsageError{Message: "data.name: no user has two training rows",
			Fix: "take other data, or another recipe"}
	}
	if env.Secure() && c.Model.UserInput == userinput.Features && x.Data.Features != nil {
		return nil, run.NoSecure(Task().String()+" with model.user_input=features",
			"the local perturbation of user features compares numbers in floating point; model.user_input=id needs "+
				"none")
	}
	z, err := c.calibrate(w.examples, env.Secure())
	if err != nil {
		return nil, &run.UsageError{Message: fmt.Sprintf("privacy.epsilon: %v", err),
			Fix: "take a larger epsilon, or fewer epochs"}
	}
	w.sgd, _ = c.steps(w.examples, z)
	x.Redraw = w.redraw
	return x, w.prepare(env)
}

// prepare opens the ledger and makes the releases before training.
func (w *work) prepare(env *run.Env) (err error) {
	x, c := w.x, w.cfg
	a := w.declared()
	if err := a.Decide(env, x.Data.Source, w.taken()); err != nil {
		return err
	}
	mark := privacy.Research
	if env.Secure() {
		mark = privacy.Secure
		a.Noise, a.Published = string(mark), []string{experiment.ModelFile, run.LedgerName}
	}
	if w.ledger, err = env.Ledger(mark, a.Declaration()); err != nil {
		return err
	}
	once, err := env.Once()
	if err != nil {
		return err
	}
	if w.cfg.Privacy.Inputs > 0 {
		by := release
		if env.Secure() {
			by = releaseSecretly
			a.Published = append(a.Published, ReleasedFile)
		}
		if w.items, err = by(x, c, once, env); err != nil {
			return err
		}
	}
	features := tensor.Matrix{}
	if c.Model.UserInput == userinput.Features {
		if features, err = dipsgnn.PerturbUsers(x.Data.Features, c.Privacy.Features, once, env); err != nil {
			return err
		}
	}
	w.noise = &noisySteps{Clip: c.Privacy.Clip, Ledger: w.ledger, Passes: x.Fit.Passes(),
		Open: func(dim int) (descent.Run[tensor.Float], error) {
			if env.Secure() {
				return descent.OpenSecret[tensor.Float](w.sgd, dim, w.ledger, tensor.Parallel)
			}
			noise, err := env.Noise("dpsgd", purpose)
			if err != nil {
				return nil, err
			}
			return descent.Open[tensor.Float](w.sgd, dim, w.ledger, noise)
		}}
	x.Extra, x.Account = w.noise, func(*experiment.Fitted) (experiment.Privacy, error) { return w.account(a) }
	x.New = func(q *nextitem.Part) (nextitem.Learner, error) {
		init := x.Uniform(c.Model.Dim)
		network, user := dipsgnn.NewNetwork(x.Items, c.Model, init), userinput.New(features, x.Data.Users,
			c.Model.UserDim, init)
		net := dipsgnn.WithoutNoise(network, user)
		if w.items != nil {
			net = dipsgnn.OnInputs(network, user, w.items.states)
		}
		return &private{Sessions: nextitem.Sessions{Net: net, Part: q, Batch: c.Train.Batch},
			Unit: privacy.Unit(c.Privacy.Unit), Noise: w.noise, Stated: c.stated()}, nil
	}
	return nil
}
