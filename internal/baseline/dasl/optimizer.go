package dasl

import (
	"fmt"
	"strings"

	"privrec/internal/autograd"
	"privrec/internal/optim"
	"privrec/internal/protocol/crossdomain"
)

// twin is Adam. With align set it has separate moments and a separate step count for the alignment: steps on users
// alone would otherwise mostly repeat the last momentum.
type twin struct {
	main  *optim.AdamLazy
	align *optim.Adam // nil: all steps share one state
	of    *Trainer
}

// Optimizer implements crossdomain.Model.
func (t *Trainer) Optimizer() crossdomain.Optimizer { return newTwin(t) }

func newTwin(t *Trainer) *twin {
	o := &twin{main: optim.NewAdamLazy(0), of: t}
	o.main.EpsHat = true // as the released program's library has it
	if t.cfg.AlignAdam == AdamOwn && t.domains == 2 {
		o.align = optim.NewAdam(0)
		o.align.EpsHat = true
	}
	return o
}

// Touch brings rows up to date before they are read.
func (o *twin) Touch(p *autograd.Param, rows []int32) { o.main.Touch(p, rows) }

// Step implements train.Optimizer.
func (o *twin) Step(params []*autograd.Param, g *autograd.Grads, rate float64) error {
	if o.align == nil {
		return o.main.Step(params, g, rate)
	}
	if o.of.aligned {
		return o.align.Step(o.of.model.Aligned(), g, rate)
	}
	own := make([]*autograd.Param, 0, len(params))
	for _, p := range params {
		if !o.of.model.Mapping(p) {
			own = append(own, p)
		}
	}
	return o.main.Step(own, g, rate)
}

// State implements train.Optimizer.
func (o *twin) State() []autograd.NamedTensor {
	all := o.main.State()
	if o.align != nil {
		all = append(all, o.align.State()...)
	}
	return all
}

// Load implements train.Optimizer.
func (o *twin) Load(state []autograd.NamedTensor) error {
	var main, align []autograd.NamedTensor
	for _, t := range state {
		if strings.HasPrefix(t.Name, "adamlazy.") {
			main = append(main, t)
		} else {
			align = append(align, t)
		}
	}
	if err := o.main.Load(main); err != nil {
		return err
	}
	if o.align != nil {
		return o.align.Load(align)
	}
	if len(align) > 0 {
		return fmt.Errorf("state %q, which this run has no use for", align[0].Name)
	}
	return nil
}
