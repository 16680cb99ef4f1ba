package train

import "privrec/internal/autograd"

// Optimizer is what the loop needs of an optimiser; package optim has some.
type Optimizer interface {
	// Step applies one update.
	Step(params []*autograd.Param, g *autograd.Grads, lr float64) error
	// State lists everything that later steps depend on, in a fixed order and under distinct names. Calling
	// it, or Load with its result, must not change any later result.
	State() []autograd.NamedTensor
	// Load is called before the first step of a resumed run. It fails on other names and shapes, with the
	// name.
	Load([]autograd.NamedTensor) error
}

// Schedule gives the learning rate of an epoch.
type Schedule interface {
	// LR returns the learning rate of an epoch, counted from 0, given the base learning rate.
	LR(base float64, epoch int) float64
}

// warming is an optimiser that multiplies the rate of a step, counted from 1, by a factor of its own.
type warming interface {
	Factor(step int) float64
}

// effective returns the learning rate of the last step taken, given that of its epoch.
func (l *loop) effective(lr float64) float64 {
	if o, ok := l.opt.Optimizer.(warming); ok {
		return lr * o.Factor(l.at.Step)
	}
	return lr
}

// lazy is an optimiser that updates rows only when they are read.
type lazy interface {
	// Touch brings the given rows of p up to date; nil means all of them.
	Touch(p *autograd.Param, rows []int32)
}

// prepareLazy lets the tape ask a lazy optimiser for the rows it is about to read.
func (l *loop) prepareLazy() {
	if o, ok := l.opt.Optimizer.(lazy); ok {
		l.tape.BeforeRead = o.Touch
	}
}

// settle brings all parameters up to date. The loop calls it at the end of every epoch, with or without a
// checkpoint, so that it makes no difference between runs.
func (l *loop) settle() {
	if o, ok := l.opt.Optimizer.(lazy); ok {
		for _, p := range l.params {
			o.Touch(p, nil)
		}
	}
}
