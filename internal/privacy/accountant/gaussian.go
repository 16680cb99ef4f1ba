package accountant

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
	"privrec/internal/privacy/numeric"
)

// LogDelta returns the logarithm of the exact delta of a mu-Gaussian-DP mechanism at epsilon (Balle
// and Wang 2018, theorem 8); mu > 0, epsilon >= 0. It is accurate relative to delta itself, see
// numeric.GaussianLogDelta.
func LogDelta(mu, epsilon float64) float64 { return numeric.GaussianLogDelta(mu, epsilon) }

// Delta returns exp(LogDelta), at most 1.
func Delta(mu, epsilon float64) float64 { return math.Min(1, math.Exp(LogDelta(mu, epsilon))) }

// deltaUp returns Delta rounded up. It is above 0 for every epsilon.
func deltaUp(mu, epsilon float64) float64 {
	const slack = 1e-12 // more than the relative error of Delta
	return math.Min(1, math.Max(Delta(mu, epsilon)*(1+slack), math.SmallestNonzeroFloat64))
}

// Exact returns the smallest epsilon >= 0 at which a mu-Gaussian-DP mechanism
// is (epsilon, delta)-DP, rounded up. mu is 0 or more, delta in (0, 1).
func Exact(mu, delta float64) (float64, error) {
	if err := checkMuDelta(mu, delta); err != nil {
		return 0, err
	}
	if mu == 0 {
		return 0, nil
	}
	target := math.Log(delta)
	over := func(eps float64) bool { return LogDelta(mu, eps) > target }
	if !over(0) {
		return 0, nil
	}
	// The closed bound is never below the exact value.
	lo, hi := 0.0, Closed(mu*mu, delta)
	for over(hi) { // only after rounding
		hi = math.Nextafter(hi, math.Inf(1)) * (1 + 1e-15)
	}
	_, eps := numeric.Bisect(lo, hi, over)
	return eps, nil
}

// MuFor returns the largest mu at which a mu-Gaussian-DP mechanism is (epsilon, delta)-DP, rounded
// down: the exact calibration. epsilon is 0 or more and finite, delta in (0, 1).
func MuFor(epsilon, delta float64) (float64, error) {
	if err := checkMuDelta(0, delta); err != nil {
		return 0, err
	}
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return 0, fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	target := math.Log(delta)
	within := func(mu float64) bool { return !(LogDelta(mu, epsilon) > target) }
	// The closed bound is above the exact value, and so is mu > 2/5 mu > delta(0).
	lo := math.Max(ClosedMu(epsilon, delta), delta)
	for !within(lo) { // only after rounding
		lo *= 1 - 1e-14
	}
	lo, hi := numeric.Double(lo, 2*lo, math.Inf(1), within)
	mu, _ := numeric.Bisect(lo, hi, within)
	return mu, nil
}

// SigmaFor returns the smallest standard deviation, rounded up, with which a release of the given l2 sensitivity is
// (epsilon, delta)-DP.
func SigmaFor(sensitivity, epsilon, delta float64) (float64, error) {
	if !(sensitivity > 0) || math.IsInf(sensitivity, 1) {
		return 0, fmt.Errorf("sensitivity is %v, want positive and finite", sensitivity)
	}
	mu, err := MuFor(epsilon, delta)
	if err != nil {
		return 0, err
	}
	sigma := sensitivity / mu
	for sensitivity/sigma > mu {
		sigma = math.Nextafter(sigma, math.Inf(1))
	}
	return sigma, nil
}

func checkMuDelta(mu, delta float64) error {
	if !(mu >= 0) || math.IsInf(mu, 1) {
		return fmt.Errorf("mu is %v, want at least 0 and finite", mu)
	}
	if !(delta > 0 && delta < 1) {
		return fmt.Errorf("delta is %v, want between 0 and 1", delta)
	}
	return nil
}

// sumMu2 returns the sum of (D/sigma)² over unsampled Gaussians. For parallel branches it adds the largest, or the
// largest two.
func sumMu2(l terms.List) (float64, error) {
	sum := 0.0
	for _, t := range l.Terms {
		g, ok := privacy.LawOf(t.Leaf).(privacy.Gaussian)
		switch {
		case !ok:
			return 0, fmt.Errorf("a gaussian account cannot price the event %q", t.Leaf.Kind())
		case t.Group > 1:
			return 0, errors.New("a gaussian account cannot price a group on samples")
		case t.Rate != 1:
			return 0, errors.New(`a gaussian account cannot price the event "sampled"`)
		}
		mu := g.Sensitivity / g.Sigma
		mu2 := float64(t.Count) * (mu * mu)
		if !(mu2 > 0) || math.IsInf(mu2, 1) {
			return 0, fmt.Errorf("gaussian: sensitivity %v over sigma %v is out of range", g.Sensitivity, g.Sigma)
		}
		sum += mu2
	}
	for _, b := range l.Parallels {
		worst, next := 0.0, 0.0
		for i, branch := range b.Of {
			mu2, err := sumMu2(branch)
			if err != nil {
				return 0, fmt.Errorf("event %d: %w", i, err)
			}
			if mu2 > worst {
				worst, next = mu2, worst
			} else {
				next = math.Max(next, mu2)
			}
		}
		if b.Pairs {
			worst += next
		}
		sum += float64(b.Count) * worst
	}
	return sum, nil
}

// Closed returns the epsilon of mu-Gaussian-DP under the classic conversion of Rényi DP at its best order,
// alpha = 1 + sqrt(2 ln(1/delta))/mu:
//
//	eps = mu²/2 + mu sqrt(2 ln(1/delta))
//
// With mu² = T C²/sigma² it is theorem 4.2 of the DIPSGNN paper. Its argument is mu², so that compositions add
// up without roots. delta is in (0, 1).
func Closed(mu2, delta float64) float64 {
	return mu2/2 + math.Sqrt(mu2)*closedB(delta)
}

// ClosedMu returns the inverse of Closed: the mu at which Closed gives epsilon. It has no cancellation and needs no
// root finder.
func ClosedMu(epsilon, delta float64) float64 {
	b := closedB(delta)
	return 2 * epsilon / (b + math.Sqrt(b*b+2*epsilon))
}

// ClosedSigma returns the standard deviation that theorem 4.2 requires for steps releases of sensitivity c at a claimed
// epsilon.
func ClosedSigma(c, steps, epsilon, delta float64) float64 {
	return c * math.Sqrt(steps) / ClosedMu(epsilon, delta)
}

// closedB returns sqrt(2 ln(1/delta)).
func closedB(delta float64) float64 { return math.Sqrt(-2 * math.Log(delta)) }

// CLTMuPoisson returns the mu of the central limit theorem for steps Poisson-sampled Gaussian releases of rate
// q and noise multiplier sigma (Bu et al. 2020). It is an approximation that can be below the truth: never a
// guarantee.
func CLTMuPoisson(q, sigma, steps float64) float64 {
	return q * math.Sqrt(steps*math.Expm1(1/(sigma*sigma)))
}
