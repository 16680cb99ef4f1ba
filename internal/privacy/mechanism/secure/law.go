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

// LogSquares returns log E exp(t K²/Sigma²) for t < 1/2.
func (l DiscreteGaussianLaw) LogSquares(t float64) float64 {
	wide, _ := DiscreteGaussianLaw{l.Sigma / math.Sqrt(1-2*t)}.theta()
	own, _ := l.theta()
	return math.Log(wide/own) - math.Log1p(-2*t)/2
}
