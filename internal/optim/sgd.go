package optim

import (
	"fmt"

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

var (
	_ Optimizer = (*Adam)(nil)
	_ Optimizer = (*AdamLazy)(nil)
	_ Optimizer = (*SGD)(nil)
)
