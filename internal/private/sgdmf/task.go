package sgdmf

import (
	"context"
	"fmt"
	"time"

	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/privacy"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Method is the method's name in tables.
const Method = "DP-SGD-MF"

const cite = "ours: DP-SGD (Abadi et al., Deep learning with differential privacy, CCS 2016) over users, on the " +
	"items' vectors of an implicit factorisation (Hu, Koren, Volinsky, ICDM 2008)"

// theorem names the results that the guarantee rests on.
const theorem = "exact composition of one Gaussian release and Poisson-sampled Gaussian steps over users; billboard " +
	"lemma for users' own lists"

// theoremAllocated is theorem for random allocation.
const theoremAllocated = "composition of one Gaussian release and epochs of Gaussian steps to which users are " +
	"randomly allocated; billboard lemma for users' own lists"

// Task returns the task train dp-sgd-mf.
func Task() run.Task {
	return run.Spec[Config]{
		Verb: "train", Name: "dp-sgd-mf", Noisy: true,
		Summary: "matrix factorisation by DP-SGD over users, one finite epsilon for a user", Cite: cite,
		Default: Default, Check: check, Open: open, Answers: true, Secure: true,
	}.Task()
}

// work holds the method and its data, with the noise of its releases.
type work struct {
	*topn.Experiment
	cfg    Config
	budget budget
	ledger *privacy.Ledger
	fresh  bool // the counts were released by this attempt, and are in no checkpoint yet
}

// open loads the data, calibrates the noise, and declares the assumptions of the guarantee.
func open(ctx context.Context, env *run.Env, c Config) (run.Work, error) {
	standing, err := experiment.Stand(c, c.Profile, map[string]Config{Default().Profile: Default()}, nil,
		append(topn.Free(), "privacy.epsilon")...)
	if err != nil {
		return nil, err
	}
	x, err := topn.Load(ctx, env, topn.Method{Name: Method, Standing: standing, Data: c.Data, Eval: c.Eval,
		Shape: topn.Shape{Dim: c.Model.Dim, Epsilon: c.Privacy.Epsilon}})
	if err != nil {
		return x, err
	}
	if c.Privacy.Secure = env.Secure(); c.Privacy.Secure && c.Train.Noise == Deferred {
		return nil, run.NoSecure(Task().String()+" with train.noise=deferred",
			"it draws the noise of several steps at once, and sums of discrete noise have another law; "+
				"train.noise=dense draws each")
	}
	w := &work{Experiment: x, cfg: c}
	x.Redraw = w.redraw
	if x.Finished() {
		return x, nil
	}
	if w.budget, err = newBudget(c, x.Graph.Users, x.Data.Items); err != nil {
		return nil, &run.UsageError{Message: fmt.Sprintf("privacy.epsilon: %v", err),
			Fix: "take a larger epsilon, or fewer steps"}
	}
	step, err := w.budget.event()
	if err != nil {
		return nil, err
	}
	var published []string
	if env.Secure() {
		published = []string{ReleasedFile, run.LedgerName}
	}
	proved := theorem
	if w.budget.sgd.Steps > 0 {
		proved = theoremAllocated
	}
	a := release.NewAccount(c.Privacy, proved, published)
	if err := a.Decide(env, x.Data.Source,
		experiment.Taken{Items: true,
			HowMany: []experiment.Number{experiment.HowManyUsers(c.Data.Public,
				"what sums of gradients are divided by")}}); err != nil {
		return nil, err
	}
	d, err := a.Declares([]release.Sum{w.budget.counts}, privacy.Entry{Purpose: purposeGradients,
		Count: w.budget.sgd.Count(w.budget.steps), Event: step})
	if err != nil {
		return nil, err
	}
	if w.ledger, err = env.Ledger(c.Privacy.Marks(), d); err != nil {
		return nil, err
	}
	x.Compute = w.make
	a.Of(&x.Core, func() error { return a.Compose(w.ledger) })
	return w, nil
}

// noise returns the stream of a purpose's noise, and of the samples of users in steps.
func (w *work) noise(purpose string) (rng.Stream, error) { return w.Env.Noise("sgdmf", purpose) }

// stream returns the stream of a purpose that needs no secret.
func (w *work) stream(purpose string) rng.Stream { return w.Env.Draws("sgdmf", purpose) }

// begin obtains the released counts and prepares the steps.
func (w *work) begin() (*training, error) {
	counts, err := w.obtain()
	if err != nil {
		return nil, err
	}
	return newTraining(w.cfg, w.budget, w.Data.UserIDs, w.Data.Train, counts, w.ledger, w.stream, w.noise)
}

// obtain returns the released counts. Seeded noise gives the same counts in every attempt. Secure noise is drawn once:
// a resumed attempt reads the counts from the checkpoint, which is written before the first step.
func (w *work) obtain() ([]float64, error) {
	once, err := w.Env.Once()
	if err != nil {
		return nil, err
	}
	if w.Env.Secure() {
		c, ok, err := w.Env.LoadCheckpoint()
		switch {
		case err != nil:
			return nil, err
		case ok:
			return countsOf(c, w.Data.Items)
		case w.Env.ReleasedForGood():
			return nil, run.WithHint(
				fmt.Errorf("the run in %s was stopped between its first release and its first checkpoint: other "+
					"counts would be a second release", w.Env.Dir), "train again with another --out")
		}
	}
	draw := release.Draw{Items: w.cfg.Privacy.PerCount(), Stream: w.stream("contributions to counts")}
	r := release.Releaser{Ledger: once, Noise: w.noise, Secure: w.Env.Secure(), Releases: 2}
	counts, err := r.Counts(w.budget.counts, draw.All(w.Data.UserIDs, w.Data.Train), w.Data.Items)
	if err != nil {
		return nil, err
	}
	w.fresh = true
	return counts, once.Flush("before training")
}

// make trains the items' vectors and computes every user's vector.
func (w *work) make(ctx context.Context) (*topn.Made, error) {
	defer w.Env.Stage("train")()
	t, err := w.begin()
	if err != nil {
		return nil, err
	}
	if t.secure && w.fresh {
		if err := t.keep(w.Env); err != nil {
			return nil, err
		}
	}
	p := w.Env.Progress
	p.Begin("step", w.cfg.Train.Steps)
	if err := t.run(ctx, w.Env, p.Add); err != nil {
		return nil, err
	}
	// No loss is shown: it would be a statistic of the rows that nothing covers.
	p.End(fmt.Sprintf("%d steps", w.cfg.Train.Steps))
	if t.secure {
		if err := t.publish(w.Env); err != nil {
			return nil, err
		}
	}
	users, items := t.f.vectors(w.Data.Train, t.counts)
	return &topn.Made{Scorer: &bpr.Ranking{Users: users, Goods: items}, Steps: w.cfg.Train.Steps,
		Vectors: &experiment.Vectors{Users: users, Items: items}}, nil
}

// Forecast implements run.Forecaster. It makes a few steps, ranks some users, and extrapolates.
func (w *work) Forecast(ctx context.Context) (e run.Forecast, err error) {
	opening := w.Env.Opening()
	t, err := w.begin()
	if err != nil {
		return e, err
	}
	made := min(t.of, topn.ForecastSteps)
	t.of = made
	start := time.Now()
	if err := t.run(ctx, nil, func(int) {}); err != nil {
		return e, err
	}
	step := time.Since(start).Seconds() / float64(made)
	users, items := t.f.vectors(w.Data.Train, t.counts)
	defer tensor.Free(users)
	defer tensor.Free(items)
	return w.Estimate(ctx, experiment.Rehearsed{Opening: opening, Steps: []float64{step}, Of: w.cfg.Train.Steps,
		Text: fmt.Sprintf("%d steps over users", w.cfg.Train.Steps)}, users, items)
}
