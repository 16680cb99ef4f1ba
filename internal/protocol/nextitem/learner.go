package nextitem

import (
	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/train"
)

// Learner is a model as the protocol trains it and ranks by it. It is made for the samples
// that it learns. It is not safe for concurrent use.
type Learner interface {
	// Params returns all parameters, in a fixed order.
	Params() []*autograd.Param
	// Count returns the number of samples that a training loop has over a part.
	Count(p *Part) int
	// Lessons returns what a training loop takes. first is the pass of its first epoch.
	Lessons(first Pass) (Lessons, error)
	// Scorer returns a scorer of all items for the samples of a part, for one pass over them.
	// noisy asks for the noise that a model with noisy messages adds in training.
	Scorer(p *Part, pass Pass, noisy bool) (eval.Scorer, error)
}

// Lessons are the samples of a training loop, with the loss over them. The learner defines
// them: they differ from the samples of a part where a model learns from whole sequences or
// from pairs.
type Lessons struct {
	Model   train.Model
	Samples int     // indices 0..Samples-1; ignored where List is set
	List    []int32 // the samples' indices
	InOrder bool    // not shuffled every epoch
}
