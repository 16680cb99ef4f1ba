package dipsgnn

import (
	"context"
	"fmt"

	"privrec/internal/optim"
	"privrec/internal/train"
)

// fitted is what training left behind.
type fitted struct {
	*train.Result               // of the training whose parameters are reported
	Selection     *train.Result // of the training that chose the number of epochs, nil without refit
}

// epoch is the reported model's number of epochs, from 1.
func (f *fitted) epoch(selection string) int {
	if selection == SelectValidation && f.Selection == nil {
		return f.Best + 1
	}
	return len(f.Epochs)
}

// fit trains the network and leaves the parameters to report in it. With refit
// a first training on the samples that are not held out chooses the number of
// epochs, and a second one, from the same initial values, takes all samples.
func (x *experiment) fit(ctx context.Context) (*fitted, error) {
	defer x.env.Stage("train")()
	t := x.cfg.train
	if !t.Refit {
		r, err := x.learn(ctx, x.train, t.Epochs, 0, x.env.TrainStore())
		return &fitted{Result: r}, err
	}
	p, err := train.OpenPhases(x.env.TrainStore())
	if err != nil {
		return nil, err
	}
	selection := p.First
	if selection == nil {
		if selection, err = x.learn(ctx, x.train, t.Epochs, 0, p.Store(1)); err != nil {
			return nil, err
		}
		chosen := *selection
		chosen.Resumed = false // about this process: a checkpoint must not tell
		p.First = &chosen
		x.restart()
	}
	epochs := selection.Best + 1
	x.env.Progress.Phase(fmt.Sprintf("train on all samples for %d epochs", epochs))
	r, err := x.learn(ctx, x.refit, epochs, t.Epochs, p.Store(2))
	return &fitted{Result: r, Selection: selection}, err
}

// restart gives every parameter its initial value again.
func (x *experiment) restart() {
	init := x.init()
	for _, p := range x.on(x.train).Params() {
		init(p.Value, p.Name)
	}
}

// learn is one training on the samples of a part; pass is the number of its
// first epoch among all passes over the data.
func (x *experiment) learn(ctx context.Context, q *part, epochs, pass int, store train.Store) (*train.Result, error) {
	m := x.on(q)
	m.pass = pass
	if x.noise != nil {
		var err error
		if m.noise, err = x.noise(q); err != nil {
			return nil, err
		}
	}
	if x.cfg.train.MisalignUsers {
		m.userOf = func(slot int) int32 { return q.samples.User[slot] }
	}
	return train.Run(ctx, m, x.options(q, epochs, pass, store))
}

// options are those of one training.
func (x *experiment) options(q *part, epochs, pass int, store train.Store) train.Options {
	t := x.cfg.train
	o := train.Options{
		Samples: q.samples.Len(), BatchSize: t.Batch, Shuffle: true, Seed: x.env.Seed, Epochs: epochs,
		Optimizer: optim.NewAdam(t.L2), Rate: t.Rate,
		Schedule: optim.StepDecay{Factor: t.DecayBy, Every: t.DecayEvery, TickBefore: t.TickBefore},
		Hooks:    x.env.TrainHooks(), Store: store, SaveEvery: x.env.SaveEvery, SaveSteps: x.env.SaveSteps,
		Extra: x.extra, Tag: x.env.ConfigHash,
	}
	held := x.valid != nil && q == x.train
	every := x.cfg.every && !(t.Refit && held)
	if held || every {
		o.Validate = func(ctx context.Context, epoch int) ([]train.Score, error) {
			return x.validate(ctx, pass+epoch, held, every)
		}
	}
	if !held && t.Refit {
		return o // the number of epochs is settled
	}
	if t.Select == SelectValidation {
		o.Select, o.Primary = train.SelectBest, onValid+primary.String()
	}
	if t.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: t.Patience}
		if t.PatienceTotal {
			o.Stop.Rule = train.StopTotal
		}
		watched := onTest
		if held {
			watched = onValid
		}
		for _, m := range x.metrics() {
			o.Stop.Metrics = append(o.Stop.Metrics, watched+m.String())
		}
	}
	return o
}
