package pld

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/numeric"
)

// reach is the number of standard deviations over which normal noise is used. Beyond it the distribution function
// underflows.
const reach = 37.5

// mostRatio is the largest distance over sigma, an epsilon of about 2 million. Beyond it losses are so large
// that their rounding matters.
const mostRatio = 2000

// Gaussian implements privacy.Pricer.
func (x *pair) Gaussian(g privacy.Gaussian) (err error) {
	*x, err = gaussian(g.Sensitivity / g.Sigma)
	return err
}

// Laplace implements privacy.Pricer.
func (x *pair) Laplace(l privacy.Laplace) (err error) {
	*x, err = laplace(l.Sensitivity / l.Scale)
	return err
}

// DiscreteGaussian implements privacy.Pricer.
func (x *pair) DiscreteGaussian(g privacy.DiscreteGaussian) (err error) {
	if !g.OnLine() {
		return fmt.Errorf("discrete gaussian in %d dimensions: %w", g.Dimension, ErrNotCovered)
	}
	*x, err = discreteGaussian(g.Sigma, g.Sensitivity)
	return err
}

// DiscreteLaplace implements privacy.Pricer.
func (x *pair) DiscreteLaplace(l privacy.DiscreteLaplace) (err error) {
	*x, err = discreteLaplace(l.Scale, l.Sensitivity)
	return err
}

// Response implements privacy.Pricer.
func (x *pair) Response(r privacy.ResponseLaw) (err error) {
	*x, err = response(r.Epsilon, r.Categories)
	return err
}

// Exponential returns ErrNotCovered: no single pair of laws is the worst.
func (x *pair) Exponential(privacy.Exponential) error { return ErrNotCovered }

// gaussian returns N(mu, 1) against N(0, 1): the loss at z is mu z - mu²/2.
func gaussian(mu float64) (pair, error) {
	if !(mu >= 1e-8 && mu <= mostRatio) {
		return pair{}, fmt.Errorf("gaussian: sensitivity over sigma is %v, want from 1e-8 to %d: %w", mu, mostRatio,
			ErrNotCovered)
	}
	loss := func(z float64) float64 { return mu * (z - mu/2) }
	x := pair{lo: loss(-reach), hi: loss(mu + reach), max: math.Inf(1), min: math.Inf(-1), symmetric: true}
	x.tails = func(l float64) (e edge) {
		z := l/mu + mu/2
		e.pBelow, e.pAbove = normalTails(z, mu, 1)
		e.qBelow, e.qAbove = normalTails(z, 0, 1)
		return e
	}
	x.nodes = trapezoid(-15, mu+15, min(0.25, 1/(3*mu)), func(z float64) atom {
		return atom{loss(z), density(z - mu), density(z)}
	})
	return x, nil
}

func density(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }

// trapezoid returns the points of the trapezoid rule with about the given step. at returns loss and densities.
func trapezoid(from, to, step float64, at func(z float64) atom) []atom {
	n := max(int((to-from)/step), 180)
	if n > 20_000 {
		n = 20_000
	}
	step = (to - from) / float64(n)
	out := make([]atom, 0, n+1)
	for i := range n + 1 {
		a := at(from + float64(i)*step)
		a.p *= step
		a.q *= step
		if a.p > 0 || a.q > 0 {
			out = append(out, a)
		}
	}
	return out
}

// replacedGaussian returns the pair for sums of vectors clipped to half of the sensitivity: (1-q)N(0,s²) + qN(1,s²)
// against (1-q)N(0,s²) + qN(-1,s²). With y = exp(z/s²) the loss solves k y² - (1-q)(e^l - 1) y - k e^l = 0 for
// k = q exp(-1/(2s²)), so log y = l/2 + asinh((1-q)/k sinh(l/2)).
func replacedGaussian(q, s float64) (pair, error) {
	if !(s >= 0.03 && s <= 1e8) {
		return pair{}, fmt.Errorf("sampled gaussian: twice sigma over the sensitivity is %v, want from 0.03 to 1e8: %w",
			s, ErrNotCovered)
	}
	ratio := (1 - q) / q * math.Exp(1/(2*s*s))
	side := func(z float64) float64 { return numeric.LogMixed(q, (2*z-1)/(2*s*s)) }
	loss := func(z float64) float64 { return side(z) - side(-z) }
	z := func(l float64) float64 {
		return s * s * (l/2 + math.Asinh(ratio*math.Sinh(l/2)))
	}
	far := 1 + reach*s
	top := min(loss(far), 1300)
	x := pair{lo: -top, hi: top, max: math.Inf(1), min: math.Inf(-1), symmetric: true}
	x.tails = func(l float64) (e edge) {
		z := z(l)
		b0, a0 := normalTails(z, 0, s)
		b1, a1 := normalTails(z, 1, s)
		b2, a2 := normalTails(z, -1, s)
		return edge{(1-q)*b0 + q*b1, (1-q)*a0 + q*a1, (1-q)*b0 + q*b2, (1-q)*a0 + q*a2}
	}
	x.nodes = trapezoid(-1-15*s, 1+15*s, s*min(0.25, s/3), func(z float64) atom {
		d := (1 - q) * density(z/s) / s
		return atom{loss(z), d + q*density((z-1)/s)/s, d + q*density((z+1)/s)/s}
	})
	return x, nil
}

