package exposure

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/dataset"
	"privrec/internal/dataset/slate"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/protocol/slates"
	"privrec/internal/run"
	"privrec/internal/train"
)

// attackRun holds one attack on one set of pairs.
type attackRun struct {
	slates.Bench
	cfg        Config
	standing   experiment.Standing
	protection *protection // nil where slates are as they were

	ledger *privacy.Ledger // of the run
}

// loadPairs reads a data set or the files of a model, or asks a finished run of one of the tasks.
func (c Config) loadPairs(ctx context.Context, env *run.Env, tasks []run.Task) (*slate.Set, error) {
	var set *slate.Set
	var err error
	switch {
	case c.Files.Given():
		set, err = attackFiles(ctx, env, c)
	case c.On.Run != "":
		set, err = attackOn(ctx, tasks, c, env.Seed)
	default:
		set, err = slate.Load(ctx, c.Data.Name, env.View(), c.Data.options())
	}
	if err != nil {
		return nil, err
	}
	if slices.Contains(c.Eval.Vocabulary, attack.VocabularyLogged) && set.Logged == nil {
		return nil, &run.UsageError{Message: fmt.Sprintf(
			"eval.vocabulary: what users of %s were shown in all is not known", set.Name), Fix: "leave " +
			attack.VocabularyLogged + " out"}
	}
	if most := slices.Max(c.Eval.K); most > set.Vocab-int(slate.FirstItem) {
		return nil, &run.UsageError{Message: fmt.Sprintf("eval.k: cutoff %d is more than the %d items of %s", most,
			set.Vocab-int(slate.FirstItem), set.Name), Fix: "leave that cutoff out"}
	}
	for _, part := range []struct {
		name string
		p    *slate.Pairs
		need bool
	}{{"training", set.Train, true},
		{"validation", set.Valid, c.Train.Select == selectValidation || c.Train.Patience > 0},
		{"test", set.Test, true}} {
		if part.need && part.p.Len() == 0 {
			return nil, &dataset.Error{File: set.Name, Msg: fmt.Sprintf("the split leaves no %s pairs", part.name)}
		}
	}
	return c.Eval.Sampled(set, env.Seed)
}

// prepare returns the attack on a set, with a sample of the training pairs if the setting says so.
func prepare(env *run.Env, c Config, set *slate.Set) (x *attackRun, err error) {
	x = &attackRun{cfg: c, Bench: slates.Bench{
		Env: env, Method: c.method(), Set: set, Eval: c.Eval, Train: set.Train, Valid: set.Valid, Test: set.Test,
		Whole:         set.Train,
		DropsRepeated: c.dropsRepeated(), StopAtEnd: c.Attack.StopAtEnd,
	}}
	if x.standing, err = c.standing(); err != nil {
		return nil, err
	}
	x.Train = x.sample(x.Train)
	return x, nil
}

// method names the attack.
func (c Config) method() string {
	return fmt.Sprintf("%s encoder, %s decoder", c.Attack.Encoder, c.Attack.Decoder)
}

const cite = "Xin et al., On the User Behavior Leakage from Recommender System Exposure, ACM TOIS 2023, arXiv " +
	"2210.08435"

// Task returns the attack on slates of a data set, or on the recommendations of finished runs of others.
func Task(others []run.Task) run.Task {
	return run.Spec[Config]{
		Verb: "attack", Name: "exposure", Cite: cite,
		Noisy: true, Summary: "guess what users clicked from what they are shown next",
		Flags: []run.Flag{
			{Name: "on", Key: "on.run", Usage: "attack the recommendations of the finished run in this directory"},
			{Name: "recs", Key: "files.recs",
				Usage: "attack the lists in this file, of a model that another program trained"},
			{Name: "train", Key: "files.train",
				Usage: "with --recs, the file of rows that the model was trained on, in the order of their times"},
		},
		Default: Default, Check: Check,
		Open: func(ctx context.Context, env *run.Env, c Config) (run.Work, error) { return open(ctx, env, c, others) },
	}.Task()
}

// open loads the pairs.
func open(ctx context.Context, env *run.Env, c Config, others []run.Task) (*attackRun, error) {
	defer env.Stage("load")()
	there := c
	there.On.Run = c.On.in(env.Dir)
	set, err := there.loadPairs(ctx, env, others)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(env.Private(set.Rows()), env.RecordData(set.Name, set.Hash)); err != nil {
		return nil, err
	}
	return prepare(env, c, set)
}

