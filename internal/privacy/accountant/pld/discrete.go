package pld

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// most is the largest number of atoms of one release.
const most = 1 << 21

// discreteGaussian returns the pair of the discrete normal law moved by d whole steps on a line. Noise with a
// monotone likelihood ratio is told apart best at the largest distance, so a sensitivity that is
// not a whole number is rounded to a distance that can occur.
func discreteGaussian(sigma, sensitivity float64) (pair, error) {
	d := privacy.WholeSteps(sensitivity)
	spread := math.Ceil(25*sigma) + 3 // beyond: less than exp(-312)
	if !(d >= 1) {
		return pair{}, fmt.Errorf("discrete gaussian: sensitivity is %v, want at least one grid step: %w", sensitivity, ErrNotCovered)
	}
	if !(2*spread+d < most) || d/sigma > 50 {
		return pair{}, fmt.Errorf("discrete gaussian: sigma is %v and the sensitivity %v: more than %d values or more than 50 sigma: %w", sigma, sensitivity, most, ErrNotCovered)
	}
	s2 := 2 * sigma * sigma
	total := 0.0
	for k := spread; k >= 1; k-- { // small terms first
		total += 2 * math.Exp(-k*k/s2)
	}
	total++
	x := pair{max: math.Inf(1), min: math.Inf(-1), symmetric: true, spacing: 2 * d / s2, cutP: 1e-130, cutQ: 1e-130}
	for k := -spread; k <= d+spread; k++ {
		a := atom{(2*k - d) * d / s2, math.Exp(-(k-d)*(k-d)/s2) / total, math.Exp(-k*k/s2) / total}
		if a.p > 0 || a.q > 0 {
			x.atoms = append(x.atoms, a)
		}
	}
	x.pin = x.atoms[len(x.atoms)/2].loss
	return x, nil
}

// discreteLaplace returns the pair of P(k) ~ exp(-|k|/scale) moved by d whole steps.
func discreteLaplace(scale, sensitivity float64) (pair, error) {
	d := privacy.WholeSteps(sensitivity)
	if !(d >= 1 && d < most) || d/scale > 500 {
		return pair{}, fmt.Errorf("discrete laplace: sensitivity is %v and scale %v, want from one grid step to %d and 500 scales: %w", sensitivity, scale, most, ErrNotCovered)
	}
	r := math.Exp(-1 / scale)
	zero := -math.Expm1(-1/scale) / (1 + r)
	e := d / scale
	x := pair{max: e, min: -e, symmetric: true, spacing: 2 / scale, pin: e}
	x.atoms = append(x.atoms, atom{-e, math.Exp(-e) / (1 + r), 1 / (1 + r)})
	for k := 1.0; k < d; k++ {
		x.atoms = append(x.atoms, atom{(2*k - d) / scale, zero * math.Exp((k-d)/scale), zero * math.Exp(-k/scale)})
	}
	x.atoms = append(x.atoms, atom{e, 1 / (1 + r), math.Exp(-e) / (1 + r)})
	return x, nil
}
