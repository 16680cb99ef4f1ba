package pld

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/allocation"
	"privrec/internal/privacy/accountant/terms"
)

// Allocated implements privacy.Pricer, of a unit in one step. Its pair is that of the true law above, and reached is
// the one below (package allocation).
func (x *pair) Allocated(e privacy.AllocatedGaussian) error {
	if e.Times > 1 {
		return fmt.Errorf("a unit in %d steps of an epoch, on a sample: %w", e.Times, ErrNotCovered)
	}
	above, below, err := allocation.Bounds(e.Sensitivity/e.Sigma, e.Steps)
	if err != nil {
		return fmt.Errorf("%w: %w", err, ErrNotCovered)
	}
	*x = ratioPair(above)
	reached := ratioPair(below)
	x.unreached, x.reached = true, &reached
	return nil
}

// allocated returns the pairs of epochs in which a unit is in several of the steps. If the steps are first dealt to as
// many blocks, of sizes that differ by one at most, and the unit is in one step of each, every choice of steps is as
// probable as before; to know the blocks only helps. So the pairs of the blocks, composed, dominate (Feldman, Shenfeld
// 2025). No data reach them: a lower bound is from an observer who adds up all steps, N(k mu, t) against N(0, t).
func allocated(t terms.Term, e privacy.AllocatedGaussian) (out []term, err error) {
	sums, noSums := gaussian(e.Sensitivity / e.Sigma * math.Sqrt(float64(e.Times)/float64(e.Steps)))
	for _, b := range allocation.Blocks(e.Times, e.Steps) {
		block := e
		block.Times, block.Steps = 1, b.Steps
		var x pair
		if err := block.Law().Price(&x); err != nil {
			return nil, err
		}
		if x.unreached, x.reached = true, &sums; noSums != nil {
			x.reached = nil
		}
		out = append(out, term{x, float64(t.Count) * float64(b.Count)})
	}
	return out, nil
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
