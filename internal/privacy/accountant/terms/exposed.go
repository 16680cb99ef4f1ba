package terms

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// ErrDelta is returned for a delta that gives the guarantee without any noise: the sampled data could be published in
// full, and the least noise would be none.
var ErrDelta = errors.New("delta alone gives the guarantee, without any noise")

// Exposed returns the probability 1 - (1-rate)^releases that one unit is in any of a number of releases, each on its
// own sample, Poisson or of fixed size. Without sampling it is 1.
func Exposed(rate float64, releases int64) float64 {
	switch {
	case rate >= 1:
		return 1
	case releases == 1:
		return rate
	}
	return -math.Expm1(float64(releases) * math.Log1p(-rate))
}

// CheckDelta returns ErrDelta if delta is at or above the probability that a unit is in any of the releases, to a
// relative 1e-9. Releases without noise are (0, exposed)-DP: they reveal the sampled units and hide the others.
func CheckDelta(delta, exposed float64) error {
	if !(exposed > 0 && exposed <= 1) {
		return fmt.Errorf("the probability that a unit is in any release is %v, want above 0 and at most 1", exposed)
	}
	if !(delta < exposed*(1-1e-9)) {
		return fmt.Errorf("one unit is in one of the releases with probability %.6g, and delta %v allows publishing "+
			"it whole: want a delta well below that probability: %w", exposed, delta, ErrDelta)
	}
	return nil
}

// Exposed returns the probability that one unit is in any of the releases of a list. For parallel branches it takes the
// branch, or with Pairs the two branches, with the largest probability.
func (l List) Exposed() float64 { return -math.Expm1(l.hidden()) }

// hidden returns the logarithm of the probability that a unit is in none of the releases.
func (l List) hidden() float64 {
	sum := 0.0
	for _, t := range l.Terms {
		sum += float64(t.Count) * math.Log1p(-t.Rate)
	}
	for _, b := range l.Parallels {
		most, next := 0.0, 0.0
		for _, branch := range b.Of {
			if h := branch.hidden(); h < most {
				most, next = h, most
			} else {
				next = math.Min(next, h)
			}
		}
		if b.Pairs {
			most += next
		}
		sum += float64(b.Count) * most
	}
	return sum
}

// joinedNorm returns the Norm of one release of sensitivity d that stands for several on one sample. A unit moves all
// of them, each measured in units of its noise. If all are clipped, the result is exactly half of d. If one has no
// Norm, the result is 0, not known.
func joinedNorm(ts []Term, laws []privacy.Gaussian, d, mu2 float64) float64 {
	halved, sum := true, 0.0
	for i, t := range ts {
		g := laws[i]
		if g.Norm == 0 {
			return 0
		}
		halved = halved && g.Clipped()
		r := g.Norm / g.Sigma
		sum += float64(t.Count) * r * r
	}
	if halved {
		return d / 2
	}
	return math.Max(d/2, d*math.Sqrt(sum/mu2)*(1+0x1p-50))
}
