package accountant

import (
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/terms"
)

// logDeltaByDefinition returns the logarithm of the delta of a mu-Gaussian-DP mechanism at epsilon from its definition,
// the mean of (1 - e^(epsilon - L))+ over the privacy loss L, which is normal with mean mu²/2 and variance mu² (Balle
// and Wang 2018, of which LogDelta is the closed form). It shares nothing with that form. mu is positive, epsilon 0 or
// more. The logarithm is right to 1e-8.
//
// L = epsilon + mu s puts the lower end at s = 0: the mean is the integral of (1 - e^(-mu s)) phi(z + s) over s > 0
// with z = epsilon/mu - mu/2.
func logDeltaByDefinition(mu, epsilon float64) float64 {
	z := epsilon/mu - mu/2
	if z < -8 { // mu is above 16: e^(-mu s) is negligible wherever the density is not
		sum := 0.0
		for k := -200; k <= 200; k++ {
			if x := float64(k) / 16; x > z {
				sum += math.Exp(-x*x/2) / 16
			}
		}
		return math.Log(sum) - math.Log(2*math.Pi)/2
	}
	// The trapezoidal rule over t after s = exp(pi/2 sinh t), which is fast whatever the scale of s (Takahasi and Mori
	// 1974). The density at z is taken out where it is the largest.
	const step = 1. / 32
	out, sum := math.Max(z, 0), 0.0
	for k := -160; k <= 160; k++ {
		t := step * float64(k)
		s := math.Exp(math.Pi / 2 * math.Sinh(t))
		sum -= math.Expm1(-mu*s) * math.Exp(out*out/2-(z+s)*(z+s)/2) * s * math.Pi / 2 * math.Cosh(t) * step
	}
	return math.Log(sum) - out*out/2 - math.Log(2*math.Pi)/2
}

// definitionWidth returns how far the logarithm of delta may be from that of the definition: a part in a million, and
// what rounding moves z by times the slope there. Nothing can be told of a mu of 1e15 and more.
func definitionWidth(mu, epsilon float64) float64 {
	const ulp = 0x1p-52
	return 1e-6 + 4*ulp*(epsilon/mu+mu/2)*(1+math.Abs(epsilon/mu-mu/2))
}

// doubtGaussians compares the closed form of Gaussians with the definition of what it computes.
func (q question) doubtGaussians(l terms.List, s Result) error {
	mu2, err := sumMu2(l)
	if err != nil {
		return err
	}
	epsilon, delta := s.Epsilon, q.delta
	if q.forDelta {
		epsilon, delta = q.epsilon, s.Delta
	}
	mu, got := math.Sqrt(mu2), math.Log(delta)
	// Below the smallest float delta is that float.
	want := math.Max(logDeltaByDefinition(mu, epsilon), math.Log(math.SmallestNonzeroFloat64))
	if math.Abs(got-want) <= definitionWidth(mu, epsilon) || epsilon == 0 && !q.forDelta && got > want {
		return nil
	}
	return fmt.Errorf("at epsilon %v the definition gives a delta of %v, not %v", epsilon, math.Exp(want), delta)
}
