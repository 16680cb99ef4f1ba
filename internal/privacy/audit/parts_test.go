package audit

import (
	"fmt"
	"math"
)

// What bounds are made of, one at a time, and a rule and a curve for tests.

// OneRunPValue is pValue, checked.
func OneRunPValue(c Count, epsilon, delta float64) (float64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	if err := checkEpsilonDelta(epsilon, delta); err != nil {
		return 0, err
	}
	return c.pValue(epsilon, delta), nil
}

// OneRunEpsilon is epsilon of one copy, checked.
func OneRunEpsilon(c Count, delta, level float64) (float64, error) {
	if err := checkLevel(level); err != nil {
		return 0, err
	}
	if _, err := OneRunPValue(c, 0, delta); err != nil {
		return 0, err
	}
	return c.epsilon(delta, level, 1), nil
}

// ApproximateCurve returns the curve of (epsilon, delta)-DP (Wasserman and Zhou 2010): max(0,
// e^-epsilon (x-delta), 1-delta-e^epsilon (1-x)).
func ApproximateCurve(epsilon, delta float64) Curve {
	return func(x float64) float64 {
		return math.Max(0, math.Max(math.Exp(-epsilon)*(x-delta), 1-delta-math.Exp(epsilon)*(1-x)))
	}
}

// OneRunRejects is rejects, checked.
func OneRunRejects(c Count, curve Curve, level float64) (bool, error) {
	if err := c.Validate(); err != nil {
		return false, err
	}
	if err := checkLevel(level); err != nil {
		return false, err
	}
	if curve == nil {
		return false, fmt.Errorf("no trade-off curve")
	}
	return c.rejects(curve, level), nil
}

// OneRunMu is mu, checked.
func OneRunMu(c Count, level float64) (float64, error) {
	if _, err := OneRunRejects(c, GaussianCurve(0), level); err != nil {
		return 0, err
	}
	return c.mu(level), nil
}

// TwoRunEpsilon returns the largest epsilon, rounded down, that contradicts the rates at level:
// log((TPR-delta)/FPR) with the lower bound of TPR and the upper bound of FPR, each at level/2; 0
// if that is negative.
func TwoRunEpsilon(r Rates, delta, level float64) (float64, error) {
	b, err := r.bounds(level)
	if err != nil {
		return 0, err
	}
	if err := checkEpsilonDelta(0, delta); err != nil {
		return 0, err
	}
	return ratio(b.truePositive, b.falsePositive, delta, 1), nil
}

// TwoRunComplement returns the bound of TwoRunEpsilon for the complementary event, log((TNR-delta)/FNR). It uses the
// same confidence bounds, with TNR = 1-FPR and FNR = 1-TPR, so the larger of the two holds at level without correction.
func TwoRunComplement(r Rates, delta, level float64) (float64, error) {
	b, err := r.bounds(level)
	if err != nil {
		return 0, err
	}
	if err := checkEpsilonDelta(0, delta); err != nil {
		return 0, err
	}
	return ratio(b.trueNegative, b.falseNegative, delta, 1), nil
}

// Threshold is a rule with fixed thresholds: In for scores of at least High, Out for scores below Low, which is at most
// High. The number of guesses is then random, which the theorems allow.
type Threshold struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Guess returns the guesses that the thresholds make from the scores.
func (t Threshold) Guess(scores []float64) ([]Guess, error) {
	if !(t.Low <= t.High) {
		return nil, fmt.Errorf("thresholds are %v and %v, want the lower one first", t.Low, t.High)
	}
	guesses := make([]Guess, len(scores))
	for i, s := range scores {
		switch {
		case math.IsNaN(s):
			return nil, fmt.Errorf("score %d is not a number", i)
		case s >= t.High:
			guesses[i] = In
		case s < t.Low:
			guesses[i] = Out
		}
	}
	return guesses, nil
}
