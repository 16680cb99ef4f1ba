package optim

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

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

// Adagrad is Duchi, Hazan & Singer 2011 in its diagonal form: with g' = g + L2·w, s += g'²,
// w -= lr·g'/(sqrt(s) + Eps).
type Adagrad struct {
	Eps float64 // 0 means 1e-10
	L2  float64 // coupled weight decay

	memory
}

// Step implements Optimizer.
func (a *Adagrad) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if !(a.Eps >= 0 && a.L2 >= 0) {
		return fmt.Errorf("optim: adagrad with eps %v, l2 %v", a.Eps, a.L2)
	}
	a.prefix = "adagrad"
	if err := a.check(params, g, lr); err != nil {
		return err
	}
	eps := a.Eps
	if eps == 0 {
		eps = 1e-10
	}
	a.steps++
	a.each(params, g, func(u *unit) {
		u.spans(func(w, g, s, _ []tensor.Float) {
			for i := range w {
				d := float64(g[i]) + a.L2*float64(w[i])
				s[i] += tensor.Float(d * d)
				if d != 0 {
					w[i] -= tensor.Float(lr * d / (math.Sqrt(float64(s[i])) + eps))
				}
			}
		})
	})
	return nil
}

// State implements Optimizer.
func (a *Adagrad) State() []NamedTensor {
	a.prefix = "adagrad"
	return a.memory.State()
}

// Load implements Optimizer.
func (a *Adagrad) Load(state []NamedTensor) error {
	a.prefix = "adagrad"
	return a.memory.Load(state)
}

var (
	_ Optimizer = (*Adam)(nil)
	_ Optimizer = (*AdamLazy)(nil)
	_ Optimizer = (*SGD)(nil)
	_ Optimizer = (*Adagrad)(nil)
)
