package audit

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"

	"privrec/internal/privacy/binomial"
	"privrec/internal/privacy/numeric"
)

// Rates holds the outcome of an audit in many runs. Positives models were trained with the canary, and the attacker
// rightly called it in for TruePositives of them. Negatives models were trained without it, and the attacker wrongly
// called it in for FalsePositives of them.
type Rates struct {
	TruePositives  int64 `json:"true_positives"`
	Positives      int64 `json:"positives"`
	FalsePositives int64 `json:"false_positives"`
	Negatives      int64 `json:"negatives"`
}

// Validate returns an error for counts out of range, and if there are no models on one side.
func (r Rates) Validate() error {
	for _, c := range []struct {
		name string
		k, n int64
	}{{"positives", r.TruePositives, r.Positives}, {"negatives", r.FalsePositives, r.Negatives}} {
		if c.n < 1 || c.n > maxCanaries {
			return fmt.Errorf("%s are %d, want 1 to %d", c.name, c.n, int64(maxCanaries))
		}
		if c.k < 0 || c.k > c.n {
			return fmt.Errorf("%d of %d %s, want 0 to all", c.k, c.n, c.name)
		}
	}
	return nil
}

// LowerBound returns the one-sided lower bound of Clopper and Pearson (1934) at level on the
// success probability behind k successes in n trials, rounded down. The true probability is below
// it with probability at most level.
func LowerBound(k, n int64, level float64) (float64, error) {
	if n < 1 || n > maxCanaries || k < 0 || k > n {
		return 0, fmt.Errorf("%d successes of %d trials, want 0 to all of 1 to %d", k, n, int64(maxCanaries))
	}
	if err := checkLevel(level); err != nil {
		return 0, err
	}
	if k == 0 {
		return 0, nil
	}
	p, _ := lowerOdds(k, n, level)
	return p, nil
}

// UpperBound returns the one-sided upper bound of Clopper and Pearson, rounded up: 1 - LowerBound of the failures.
func UpperBound(k, n int64, level float64) (float64, error) {
	if _, err := LowerBound(k, n, level); err != nil || k == n {
		return 1, err
	}
	_, q := lowerOdds(n-k, n, level)
	return q, nil
}

// lowerOdds returns the lower bound p for k > 0, rounded down, and 1-p, rounded up, each to full relative accuracy. It
// searches for the logarithm of the odds.
func lowerOdds(k, n int64, level float64) (p, q float64) {
	log := math.Log(level)
	below := func(logit float64) bool { return binomial.FromLogit(n, logit).LogUpper(k) <= log }
	// P[X >= k] <= C(n,k) p^k <= (n p)^k: below level at the lower end. At the upper end all trials
	// succeed, except with probability n q.
	lo := math.Min(-1, log/float64(k)-math.Log(float64(n))-1)
	hi := math.Max(1, math.Log(float64(n))-math.Log1p(-level)+1)
	lo, _ = numeric.BisectWithin(1e-15, lo, hi, below)
	return (1 - margin) / (1 + math.Exp(-lo)), math.Min(1, (1+margin)/(1+math.Exp(lo)))
}

// bounds holds Clopper-Pearson bounds that are valid together at a level: one for each side, each at half the level.
type bounds struct{ truePositive, falseNegative, falsePositive, trueNegative float64 }

func (r Rates) bounds(level float64) (b bounds, err error) {
	if err := r.Validate(); err != nil {
		return b, err
	}
	if b.truePositive, err = LowerBound(r.TruePositives, r.Positives, level/2); err != nil {
		return b, err
	}
	if b.falseNegative, err = UpperBound(r.Positives-r.TruePositives, r.Positives, level/2); err != nil {
		return b, err
	}
	if b.falsePositive, err = UpperBound(r.FalsePositives, r.Negatives, level/2); err != nil {
		return b, err
	}
	b.trueNegative, err = LowerBound(r.Negatives-r.FalsePositives, r.Negatives, level/2)
	return b, err
}

// ratio returns the largest epsilon, rounded down, with high > e^epsilon low + delta for a group of
// copies.
func ratio(high, low, delta float64, copies int64) float64 {
	if !(high > low+delta) {
		return 0
	}
	if copies == 1 {
		return math.Max(0, math.Log((high-delta)/low)*(1-margin))
	}
	return largest(func(epsilon float64) bool {
		e, d := group(epsilon, delta, copies)
		return (high-d)*(1-margin) > math.Exp(e)*low
	})
}

// TwoRunMu returns a lower bound on mu of Gaussian DP at level, rounded down: Phi^-1(1-FPR) -
// Phi^-1(FNR) with upper bounds at level/2 each; 0 if that is negative. It holds for any mechanism
// that is mu-Gaussian-DP. For a mechanism with another curve it does not bound epsilon.
func TwoRunMu(r Rates, level float64) (float64, error) {
	b, err := r.bounds(level)
	if err != nil {
		return 0, err
	}
	return math.Max(0, -(mathext.NormalQuantile(b.falsePositive)+mathext.NormalQuantile(b.falseNegative))*(1-margin)),
		nil
}
