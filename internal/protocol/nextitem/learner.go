package nextitem

import (
	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/train"
)

// Learner is a model as the protocol trains it and ranks by it. It was made for the samples
// that it learns, and serves one goroutine.
type Learner interface {
	// Params lists all parameters, in a fixed order.
	Params() []*autograd.Param
	// Count is the number of samples that a training loop has over a part.
	Count(p *Part) int
	// Lessons is what a training loop takes. first is the pass of its first epoch.
	Lessons(first Pass) (Lessons, error)
	// Scorer scores all items for the samples of a part, in one pass over them. noisy asks
	// for the noise that a model of messages adds in training.
	Scorer(p *Part, pass Pass, noisy bool) (eval.Scorer, error)
}

// Lessons are the samples of a training loop, and the loss over them. They are the learner's
// own: not those of a part, where a model learns from whole sequences or from pairs.
type Lessons struct {
	Model   train.Model
	Samples int     // indices 0..Samples-1; ignored where List is set
	List    []int32 // the samples' indices
	InOrder bool    // not shuffled every epoch
}