// laplace returns the pair of noise with scale 1 moved by e: atoms of the loss at e and -e, and continuous losses
// between them.
func laplace(e float64) (pair, error) {
	if !(e >= 1e-9 && e <= 500) {
		return pair{}, fmt.Errorf("laplace: sensitivity over scale is %v, want from 1e-9 to 500: %w", e, ErrNotCovered)
	}
	x := pair{lo: -e, hi: e, max: e, min: -e, spacing: 2 * e, pin: e, symmetric: true}
	x.atoms = []atom{{-e, 0.5 * math.Exp(-e), 0.5}, {e, 0.5, 0.5 * math.Exp(-e)}}
	x.tails = func(l float64) edge {
		l = min(max(l, -e), e)
		return edge{
			pBelow: 0.5 * math.Exp(-e) * math.Expm1((l+e)/2), pAbove: -0.5 * math.Expm1((l-e)/2),
			qBelow: -0.5 * math.Expm1(-(l+e)/2), qAbove: 0.5 * math.Exp(-e) * math.Expm1((e-l)/2),
		}
	}
	const n = 400 // midpoints: the ends are atoms
	for i := range n {
		l, h := -e+2*e*(float64(i)+0.5)/n, 2*e/n
		x.nodes = append(x.nodes, atom{l, 0.25 * math.Exp((l-e)/2) * h, 0.25 * math.Exp(-(l+e)/2) * h})
	}
	return x, nil
}

// response returns the pair of k-ary randomized response with likelihood ratio exp(e). For k = 2 it dominates every
// e-DP release.
func response(e float64, k int64) (pair, error) {
	if !(e >= 1e-9 && e <= 500) {
		return pair{}, fmt.Errorf("randomized response: epsilon is %v, want from 1e-9 to 500: %w", e, ErrNotCovered)
	}
	other := math.Exp(-e) / (1 + float64(k-1)*math.Exp(-e))
	keep := 1 / (1 + float64(k-1)*math.Exp(-e))
	x := pair{max: e, min: -e, spacing: 2 * e, pin: e, symmetric: true}
	x.atoms = []atom{{-e, other, keep}, {e, keep, other}}
	if k > 2 {
		rest := float64(k-2) * other
		x.atoms = []atom{x.atoms[0], {0, rest, rest}, x.atoms[1]}
		x.spacing = e
	}
	return x, nil
}

// most is the largest number of atoms of one release.
const most = 1 << 21

// discreteGaussian returns the pair of the discrete normal law moved by d whole steps on a line. For noise with a
// monotone likelihood ratio the largest distance is the worst. A sensitivity that is not a whole number is rounded to a
// distance that can occur.
func discreteGaussian(sigma, sensitivity float64) (pair, error) {
	d := privacy.WholeSteps(sensitivity)
	spread := math.Ceil(25*sigma) + 3 // beyond: less than exp(-312)
	if !(d >= 1) {
		return pair{}, fmt.Errorf("discrete gaussian: sensitivity is %v, want at least one grid step: %w", sensitivity,
			ErrNotCovered)
	}
	if !(2*spread+d < most) || d/sigma > 50 {
		return pair{}, fmt.Errorf(
			"discrete gaussian: sigma is %v and the sensitivity %v: more than %d values or more than 50 sigma: %w",
			sigma, sensitivity, most, ErrNotCovered)
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
		return pair{}, fmt.Errorf(
			"discrete laplace: sensitivity is %v and scale %v, want from one grid step to %d and 500 scales: %w",
			sensitivity, scale, most, ErrNotCovered)
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
