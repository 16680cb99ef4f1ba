package exposure

import (
	"context"
	"math"
	"slices"

	attack "privrec/internal/attack/exposure"
	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
	"privrec/internal/train"
)

// validLoss names the score that chooses the epoch and ends the training.
const validLoss = "valid loss"

// fit trains a new attack on pairs and leaves the chosen epoch's parameters in it.
func (x *attackRun) fit(ctx context.Context) (*attack.Model, *train.Result, error) {
	defer x.Env.Stage("train")()
	m, err := x.newModel()
	if err != nil {
		return nil, nil, err
	}
	r, err := x.teach(ctx, m, x.Env.TrainStore())
	if err != nil {
		return nil, nil, err
	}
	return m, r, nil
}

// selected reports whether validation pairs decide anything about the attack.
func (x *attackRun) selected() bool {
	c := x.cfg.Train
	return c.Epochs > 0 && x.Valid.Len() > 0 && (c.Select == selectValidation || c.Patience > 0)
}

// teach trains an attack; without epochs it keeps its random weights.
func (x *attackRun) teach(ctx context.Context, m *attack.Model, store train.Store) (*train.Result, error) {
	if x.cfg.Train.Epochs == 0 {
		return &train.Result{Epochs: []train.EpochRecord{}, Best: -1}, ctx.Err()
	}
	return train.Run(ctx, x.cfg.Train.model(x, m), x.options(m, store))
}

// newModel returns a new attack model for the set.
func (x *attackRun) newModel() (*attack.Model, error) {
	return attack.New(x.cfg.Attack, x.Set.Vocab, x.Train.T, x.Train.L, x.Env.Seed)
}

// objective is an attack's loss for the training loop.
type objective struct{ *attack.Objective }

// Loss implements train.Model.
func (o objective) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	return o.Objective.Loss(t, b.Step, b.Samples)
}

// model returns the objective for the training loop: on pairs, or on batches that were made once.
func (c TrainConfig) model(x *attackRun, m *attack.Model) train.Model {
	if c.Batches == batchesEach {
		return objective{m.On(x.Train)}
	}
	s := x.Env.Seed.Stream("exposure.batches")
	return fixed{objective{m.On(x.Train)}, s.Perm(x.Train.Len()), c.Batch}
}

// options returns the options of the attack's training. Validation is the mean loss over the validation pairs, without
// dropout.
func (x *attackRun) options(m *attack.Model, store train.Store) train.Options {
	c := x.cfg.Train
	o := train.Options{
		Samples: x.Train.Len(), BatchSize: c.Batch, Shuffle: true, Seed: x.Env.Seed, Epochs: c.Epochs,
		Optimizer: c.Optimizer(), Rate: c.Rate,
		Hooks: x.Env.TrainHooks(), Store: store, SaveEvery: x.Env.Save.Every, SaveSteps: x.Env.Save.Steps,
		Tag: x.Env.ConfigHash,
	}
	if c.Batches == batchesOnce {
		o.Samples, o.BatchSize = (x.Train.Len()+c.Batch-1)/c.Batch, 1
	}
	if x.Valid.Len() == 0 {
		return o
	}
	o.Validate = func(ctx context.Context, _ int) ([]train.Score, error) {
		loss, err := m.ValidationLoss(ctx, x.Valid, c.Batch)
		return []train.Score{{Name: validLoss, Value: loss, Lower: true}}, err
	}
	if c.Select == selectValidation {
		o.Select, o.Primary = train.SelectBest, validLoss
	}
	if c.Patience > 0 {
		o.Stop = train.Stop{Rule: train.StopReset, Patience: c.Patience, Metrics: []string{validLoss}}
	}
	return o
}

// fixed trains on batches that are made once: a sample is a batch, and epochs only change their order.
type fixed struct {
	train.Model
	rows  []int32 // of the pairs, in the order in which batches are cut
	batch int
}

// Loss implements train.Model.
func (f fixed) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	lo := int(b.Samples[0]) * f.batch
	b.Samples = f.rows[lo:min(lo+f.batch, len(f.rows))]
	return f.Model.Loss(t, b)
}

// sample returns a random share of the pairs, ascending; at least one.
func (x *attackRun) sample(p *slate.Pairs) *slate.Pairs {
	share := x.cfg.Train.Sample
	if share == 1 || p.Len() == 0 {
		return p
	}
	s := x.Env.Seed.Stream("exposure.sample")
	rows := s.Perm(p.Len())[:max(1, int(math.Round(share*float64(p.Len()))))]
	slices.Sort(rows)
	return p.Select(rows)
}
