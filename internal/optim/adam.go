package optim

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Adam is algorithm 1 of Kingma & Ba 2015 with coupled weight decay, which adds L2·w to the gradient before the
// moments, as torch.optim.Adam's weight_decay does. At step k = 1, 2, ...:
//
//	g' = g + L2·w
//	m = Beta1·m + (1-Beta1)·g',  v = Beta2·v + (1-Beta2)·g'²
//	w -= lr · m/(1-Beta1^k) / (sqrt(v/(1-Beta2^k)) + Eps)
type Adam struct {
	Beta1, Beta2 float64 // decay of the moments, in [0, 1)
	Eps          float64 // added to the root of the second moment, > 0
	L2           float64 // coupled weight decay, on every parameter
	// EpsHat adds Eps to the root of the second moment before its bias is corrected, in the
	// form at the end of section 2 of the paper, as TensorFlow does.
	EpsHat bool

	memory
	coef tensor.AdamCoef
	step func(u *unit)
}

// NewAdam returns Adam with betas 0.9 and 0.999, eps 1e-8 and the given weight decay.
func NewAdam(l2 float64) *Adam { return &Adam{Beta1: 0.9, Beta2: 0.999, Eps: 1e-8, L2: l2} }

func (a *Adam) init() error {
	if !(a.Beta1 >= 0 && a.Beta1 < 1 && a.Beta2 >= 0 && a.Beta2 < 1 && a.Eps > 0 && a.L2 >= 0) {
		return fmt.Errorf("optim: adam with betas %v and %v, eps %v, l2 %v", a.Beta1, a.Beta2, a.Eps, a.L2)
	}
	a.prefix, a.pair = "adam", true
	return nil
}

// Step implements Optimizer.
func (a *Adam) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if err := a.init(); err != nil {
		return err
	}
	if err := a.check(params, g, lr); err != nil {
		return err
	}
	a.steps++
	a.coef = tensor.NewAdamCoef(lr, a.Beta1, a.Beta2, epsAt(a.Eps, a.Beta2, a.steps, a.EpsHat), a.L2, a.steps)
	if a.step == nil {
		a.step = func(u *unit) {
			u.spans(func(w, g, m, v []tensor.Float) { tensor.AdamStep(w, g, m, v, a.coef) })
		}
	}
	a.each(params, g, a.step)
	return nil
}

// epsAt returns the number to add to the root of the second moment after its bias was corrected.
func epsAt(eps, beta2 float64, step int, hat bool) float64 {
	if hat {
		return eps / math.Sqrt(1-math.Pow(beta2, float64(step)))
	}
	return eps
}

// State implements Optimizer.
func (a *Adam) State() []NamedTensor {
	a.prefix, a.pair = "adam", true
	return a.memory.State()
}

// Load implements Optimizer.
func (a *Adam) Load(state []NamedTensor) error {
	if err := a.init(); err != nil {
		return err
	}
	return a.memory.Load(state)
}

// SGD is stochastic gradient descent: u = Momentum·u + g + L2·w, w -= lr·u.
type SGD struct {
	Momentum float64 // in [0, 1)
	L2       float64 // coupled weight decay

	memory
}

// Step implements Optimizer.
func (s *SGD) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if !(s.Momentum >= 0 && s.Momentum < 1 && s.L2 >= 0) {
		return fmt.Errorf("optim: sgd with momentum %v, l2 %v", s.Momentum, s.L2)
	}
	s.prefix = "sgd"
	if err := s.check(params, g, lr); err != nil {
		return err
	}
	s.steps++
	s.each(params, g, func(u *unit) {
		u.spans(func(w, g, a, _ []tensor.Float) {
			tensor.ScaleAdd(1, g, tensor.Float(s.Momentum), a)
			if s.L2 > 0 {
				tensor.Axpy(tensor.Float(s.L2), w, a)
			}
			tensor.Axpy(-tensor.Float(lr), a, w)
		})
	})
	return nil
}

// State implements Optimizer.
func (s *SGD) State() []NamedTensor {
	s.prefix = "sgd"
	return s.memory.State()
}

// Load implements Optimizer.
func (s *SGD) Load(state []NamedTensor) error {
	s.prefix = "sgd"
	return s.memory.Load(state)
}

var (
	_ Optimizer = (*Adam)(nil)
	_ Optimizer = (*AdamLazy)(nil)
	_ Optimizer = (*SGD)(nil)
)
