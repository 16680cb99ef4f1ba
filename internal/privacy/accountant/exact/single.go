package exact

import (
	"errors"
	"fmt"
	"math"
)

// LaplaceDelta returns the exact delta at epsilon >= 0 of one release with Laplace noise of the
// given scale, of a value that moves by at most sensitivity in the l1 norm: 1 - e^((epsilon -
// sensitivity/scale)/2), and 0 from epsilon = sensitivity/scale on. Scale and sensitivity are
// positive and finite.
func LaplaceDelta(scale, sensitivity, epsilon float64) (float64, error) {
	if err := errors.Join(checkPositive("scale", scale), checkPositive("sensitivity", sensitivity), checkEpsilon(epsilon)); err != nil {
		return 0, err
	}
	return math.Max(0, -math.Expm1((epsilon-sensitivity/scale)/2)), nil
}

// ResponseDelta returns the exact delta at epsilon >= 0 of one randomized response of epsilon0 >= 0
// over at least 2 categories. With x = e^epsilon0 the true value has probability x/(x+k-1), any
// other 1/(x+k-1). delta is by how much the first is above e^epsilon times the second.
func ResponseDelta(epsilon0 float64, categories int64, epsilon float64) (float64, error) {
	if err := checkEpsilon(epsilon0); err != nil {
		return 0, fmt.Errorf("response: %w", err)
	}
	if categories < 2 || categories > maxShift {
		return 0, fmt.Errorf("categories are %d, want 2 to %d", categories, int64(maxShift))
	}
	if err := checkEpsilon(epsilon); err != nil {
		return 0, err
	}
	keep := 1 / (1 + float64(categories-1)*math.Exp(-epsilon0))
	return math.Max(0, -math.Expm1(epsilon-epsilon0)*keep), nil
}

// DiscreteLaplaceDelta returns the exact delta at epsilon >= 0 of one release of an integer that
// moves by shift >= 1, with noise P(k) proportional to exp(-|k|/scale). The sets that tell most are
// half-lines. With a = 1/scale and x the last integer below (shift - epsilon/a)/2, or 0, delta is
//
//	(e^-a (1-e^(-a x)) + 1 - e^(epsilon + a (x-shift))) / (1 + e^-a)
//
// of positive terms only, and 0 from epsilon = a shift on. It is not rounded up. Its relative error
// is below 1e-12.
func DiscreteLaplaceDelta(scale, epsilon float64, shift int64) (float64, error) {
	if err := errors.Join(checkPositive("scale", scale), checkShift(shift), checkEpsilon(epsilon)); err != nil {
		return 0, err
	}
	a, s := 1/scale, float64(shift)
	if epsilon >= a*s {
		return 0, nil
	}
	x := math.Max(0, math.Ceil((s-epsilon*scale)/2)-1)
	return (-math.Expm1(-a*x)*math.Exp(-a) - math.Expm1(math.Min(0, epsilon+a*(x-s)))) / (1 + math.Exp(-a)), nil
}

// DiscreteGaussianDelta returns the exact delta at epsilon >= 0 of one release of an integer that
// moves by shift >= 1, with noise P(k) proportional to exp(-k²/(2 sigma²)) (Canonne, Kamath,
// Steinke, NeurIPS 2020, theorem 7). It is the sum of P(k) (1 - e^(epsilon - L(k))) over the k with
// a loss L(k) = shift (2k + shift)/(2 sigma²) above epsilon, of positive terms only. sigma is at
// most 1e7: the sum has some 20 sigma terms. The result is not rounded up. Its relative error is
// below 1e-12.
func DiscreteGaussianDelta(sigma, epsilon float64, shift int64) (float64, error) {
	if err := errors.Join(checkPositive("sigma", sigma), checkShift(shift), checkEpsilon(epsilon)); err != nil {
		return 0, err
	}
	if sigma > maxSigma {
		return 0, fmt.Errorf("sigma is %v, want at most %v", sigma, float64(maxSigma))
	}
	v, s := 2*sigma*sigma, float64(shift)
	loss := func(k float64) float64 { return s * (2*k + s) / v }
	// The mass below -40 sigma is under e^-800 of the mass above.
	first := math.Max(math.Floor((epsilon*v/s-s)/2)+1, math.Floor(-40*sigma))
	peak := math.Max(first, 0)
	sum := 0.0
	for k := first; ; k++ {
		mass := math.Exp((peak - k) * (peak + k) / v) // relative to the mass at the peak, which may underflow
		sum += mass * math.Max(0, -math.Expm1(epsilon-loss(k)))
		if k > peak && mass*(1+v/k) <= 0x1p-60*sum { // the rest is at most a geometric series of ratio e^(-2k/v)
			break
		}
	}
	if sum == 0 {
		return 0, nil
	}
	return math.Min(1, math.Exp(math.Log(sum)-peak*peak/v-math.Log(gaussSum(v)))), nil
}

const maxSigma = 1e7

// gaussSum returns the sum of exp(-k²/v) over all integers, by Poisson summation if that is
// shorter.
func gaussSum(v float64) float64 {
	factor, rate := 1.0, 1/v
	if v > 1/math.Pi {
		factor, rate = math.Sqrt(math.Pi*v), math.Pi*math.Pi*v
	}
	sum := 0.0
	for k := 4.0; k >= 1; k-- { // the rate is at least pi: e^(-16 pi) is 1e-22
		sum += math.Exp(-k * k * rate)
	}
	return factor * (1 + 2*sum)
}

// maxShift keeps every count of steps exact as a float64.
const maxShift = 1 << 53

func checkShift(n int64) error {
	if n < 1 || n > maxShift {
		return fmt.Errorf("shift is %d, want 1 to %d", n, int64(maxShift))
	}
	return nil
}

func checkPositive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %v, want positive and finite", name, v)
	}
	return nil
}

func checkEpsilon(v float64) error {
	if !(v >= 0) || math.IsInf(v, 1) {
		return fmt.Errorf("epsilon is %v, want at least 0 and finite", v)
	}
	return nil
}
