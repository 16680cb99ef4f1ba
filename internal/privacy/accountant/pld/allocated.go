package pld

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/allocation"
)

// Allocated implements privacy.Pricer. Its pair dominates a unit in one step; it is that of the true law above, and
// reached is the one below (package allocation).
//
// A unit in k of t steps is in one step of each of k blocks of t/k steps, if the steps of an epoch are first dealt to
// blocks at random. To know the blocks only helps. So k such pairs, composed, dominate (Feldman, Shenfeld 2025, theorem
// 4.1 with its remark on steps that are left over). For k above 1 that pair is reached by none: a lower bound is from an
// observer who adds up all steps, N(k mu, t) against N(0, t).
func (x *pair) Allocated(e privacy.AllocatedGaussian) error {
	mu := e.Sensitivity / e.Sigma
	if e.Times == 1 {
		above, below, err := allocation.Bounds(mu, e.Steps)
		if err != nil {
			return fmt.Errorf("%w: %w", err, ErrNotCovered)
		}
		*x = ratioPair(above)
		reached := ratioPair(below)
		x.unreached, x.reached = true, &reached
		return nil
	}
	block := e
	block.Times, block.Steps = 1, e.Steps/e.Times
	err := error(nil)
	if block.Steps == 1 {
		*x, err = gaussian(mu)
	} else {
		err = x.Allocated(block)
	}
	if err != nil {
		return err
	}
	sums, err := gaussian(mu * math.Sqrt(float64(e.Times)/float64(e.Steps)))
	x.unreached, x.reached, x.each = true, &sums, float64(e.Times)
	if err != nil {
		x.reached = nil
	}
	return nil
}

// ratioPair returns the pair of a law of the likelihood ratio.
func ratioPair(l allocation.Law) pair {
	x := pair{cutP: l.MissingWith, cutQ: l.MissingWithout, rho: l.Rounding, max: math.Inf(1), min: math.Inf(-1)}
	for i, r := range l.Ratio {
		x.atoms = append(x.atoms, atom{math.Log(r), l.Mass[i] * r, l.Mass[i]})
	}
	x.pin = x.atoms[len(x.atoms)-1].loss
	return x
}
