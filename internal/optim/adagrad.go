package optim

import (
	"fmt"
	"math"

	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Adagrad is the diagonal form of the optimiser of Duchi, Hazan & Singer 2011, with the momentum of GRU4Rec's published
// program and its descendants:
//
//	s += g²,  v = Momentum·v - lr·g/sqrt(s + Eps),  w += v
//
// A row without a gradient stays as it is, with s and v, as in those programs. So the cost of a step depends only on
// the rows that a batch reads.
type Adagrad struct {
	Momentum float64 // in [0, 1)
	Eps      float64 // added to s inside the root, > 0

	memory
}

// NewAdagrad returns Adagrad with eps 1e-6, as the published programs have it.
func NewAdagrad(momentum float64) *Adagrad { return &Adagrad{Momentum: momentum, Eps: 1e-6} }

func (a *Adagrad) init() error {
	if !(a.Momentum >= 0 && a.Momentum < 1 && a.Eps > 0) {
		return fmt.Errorf("optim: adagrad with momentum %v, eps %v", a.Momentum, a.Eps)
	}
	a.prefix, a.pair = "adagrad", a.Momentum > 0
	return nil
}

// Step implements Optimizer.
func (a *Adagrad) Step(params []*autograd.Param, g *autograd.Grads, lr float64) error {
	if err := a.init(); err != nil {
		return err
	}
	if err := a.check(params, g, lr); err != nil {
		return err
	}
	a.steps++
	a.each(params, g, func(u *unit) {
		u.touched(func(w, g, s, v []tensor.Float) {
			for i, x := range g {
				d := float64(x)
				s[i] += tensor.Float(d * d)
				by := -lr * d / math.Sqrt(float64(s[i])+a.Eps)
				if a.pair {
					by += a.Momentum * float64(v[i])
					v[i] = tensor.Float(by)
				}
				w[i] += tensor.Float(by)
			}
		})
	})
	return nil
}

// touched calls f with every row of the unit that has a gradient, and with its state.
func (u *unit) touched(f func(w, g, a, b []tensor.Float)) {
	row := func(r int, g []tensor.Float) {
		var b []tensor.Float
		if u.slot.b.Data != nil {
			b = tensor.Row(u.slot.b, r)
		}
		f(tensor.Row(u.slot.p.Value, r), g, tensor.Row(u.slot.a, r), b)
	}
	if u.g.Data != nil {
		for r := u.lo; r < u.hi; r++ {
			row(r, tensor.Row(u.g, r))
		}
		return
	}
	for k, r := range u.rows {
		row(int(r), tensor.Row(u.vals, k))
	}
}

// State implements Optimizer.
func (a *Adagrad) State() []NamedTensor {
	a.prefix, a.pair = "adagrad", a.Momentum > 0
	return a.memory.State()
}

// Load implements Optimizer.
func (a *Adagrad) Load(state []NamedTensor) error {
	if err := a.init(); err != nil {
		return err
	}
	return a.memory.Load(state)
}

var _ Optimizer = (*Adagrad)(nil)
