package secure

import "math"

// DiscreteGaussianLaw is the distribution P(k) ~ exp(-k²/(2 Sigma²)) on the
// integers (Canonne, Kamath, Steinke 2020, definition 1). Sigma must be positive
// and finite.
type DiscreteGaussianLaw struct{ Sigma float64 }

// theta returns the sum of exp(-k²/(2 sigma²)) over all integers divided by sigma sqrt(2 pi),
// and the sum of k² times that divided by sigma³ sqrt(2 pi). From sigma 1 on both are near 1
// and come from Poisson's summation formula, below from the sums themselves.
func (l DiscreteGaussianLaw) theta() (mass, second float64) {
	if l.Sigma >= 1 {
		mass, second = 1, 1
		w := 2 * math.Pi * l.Sigma
		for m := 1.0; ; m++ {
			v := w * m
			e := 2 * math.Exp(-v*v/2)
			if e == 0 {
				return mass, second
			}
			mass += e
			second += e * (1 - v*v)
		}
	}
	mass = 1
	for k := 1.0; ; k++ {
		v := k / l.Sigma
		e := 2 * math.Exp(-v*v/2)
		if e == 0 {
			c := l.Sigma * math.Sqrt(2*math.Pi)
			return mass / c, second / c
		}
		mass += e
		second += e * v * v
	}
}

// Normaliser returns the sum of exp(-k²/(2 Sigma²)) over all integers.
func (l DiscreteGaussianLaw) Normaliser() float64 {
	mass, _ := l.theta()
	return mass * l.Sigma * math.Sqrt(2*math.Pi)
}

// PMF returns the probability of k.
func (l DiscreteGaussianLaw) PMF(k int64) float64 {
	v := float64(k) / l.Sigma
	return math.Exp(-v*v/2) / l.Normaliser()
}

// Variance returns the variance, which is below Sigma². For large Sigma the difference is too small for a float64.
func (l DiscreteGaussianLaw) Variance() float64 {
	mass, second := l.theta()
	return l.Sigma * l.Sigma * second / mass
}

// LogSquares returns log E exp(t K²/Sigma²) for t < 1/2.
func (l DiscreteGaussianLaw) LogSquares(t float64) float64 {
	wide, _ := DiscreteGaussianLaw{l.Sigma / math.Sqrt(1-2*t)}.theta()
	own, _ := l.theta()
	return math.Log(wide/own) - math.Log1p(-2*t)/2
}

// DiscreteLaplaceLaw is the distribution P(k) ~ exp(-|k|/Scale) on the integers.
// Scale must be positive and finite.
type DiscreteLaplaceLaw struct{ Scale float64 }

// PMF returns the probability of k, tanh(1/(2 Scale)) exp(-|k|/Scale).
func (l DiscreteLaplaceLaw) PMF(k int64) float64 {
	return math.Tanh(0.5/l.Scale) * math.Exp(-math.Abs(float64(k))/l.Scale)
}

// Variance returns the variance, 1/(2 sinh²(1/(2 Scale))).
func (l DiscreteLaplaceLaw) Variance() float64 {
	s := math.Sinh(0.5 / l.Scale)
	return 0.5 / (s * s)
}

// LogSizes returns log E exp(t |K|/Scale) for t < 1.
func (l DiscreteLaplaceLaw) LogSizes(t float64) float64 {
	// P(0) (1 + 2 r/(1-r)) with r = exp(-(1-t)/Scale).
	return math.Log(math.Tanh(0.5/l.Scale) / math.Tanh(0.5*(1-t)/l.Scale))
}

// LogSum returns log E exp(t K/Scale) for |t| < 1.
func (l DiscreteLaplaceLaw) LogSum(t float64) float64 {
	// The difference of two geometric numbers.
	s, up, down := math.Sinh(0.5/l.Scale), math.Sinh(0.5*(1-t)/l.Scale), math.Sinh(0.5*(1+t)/l.Scale)
	return 2*math.Log(s) - math.Log(up) - math.Log(down)
}
