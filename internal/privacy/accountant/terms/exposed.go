package terms

import (
	"errors"
	"fmt"
	"math"
)

// ErrDelta says that a delta gives the guarantee without any noise: what is sampled could be
// published whole, and the least noise would be none.
var ErrDelta = errors.New("delta alone gives the guarantee, without any noise")

// Exposed returns the probability 1 - (1-rate)^releases that one unit is in any of a number of
// releases, each on its own sample, Poisson or of fixed size. It is 1 if nothing is sampled.
func Exposed(rate float64, releases int64) float64 {
	switch {
	case rate >= 1:
		return 1
	case releases == 1:
		return rate
	}
	return -math.Expm1(float64(releases) * math.Log1p(-rate))
}

// CheckDelta reports a delta at or above the probability that a unit is in any of the releases, to
// a billionth of it. Releases without noise are (0, exposed)-DP: they show the units that are in
// one, and hide the others, which are in none.
func CheckDelta(delta, exposed float64) error {
	if !(exposed > 0 && exposed <= 1) {
		return fmt.Errorf("the probability that a unit is in any release is %v, want above 0 and at most 1", exposed)
	}
	if !(delta < exposed*(1-1e-9)) {
		return fmt.Errorf("one unit is in one of the releases with probability %.6g, and delta %v allows publishing it whole: want a delta well below that probability: %w", exposed, delta, ErrDelta)
	}
	return nil
}

// Exposed returns the probability that one unit is in any of the releases of a list. Of parallel
// branches it takes the one, or with Pairs the two, where the probability is largest.
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
