package nextitem

import (
	"privrec/internal/autograd"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/privacy"
	"privrec/internal/report"
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

// Account says what a run protects. It is written to privacy.json and shown in the result.
type Account interface {
	Show(d *report.Document)
}

// OpenSelection names what stays without noise where held-out rows, in the clear, choose the
// epoch or end the training.
var OpenSelection = experiment.NotCovered("selection", "rows held out of training decide, in the clear, when it ends or which epoch is reported")

// Unprotect declares that the method protects nothing. It reads the sequences in the clear,
// and everything listed in more.
func (x *Experiment) Unprotect(more ...experiment.Open) error {
	a := &unprotected{experiment.Unprotected("sequences", "the model trains on and recommends from the sequences in the clear; its parameters tell of them too")}
	a.Unbounded = append(a.Unbounded, more...)
	if x.Fit.Selected() {
		a.Unbounded = append(a.Unbounded, OpenSelection)
	}
	x.Account = func(*experiment.Fitted) (Account, error) { return a, nil }
	_, err := x.Env.Ledger(privacy.Research, a.Declaration())
	return err
}

// unprotected accounts for a model without any privacy.
type unprotected struct{ experiment.Account }

// Show implements Account: it lists what has no noise.
func (a *unprotected) Show(d *report.Document) { a.ShowOpen(d) }
