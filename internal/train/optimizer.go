package train

import "privrec/internal/autograd"

// Optimizer is what the loop asks of an optimiser; package optim has them. Step applies one update. State
// lists all that influences later steps, in a fixed order and under distinct names; calling it, or Load
// with what it returned, must not change any later result. Load is called before the first step of a
// resumed run, and refuses other names and shapes, by name.
type Optimizer interface {
	Step(params []*autograd.Param, g *autograd.Grads, lr float64) error
	State() []autograd.NamedTensor
	Load([]autograd.NamedTensor) error
}

// Schedule turns the base learning rate into that of an epoch, counted from 0.
type Schedule interface {
	LR(base float64, epoch int) float64
}

// warming is an optimiser that multiplies the rate of a step, counted from 1, by a factor of its own.
type warming interface {
	Factor(step int) float64
}

// effective is the learning rate of the last step taken, given that of its epoch.
func (l *loop) effective(lr float64) float64 {
	if o, ok := l.opt.Optimizer.(warming); ok {
		return lr * o.Factor(l.at.Step)
	}
	return lr
}

// lazy is an optimiser that leaves rows behind and catches up when they are read.
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

// settle brings all parameters up to date. It happens at the end of every epoch, whether or not a
// checkpoint is written, so that it cannot make a difference between runs.
func (l *loop) settle() {
	if o, ok := l.opt.Optimizer.(lazy); ok {
		for _, p := range l.params {
			o.Touch(p, nil)
		}
	}
}
