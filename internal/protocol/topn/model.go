package topn

import (
	"cmp"

	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/graph"
	"privrec/internal/model/bpr"
	"privrec/internal/train"
)

// Model is trained on BPR's triples. Its loss is that of BPR on inner products ([Experiment.ByBPR]) or its own, and
// [Method.Scorer] scores by its releases. Extra steps, such as those of an adversary, belong in Loss; Experiment.Extra
// keeps their state for checkpoints.
type Model interface {
	experiment.Model
	// Loss returns the loss of a training step (1, 1). It includes all penalties: nothing is added for TrainConfig.L2.
	// Its random numbers, if any, depend on the number of the step.
	Loss(t *autograd.Tape, s Step) (*autograd.Node, error)
	// Release computes the vectors that one of the method's releases ranks by. They are valid until the next call of a
	// method.
	Release(kind string, call Call) (experiment.Vectors, error)
}

// ByBPR returns a model that BPR trains, with the penalty and the scale of the method.
func (x *Experiment) ByBPR(e Encoder) Model {
	return byBPR{e, bpr.Objective{Encoder: e, Scale: cmp.Or(x.Method.Scale, 1), L2: x.Method.Train.L2}}
}

type byBPR struct {
	Encoder
	o bpr.Objective
}

// Loss implements Model.
func (m byBPR) Loss(t *autograd.Tape, s Step) (*autograd.Node, error) {
	return m.o.Of(t, s.Number, s.Triples, s.Count)
}

// Release implements Model.
func (m byBPR) Release(kind string, call Call) (v experiment.Vectors, err error) {
	v.Users, v.Items, err = m.Encoder.Release(kind, call)
	return v, err
}

// Close frees the memory of the encoder.
func (m byBPR) Close() { experiment.Free(m.Encoder) }

// Train sets how the model is made. build is called now or, for a finished run, when a question needs more than the
// vectors that the run wrote.
func (x *Experiment) Train(build func() (Model, error)) (*Experiment, error) {
	x.New = func(*graph.Bipartite) (Model, error) { return build() }
	if x.Finished() {
		return x, nil
	}
	return x, x.Make(x.Graph)
}

// Step holds the triples of a training step, as the sampler drew them.
type Step struct {
	bpr.Triples
	Number int     // from 0, over all epochs
	Count  float64 // the sum over the pairs is divided by it to be their mean, see bpr.Sampler.Count
}

// onTriples is a Model for the training loop.
type onTriples struct {
	Model
	sampler *bpr.Sampler
}

// Loss implements train.Model.
func (m onTriples) Loss(t *autograd.Tape, b train.Batch) (*autograd.Node, error) {
	return m.Model.Loss(t, Step{m.sampler.Draw(b.Step, b.Samples), b.Step, m.sampler.Count(len(b.Samples))})
}

// release computes the vectors that a release ranks by.
func (x *Experiment) release(kind string, call Call) (v experiment.Vectors, err error) {
	v, err = x.Model.Release(kind, call)
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
