package terms

import (
	"math"

	"privrec/internal/privacy"
)

// Constants for continuous.
const (
	// spread is the variance, in squared steps, that the rounding in the proof of continuous takes from a normal law.
	spread = 8
	// leastSigma is the smallest sigma, in steps, for which continuous replaces a discrete law. There the noise is
	// priced as if it were 0.1 % smaller.
	leastSigma = 64
)

// continuous returns a normal release that is at most as private as the discrete normal release e. So its price bounds
// that of e in every dimension, under every sampling and in every adaptive composition, for any accountant. Its sigma
// is sqrt(Sigma² - 8) steps. ok is false for other events, for a sigma below 64 steps, and in one dimension, where the
// discrete law has an exact price.
//
// Proof. Let rho_s(x) = exp(-x²/(2s²)), s² = 8 and t² = Sigma² - s². Take z of the law N(a, t²) in every coordinate, a
// being integer, and round it at random: k with probability rho_s(k-z) / sum_j rho_s(j-z). By Poisson's summation
// formula the sum over all integers j is s sqrt(2 pi) (1 + eta), |eta| <= e = 2.1 exp(-2 pi² s²) < 1e-68, for every z.
// So k has a probability within a factor (1±e)^-1 of the integral of the densities of N(a, t²) at z and N(z, s²) at k,
// which is the density of N(a, Sigma²) at k. The discrete law at k is that density too, but for its own sum, again
// within a factor of 1±e. Hence the discrete law and the rounded normal one are within a factor of exp(3e) of each
// other at every point, and within exp(3 e d) in d coordinates.
//
// Rounding does not look at data. It is post-processing of a release of N(a, t²), also where a is a sum over a secret
// sample, and where it depends on releases before. Sampling mixes laws, and a mixture keeps the factor; a composition
// of T releases has the product of T factors. So whatever (epsilon, delta) the composition of the normal releases has,
// that of the discrete ones has (epsilon + 2x, delta exp(x)) with x = 3 e d T. For d <= 2^50 and T <= 2^63 x is below
// 1e-33, which is less than any accountant rounds up by: results are raised by units of their last place, 1e-16.
func continuous(e privacy.Event) (normal privacy.Event, ok bool) {
	l, ok := privacy.LawOf(e).(privacy.DiscreteGaussian)
	if !ok || l.OnLine() || !(l.Sigma >= leastSigma) || l.Dimension > 1<<50 {
		return e, false
	}
	about, known := privacy.About(e)
	if !known {
		return e, false
	}
	sigma := l.Sigma * math.Sqrt(1-spread/l.Sigma/l.Sigma) * (1 - 0x1p-50) // rounded down
	return l.Normal(sigma).Group(1, about), true
}

// OnSamples returns an event with its discrete normal releases on samples replaced by normal ones that cost no less,
// for every subject and sampling: see continuous. A sample of rate 1 counts as a sample too: a run with releases over
// samples and over all records states both as samples, and has one account. Releases under Replace stay as they are,
// since the bounds on their samples need more than a distance.
func OnSamples(e privacy.Event) privacy.Event { return onSamples(e, false) }

func onSamples(e privacy.Event, sampled bool) privacy.Event {
	if e == nil {
		return nil
	}
	form := e.Form()
	sampled = sampled || form.Way == privacy.OnSample
	inner := form.Events
	if form.Event != nil {
		inner = []privacy.Event{form.Event}
	}
	if len(inner) == 0 {
		if s, ok := privacy.About(e); !sampled || !ok || s.Neighbouring == privacy.Replace {
			return e
		}
		n, _ := continuous(e)
		return n
	}
	list := make([]privacy.Event, len(inner))
	for i, x := range inner {
		list[i] = onSamples(x, sampled)
	}
	return privacy.WithEvents(e, list...)
}