// Run implements run.Work: it protects slates, trains the attack until the validation loss rises, ranks the test pairs
// under every protocol beside the floors, and accounts.
func (x *attackRun) Run(ctx context.Context) error {
	a := x.cfg.account(sharesOf(x.Set, x.released()))
	if x.selected() {
		a.Leave("selection", "the loss on the validation pairs decides, in the clear, when training ends or which "+
			"epoch is reported")
	}
	var err error
	if x.ledger, err = x.Env.Ledger(privacy.Research, a.Declaration()); err != nil {
		return err
	}
	once, err := x.Env.Once()
	if err != nil {
		return err
	}
	if err := a.hold(once); err != nil {
		return err
	}
	if err := x.protect(ctx, once); err != nil {
		return run.Interrupted(ctx, err)
	}
	if err := once.Flush("before training"); err != nil {
		return err
	}
	m, fitted, err := x.fit(ctx)
	if err != nil {
		return err
	}
	defer experiment.Free(m)
	o, err := x.measure(ctx, m, fitted)
	if err != nil {
		return err
	}
	return x.write(o, a)
}

// Limits of a forecast's measurements, since a user waits for it.
const (
	forecastTime  = 3 * time.Second
	forecastPairs = 256
)

// Forecast implements run.Forecaster: it trains a few steps on the run's own pairs, computes the loss of some
// validation pairs, ranks some test pairs, and extrapolates. Slates are unprotected, since protecting them is quick.
func (x *attackRun) Forecast(ctx context.Context) (f run.Forecast, err error) {
	c := x.cfg
	m, err := x.newModel()
	if err != nil {
		return f, err
	}
	defer experiment.Free(m)
	opening := x.Env.Opening()
	seconds, err := timeSteps(ctx, objective{m.On(x.Train)}, c.Train.Optimizer(), c.Train.Rate,
		firstRows(x.Train.Len()), c.Train.Batch)
	if err != nil {
		return f, err
	}
	perValid, err := perPair(x.Valid.Len(), func(rows []int32) error {
		_, err := m.ValidationLoss(ctx, x.Valid.Select(rows), c.Train.Batch)
		return err
	})
	if err != nil {
		return f, err
	}
	perTest, err := perPair(x.Test.Len(), func(rows []int32) error {
		return m.Rank(ctx, x.Test, rows, slices.Max(c.Eval.K), nil, func(int32, [][]int32) error { return nil })
	})
	if err != nil {
		return f, err
	}
	perEpoch := (x.Train.Len() + c.Train.Batch - 1) / c.Train.Batch
	steps := c.Train.Epochs * perEpoch
	validated := c.Train.Epochs * x.Valid.Len()
	ranked := x.Test.Len() * len(c.Eval.Vocabulary)
	return experiment.Rehearsed{
		Opening: opening, Steps: seconds, Of: steps, Ranking: float64(validated)*perValid + float64(ranked)*perTest,
		Text: fmt.Sprintf("%d epochs of %d, the loss of %d validation pairs an epoch (%.3f ms each) and %d test "+
			"pairs ranked (%.3f ms each)",
			c.Train.Epochs, perEpoch, x.Valid.Len(), 1000*perValid, ranked, 1000*perTest),
	}.Estimate(), nil
}

// perPair returns the seconds of work for one of n pairs, measured on some.
func perPair(n int, work func(rows []int32) error) (float64, error) {
	if n == 0 {
		return 0, nil
	}
	rows := firstRows(min(n, forecastPairs))
	start := time.Now()
	err := work(rows)
	return time.Since(start).Seconds() / float64(len(rows)), err
}

// firstRows returns the rows 0 to n-1.
func firstRows(n int) []int32 {
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
}

// timeSteps returns the times of training steps on consecutive rows, which start over after the last.
func timeSteps(ctx context.Context, m train.Model, o train.Optimizer, rate float64, rows []int32,
	batch int) ([]float64, error) {
	samples := make([]int32, min(batch, len(rows)))
	return run.TimeSteps(ctx, m, run.Rehearsal{
		Optimizer: o, Rate: rate, Warm: 1, Fewest: 1, Steps: 20, Most: forecastTime,
		Batch: func(i int) train.Batch {
			for k := range samples {
				samples[k] = rows[(i*len(samples)+k)%len(rows)]
			}
			return train.Batch{Step: i, Samples: samples}
		},
	})
}
