package eval

import (
	"privrec/internal/autograd"
	"privrec/internal/tensor"
)

// Same is a Scorer that gives all samples the same scores of items, such as their popularity.
type Same []tensor.Float

// Items implements Scorer.
func (s Same) Items() int { return len(s) }

// Score implements Scorer.
func (s Same) Score(_ *autograd.Tape, samples []int32, scores tensor.Matrix) error {
	for i := range samples {
		copy(tensor.Row(scores, i), s)
	}
	return nil
}
