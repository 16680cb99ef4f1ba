package exact

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// DiscreteGaussianDelta is the exact delta at epsilon of one release of an integer
// that moves by shift >= 1, with noise P(k) proportional to exp(-k²/(2 sigma²)), by
// direct summation (Canonne, Kamath, Steinke, NeurIPS 2020, theorem 7). sigma is in
// [0.05, 1e6] grid steps, epsilon 0 or more and finite. It is not rounded up; its
// relative error is below 1e-12.
func DiscreteGaussianDelta(sigma, epsilon float64, shift int64) (float64, error) {
	if err := checkDiscrete("sigma", sigma, 0.05, 1e6, epsilon, shift); err != nil {
		return 0, err
	}
	v, k := 2*sigma*sigma, float64(shift)
	z := math.Sqrt(2*math.Pi) * sigma
	if sigma < 2 {
		z = 1
		for x := 1.0; x < 80; x++ {
			z += 2 * math.Exp(-x*x/v)
		}
	}
	sum, last := 0.0, 0.0
	from := math.Floor(epsilon*sigma*sigma/k-k/2) + 1
	for x := from; ; x++ {
		// The loss of noise x is k(k+2x)/(2 sigma²).
		last = math.Exp(-x*x/v) * -math.Expm1(epsilon-k*(k+2*x)/v)
		sum += math.Max(0, last)
		if x > 0 && x*x/v > from*from/v*sign(from)+45 {
			return math.Min(1, sum/z), nil
		}
	}
}

func sign(x float64) float64 {
	if x > 0 {
		return 1
	}
	return 0
}

// DiscreteLaplaceDelta is the exact delta at epsilon of one release of an integer
// that moves by shift >= 1, with noise P(k) proportional to exp(-|k|/scale), by
// direct summation. scale is in [1e-3, 1e12] grid steps, epsilon 0 or more and
// finite. It is not rounded up; its relative error is below 1e-12.
func DiscreteLaplaceDelta(scale, epsilon float64, shift int64) (float64, error) {
	if err := checkDiscrete("scale", scale, 1e-3, 1e12, epsilon, shift); err != nil {
		return 0, err
	}
	if shift >= mostNodes {
		return 0, notCovered("a sum of %d values", shift)
	}
	a, k := 1/scale, float64(shift)
	if epsilon >= k*a {
		return 0, nil
	}
	end := 1 / (1 + math.Exp(-a))
	sum := end * -math.Expm1(epsilon-k*a)
	for x := 1.0; x < k && (k-2*x)*a > epsilon; x++ {
		sum += -math.Expm1(-a) * end * math.Exp(-x*a) * -math.Expm1(epsilon-(k-2*x)*a)
	}
	return math.Min(1, sum), nil
}

func checkDiscrete(name string, noise, least, most, epsilon float64, shift int64) error {
	switch {
	case !(noise >= least && noise <= most):
		return fmt.Errorf("%s is %v, want %g to %g grid steps", name, noise, least, most)
	case !(epsilon >= 0) || math.IsInf(epsilon, 1):
		return fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	case shift < 1:
		return fmt.Errorf("shift is %d, want at least 1", shift)
	}
	return nil
}

// RepeatedDelta is the exact delta at epsilon of count compositions of an
// (epsilon0, delta0)-DP mechanism, the worst there is: count binary randomized
// responses, each of which gives everything away with probability delta0
// (Kairouz, Oh, Viswanath, ICML 2015, theorem 3.3). delta0 is in [0, 1).
func RepeatedDelta(epsilon0, delta0 float64, count int64, epsilon float64) (Value, error) {
	if !(delta0 >= 0 && delta0 < 1) {
		return Value{}, fmt.Errorf("delta0 is %v, want at least 0 and below 1", delta0)
	}
	v, err := Delta(repeated(epsilon0, count), epsilon)
	if err != nil || delta0 == 0 {
		return v, err
	}
	// 1 - (1-delta0)^n (1-delta)
	keep := float64(count) * math.Log1p(-delta0)
	v.Error = math.Exp(keep)*v.Error + 8*ulp*v.Delta - 8*ulp*math.Expm1(keep)
	v.Delta = math.Min(1, (v.Delta-math.Expm1(keep)*(1-v.Delta))*(1+8*ulp))
	return v, nil
}

// RepeatedEpsilon is the inverse of RepeatedDelta: the smallest epsilon. It is an
// error where everything is given away with more than delta.
func RepeatedEpsilon(epsilon0, delta0 float64, count int64, delta float64) (Value, error) {
	if !(delta0 >= 0 && delta0 < 1) {
		return Value{}, fmt.Errorf("delta0 is %v, want at least 0 and below 1", delta0)
	}
	if !(delta > 0 && delta < 1) {
		return Value{}, fmt.Errorf("delta is %v, want between 0 and 1", delta)
	}
	rest := delta
	if delta0 > 0 {
		keep := float64(count) * math.Log1p(-delta0)
		rest = (delta + math.Expm1(keep)) * math.Exp(-keep)
		rest -= 8 * ulp * (delta - math.Expm1(keep)) * math.Exp(-keep)
		if !(rest > 0) {
			return Value{}, fmt.Errorf("%d releases of delta0 %v cost more than delta %v at any epsilon", count, delta0, delta)
		}
	}
	v, err := Epsilon(repeated(epsilon0, count), rest)
	v.Delta = delta
	return v, err
}

func repeated(epsilon float64, count int64) []terms.Term {
	return []terms.Term{{Leaf: privacy.PureLDP{Epsilon: epsilon, Unit: privacy.User}, Rate: 1, Relation: privacy.Replace, Count: count}}
}
