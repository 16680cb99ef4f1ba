package topn

import (
	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/train"
)

// Own is a model with its own loss over BPR's triples instead of BPR on inner products. [Method.Scorer] scores by its
// releases. Extra steps, such as those of an adversary, belong in Loss; Experiment.Extra keeps their state for
// checkpoints.
type Own interface {
	// Params lists the parameters in a fixed order.
	Params() []*autograd.Param
	// Loss returns the loss of a training step (1, 1). It includes all penalties: nothing is added for TrainConfig.L2.
	// Its random numbers, if any, depend on the number of the step.
	Loss(t *autograd.Tape, s Step) (*autograd.Node, error)
	// Release computes the vectors that one of the method's releases ranks by. They are valid until the next call of a
	// method.
	Release(kind string, call Call) (experiment.Vectors, error)
}

// Step holds the triples of a training step, as the sampler drew them.
type Step struct {
	bpr.Triples
	Number int     // from 0, over all epochs
	Count  float64 // the sum over the pairs is divided by it to be their mean, see bpr.Sampler.Count
}

// ownLoss is an Own for the training loop.
type ownLoss struct {
	Own
	sampler *bpr.Sampler
}

// Loss implements train.Model.
func (m ownLoss) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	return m.Own.Loss(t, Step{m.sampler.Draw(b.Step, b.Samples), b.Step, m.sampler.Count(len(b.Samples))})
}

// release computes the vectors that a release ranks by.
func (x *Experiment) release(kind string, call Call) (v experiment.Vectors, err error) {
	if x.Own != nil {
		v, err = x.Own.Release(kind, call)
	} else {
		v.Users, v.Items, err = x.Model.Release(kind, call)
	}
	v.Release = kind
	return v, err
}

// scorer returns the scorer of a release: the method's own scores, or the inner products of vectors, or their sigmoid
// if the setting says so.
func (x *Experiment) scorer(v experiment.Vectors) (eval.Scorer, error) {
	switch {
	case x.Method.Scorer != nil:
		return x.Method.Scorer(v)
	case x.Method.Eval.Sigmoid:
		return squashed{inner(v.Users, v.Items)}, nil
	}
	return inner(v.Users, v.Items), nil
}
