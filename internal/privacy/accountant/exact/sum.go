package exact

import "math"

// sum returns log delta at eps by direct summation over the outputs, with a bound on the relative error of delta. ok is
// false unless the composition is a single release of integer noise with few enough outputs.
func (p *plan) sum(eps float64) (logDelta, relative float64, ok bool) {
	if p.mu2 > 0 || len(p.terms) != 1 || p.terms[0].count != 1 {
		return 0, 0, false
	}
	var s outcomes
	switch l := p.terms[0].law.(type) {
	case discreteGaussian:
		if l.sigma > mostSummed || l.shift > mostSummed {
			return 0, 0, false
		}
		s = l.outcomes(eps)
	case discreteLaplace:
		if l.rate < 1 || l.shift > mostSummed {
			return 0, 0, false
		}
		s = l.outcomes(eps)
	default:
		return 0, 0, false
	}
	return s.top + math.Log(s.delta), 8*ulp*s.off/s.delta + 128*ulp, true
}

// mostSummed is the largest sigma, and the largest shift, in grid steps, for which a law is summed.
const mostSummed = 2000

// outcomes accumulates the positive parts of P - exp(eps) Q.
type outcomes struct {
	top   float64 // logarithm of the unit that both sums are in
	delta float64
	off   float64 // P times the rounding error of the exponent, in units of ulp
}

// add adds an output with probability p, in units of exp(top), and its loss.
func (s *outcomes) add(p, loss, eps float64) {
	if loss > eps {
		s.delta -= p * math.Expm1(eps-loss)
		s.off += p * (loss + eps)
	}
}

// outcomes returns the sums for the discrete Gaussian (Canonne, Kamath, Steinke, NeurIPS 2020, theorem 7). Noise x has
// the loss shift (shift + 2x)/(2 sigma²), so all x from some x on count.
func (g discreteGaussian) outcomes(eps float64) outcomes {
	v, k := 2*g.sigma*g.sigma, g.shift
	far := math.Ceil(10 * g.sigma) // exp(-50) of the largest
	first := math.Max(math.Floor(eps*v/2/k-k/2), -k-far)
	peak := math.Max(first, 0)
	norm := math.Sqrt(2*math.Pi) * g.sigma // to exp(-2 pi² sigma²) of itself
	if g.sigma < 2 {
		norm = 1
		for x := 1.; x < 80; x++ {
			norm += 2 * math.Exp(-x*x/v)
		}
	}
	s := outcomes{top: -peak*peak/v - math.Log(norm)}
	for x := first; (x*x-peak*peak)/v < 80 || x < 0; x++ {
		s.add(math.Exp((peak*peak-x*x)/v), k*(k+2*x)/v, eps)
	}
	return s
}

// outcomes returns the sums for the discrete Laplace law, which has its largest loss wherever the noise is not below 0.
func (l discreteLaplace) outcomes(eps float64) outcomes {
	a := 1 / l.scale
	end := 1 / (1 + math.Exp(-a)) // P(noise >= 0)
	var s outcomes
	for x := l.shift - 1; x > 0; x-- { // small terms first
		s.add(-math.Expm1(-a)*end*math.Exp(-x*a), (l.shift-2*x)*a, eps)
	}
	s.add(end, l.shift*a, eps)
	return s
}
