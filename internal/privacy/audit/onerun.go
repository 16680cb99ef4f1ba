package audit

import (
	"fmt"
	"math"

	"privrec/internal/privacy/binomial"
	"privrec/internal/privacy/numeric"
)

// Count holds the outcome of an audit in one run.
type Count struct {
	Canaries int64 `json:"canaries"` // m: in or out by a fair coin each
	Guesses  int64 `json:"guesses"`  // r: canaries on which the attacker did not abstain
	Correct  int64 `json:"correct"`  // v: right guesses
}

// Validate returns an error unless 0 <= Correct <= Guesses <= Canaries and Canaries is above 0.
func (c Count) Validate() error {
	if c.Canaries < 1 || c.Canaries > maxCanaries {
		return fmt.Errorf("canaries are %d, want 1 to %d", c.Canaries, int64(maxCanaries))
	}
	if c.Guesses < 0 || c.Guesses > c.Canaries {
		return fmt.Errorf("guesses are %d, want 0 to the %d canaries", c.Guesses, c.Canaries)
	}
	if c.Correct < 0 || c.Correct > c.Guesses {
		return fmt.Errorf("correct guesses are %d, want 0 to the %d guesses", c.Correct, c.Guesses)
	}
	return nil
}

// maxCanaries bounds the work. It is far above any experiment.
const maxCanaries = 1 << 31

// pValue returns the largest probability with which an (epsilon, delta)-DP mechanism lets an attacker get at least
// Correct of Guesses right (Steinke, Nasr, Jagielski 2023, theorem 5.2 with a fair coin):
//
//	beta + 2 m delta alpha,  beta = P[B >= v],
//	alpha = max over 1 <= i <= v of P[v > B >= v-i]/i,  B ~ Bin(r, 1/(1+e^-epsilon))
//
// in (0, 1].
func (c Count) pValue(epsilon, delta float64) float64 {
	law := binomial.FromLogit(c.Guesses, epsilon)
	p := law.Upper(c.Correct)
	if delta > 0 && p < 1 {
		p += 2 * float64(c.Canaries) * delta * steepest(law, c.Correct)
	}
	return math.Max(math.Min(1, p), math.SmallestNonzeroFloat64)
}

// steepest returns the alpha of theorem 5.2: the largest mean, over i, of the masses at v-1, v-2, ..., v-i. The masses
// have one mode, so the mean rises while the next mass is above it, and falls from then on.
func steepest(law binomial.Law, v int64) float64 {
	if v < 1 {
		return 0
	}
	mass := math.Exp(law.LogPMF(v - 1))
	if mass == 0 { // below what a float can hold: start at a larger mass
		return steepestFar(law, v)
	}
	sum, best := mass, mass
	for i, k := 2.0, v-2; k >= 0; i, k = i+1, k-1 {
		mass *= float64(k+1) / float64(law.N-k) * (law.Q / law.P)
		if mass < best {
			break
		}
		sum += mass
		best = sum / i
	}
	return best
}

// steepestFar returns the same alpha as steepest if the first masses underflow.
func steepestFar(law binomial.Law, v int64) float64 {
	sum, best := 0.0, 0.0
	for i := int64(1); i <= v; i++ {
		mass := math.Exp(law.LogPMF(v - i))
		if mass < best {
			break
		}
		sum += mass
		best = sum / float64(i)
	}
	return best
}

// epsilon returns the largest epsilon per unit, rounded down, at which the p-value is at most level, for the
// guarantee of the group of a canary's copies; 0 if not even epsilon 0 is rejected. With probability at least 1-level
// over the coins and the mechanism, the mechanism is not (epsilon', delta)-DP for any smaller epsilon'.
func (c Count) epsilon(delta, level float64, copies int64) float64 {
	return largest(func(epsilon float64) bool {
		e, d := group(epsilon, delta, copies)
		return c.pValue(e, d) <= level*(1-margin)
	})
}

// margin is a relative bound on the rounding errors of the compared numbers.
const margin = 1e-12

// largest returns the largest x >= 0, rounded down, up to which rejects is true; 0 if it is false at 0. rejects must be
// false for some x.
func largest(rejects func(x float64) bool) float64 {
	if !rejects(0) {
		return 0
	}
	lo, hi := 0.0, 1.0
	for rejects(hi) {
		lo, hi = hi, hi+math.Max(1, hi/2)
	}
	lo, _ = numeric.BisectWithin(1e-15, lo, hi, rejects)
	return lo
}

// group returns the guarantee of k units if one unit has (epsilon, delta): k epsilon and delta
// (e^(k epsilon)-1)/(e^epsilon-1), at most 1 (Vadhan, "The complexity of differential privacy",
// 2017, lemma 2.2).
func group(epsilon, delta float64, k int64) (float64, float64) {
	if k == 1 {
		return epsilon, delta
	}
	n, factor := float64(k), float64(k)
	if epsilon > 0 {
		factor = math.Expm1(n*epsilon) / math.Expm1(epsilon)
	}
	if delta == 0 {
		return n * epsilon, 0
	}
	if math.IsNaN(factor) { // both overflow
		return n * epsilon, 1
	}
	return n * epsilon, math.Min(1, delta*factor)
}

func checkEpsilonDelta(epsilon, delta float64) error {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	if !(delta >= 0 && delta < 1) {
		return fmt.Errorf("delta is %v, want at least 0 and below 1", delta)
	}
	return nil
}

func checkLevel(level float64) error {
	if !(level > 0 && level < 1) {
		return fmt.Errorf("level is %v, want between 0 and 1", level)
	}
	return nil
}
