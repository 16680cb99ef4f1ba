package pld

import (
	"fmt"
	"math"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/numeric"
)

// exchangedGaussian returns the pair of a Poisson-sampled Gaussian under Replace. It depends on how long the vector of
// one unit may be.
func exchangedGaussian(g privacy.Gaussian, q float64) (pair, error) {
	if g.Clipped() {
		return replacedGaussian(q, 2*g.Sigma/g.Sensitivity)
	}
	if q < 1e-12 {
		return pair{}, fmt.Errorf("gaussian: sampling rate is %v, want at least 1e-12: %w", q, ErrNotCovered)
	}
	if g.Within() {
		return withinGaussian(q, g.Sensitivity/g.Sigma)
	}
	return revealedGaussian(q, g.Sensitivity/g.Sigma)
}

// revealedGaussian returns N(mu, 1) against N(0, 1) with probability q, and nothing else. It is the limit of a sampled
// release with vectors so long that the output shows whether the unit is in. By convexity of the divergence it
// dominates every sample: (1-q)N(0) + qN(a) against (1-q)N(0) + qN(b) for all a and b at most mu apart.
func revealedGaussian(q, mu float64) (pair, error) {
	x, err := gaussian(mu)
	if err != nil {
		return x, err
	}
	all := x.tails
	x.tails = func(l float64) edge {
		e := all(l)
		return edge{q * e.pBelow, q * e.pAbove, q * e.qBelow, q * e.qAbove}
	}
	for i := range x.nodes {
		x.nodes[i].p *= q
		x.nodes[i].q *= q
	}
	x.atoms = []atom{{0, 1 - q, 1 - q}}
	return x, nil
}

// subsetGaussian returns a pair that dominates a Gaussian release on a sample of fixed size without replacement, when
// one unit is exchanged. With e^eps = 1 + q (e^e - 1) any mechanism has
//
//	delta(eps) <= q delta_M(e)
//
// for eps >= 0 and both orders of the neighbours, where delta_M is that of the release on the sample (Balle, Barthe,
// Gaboardi, NeurIPS 2018, theorem 9; Zhu, Dong, Wang, AISTATS 2022, theorem 11). The curve below 0 follows from the
// exchanged order. withinGaussian has exactly that curve, and pairs that dominate compose (the same, theorem 10). The
// two halves must be in one pair: each alone, and the larger of them after composition, is not a bound (Lebeda, Regehr,
// Kamath, Steinke, "Avoiding pitfalls for privacy accounting of subsampled mechanisms under composition", SaTML 2025).
//
// Data in which all other units equal the exchanged one reach the half above 0, and give the lower bound.
func subsetGaussian(g privacy.Gaussian, q float64) (pair, error) {
	if q < 1e-12 {
		return pair{}, fmt.Errorf("gaussian: sampling rate is %v, want at least 1e-12: %w", q, ErrNotCovered)
	}
	x, err := withinGaussian(q, g.Sensitivity/g.Sigma)
	if err != nil {
		return x, err
	}
	reached, err := gaussian(g.Sensitivity / g.Sigma)
	if err != nil {
		return x, err
	}
	reached = reached.sampled(q)
	x.reached = &reached
	return x, nil
}

// withinGaussian returns a pair that dominates (1-q)N(0) + qN(a) against (1-q)N(0) + qN(b) for all a and b no longer
// than mu and at most mu apart. By advanced joint convexity (Balle, Barthe, Gaboardi, NeurIPS 2018,
// theorem 2), with e^eps = 1 + q (e^e - 1) and some weight w,
//
//	delta(eps) <= q ((1-w) delta_a(e) + w delta_(a-b)(e)) <= q delta_mu(e)
//
// where delta_d is that of N(d) against N(0). For eps >= 0 that is the curve of the mixture R =
// (1-q)N(0) + qN(mu) against N(0), and below 0 that of the exchanged pair. The pair that has both
// is symmetric. Where z is so large that R has more mass, at z > mu/2, it has the outputs (z, +)
// with the densities of R and N(0), and (z, -) with those exchanged. The mass that is missing to
// one lies in an atom at loss 0.
//
// With a at mu and b at 0 each half is reached by neighbours, but not both at once.
func withinGaussian(q, mu float64) (pair, error) {
	if _, err := gaussian(mu); err != nil { // checks the range
		return pair{}, err
	}
	up := func(z float64) float64 { return numeric.LogMixed(q, mu*(z-mu/2)) }
	down := func(l float64) float64 { return numeric.LogUnmixed(q, l)/mu + mu/2 }
	tail, rest := normalTails(-mu/2, 0, 1) // N(0) beyond mu/2, N(mu) beyond it
	more := (1-q)*tail + q*rest            // R beyond it
	half := func(l float64) edge {
		z := down(l)
		_, above := normalTails(z, 0, 1)
		belowP, aboveP := normalTails(z, mu, 1)
		return edge{
			pAbove: (1-q)*above + q*aboveP, qAbove: above,
			pBelow: (1-q)*(2*tail-above) + q*belowP, qBelow: more + (tail - above),
		}
	}
	top := up(mu + reach)
	y := pair{lo: -top, hi: top, max: math.Inf(1), min: math.Inf(-1), symmetric: true, unreached: true}
	y.tails = func(l float64) edge {
		if l >= 0 {
			return half(l)
		}
		e := half(-l)
		return edge{e.qAbove, e.qBelow, e.pAbove, e.pBelow}
	}
	zero := (1 - q) * math.Erf(mu/2/math.Sqrt2)
	y.atoms = []atom{{0, zero, zero}}
	right := trapezoid(mu/2, mu+15, min(0.25, 1/(3*mu)), func(z float64) atom {
		d := density(z)
		return atom{up(z), (1-q)*d + q*density(z-mu), d}
	})[1:] // the loss of the first is the atom's
	y.nodes = slices.Concat(swapped(right), right)
	return y, nil
}
