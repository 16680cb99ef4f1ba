package optim

import (
	"math"

	"privrec/internal/autograd"
)

// StepDecay multiplies the learning rate by Factor once in every Every ticks. A tick follows each epoch. With
// TickBefore it precedes the epoch, so the first rate lasts one epoch less, as in the released SR-GNN code and its
// descendants, among them DIPSGNN.
type StepDecay struct {
	Factor     float64
	Every      int // epochs; 0 or less means never
	TickBefore bool
}

// LR returns the learning rate of an epoch, counted from 0. base is the rate of the first one.
func (s StepDecay) LR(base float64, epoch int) float64 {
	ticks := epoch
	if s.TickBefore {
		ticks++
	}
	for n := s.Every; s.Every > 0 && n <= ticks; n += s.Every {
		base *= s.Factor
	}
	return base
}

// LinearRise multiplies the learning rate of another optimiser at step k = 1, 2, ... by k/WarmUp up to step WarmUp,
// and leaves it as it is afterwards (Goyal et al. 2017, section 2.2). k is the inner optimiser's count, so a resumed
// run goes on where it was.
type LinearRise struct {
	Optimizer
	WarmUp int // steps, at least 1
}

// Step implements Optimizer.
func (s LinearRise) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	return s.Optimizer.Step(params, g, lr*s.Factor(s.Steps()+1))
}

// Factor returns the factor of the learning rate of a step, counted from 1.
func (s LinearRise) Factor(step int) float64 { return min(1, float64(step)/float64(s.WarmUp)) }

// InverseRoot multiplies the learning rate of another optimiser at step k = 1, 2, ... by
// min(k^-0.5, k·WarmUp^-1.5). The factor rises to WarmUp^-0.5 and then falls with the root of the step
// (Vaswani et al. 2017, equation 3, without the factor of the model's width). k is the inner
// optimiser's count, so a resumed run goes on where it was.
type InverseRoot struct {
	Optimizer
	WarmUp int // steps, at least 1
}

// Step implements Optimizer.
func (s InverseRoot) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	return s.Optimizer.Step(params, g, lr*s.Factor(s.Steps()+1))
}

// Factor returns the factor of the learning rate of a step, counted from 1.
func (s InverseRoot) Factor(step int) float64 {
	k, w := float64(step), float64(max(1, s.WarmUp))
	return min(1/math.Sqrt(k), k/(w*math.Sqrt(w)))
}
