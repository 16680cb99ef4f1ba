package pld

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// mostGroup is the size of the largest group that has a pair.
const mostGroup = 1 << 10

// groupGaussian returns the pair of a group of units that a Poisson sample draws independently. The number J of these
// units in the sample is Binomial(k, q), and at worst all move the release the same way (Ganesh, "Tight group-level DP
// guarantees for DP-SGD with sampling via mixture of Gaussians", arXiv 2401.10294, Poisson sampling):
//
//	P = sum_j Pr[J = j] N(j mu, 1),  Q = N(0, 1)
//
// The loss rises with the output, so that its distribution functions are those of normal laws.
func groupGaussian(t terms.Term, g privacy.Gaussian) (pair, error) {
	mu, q, k := g.Sensitivity/g.Sigma, t.Rate, t.Group
	if t.Relation == privacy.Replace || t.Rate < 1 && t.Method != privacy.Poisson {
		return pair{}, fmt.Errorf("gaussian of a group of %d, sampled by %q under %s: %w", k, string(t.Method),
			t.Relation, ErrNotCovered)
	}
	if q == 1 {
		return gaussian(float64(k) * mu)
	}
	if k > mostGroup || q < 1e-12 || !(mu >= 1e-8 && float64(k)*mu <= mostRatio) {
		return pair{}, fmt.Errorf("gaussian of a group of %d with sensitivity over sigma %v on samples of rate %v, "+
			"want at most %d of them and %d in all: %w", k, mu, q, mostGroup, mostRatio, ErrNotCovered)
	}
	m := newMixture(q, mu, k)
	far := float64(k) * mu
	from, to := -reach, far+reach
	x := pair{lo: m.loss(from), hi: m.loss(to), max: math.Inf(1), min: m.logShare[0]}
	x.tails = func(l float64) (e edge) {
		z := m.at(l, from, to)
		e.qBelow, e.qAbove = normalTails(z, 0, 1)
		for j, w := range m.share {
			below, above := normalTails(z, float64(j)*mu, 1)
			e.pBelow += w * below
			e.pAbove += w * above
		}
		return e
	}
	x.nodes = trapezoid(-15, far+15, min(0.25, 1/(3*mu)), func(z float64) atom {
		p := 0.0
		for j, w := range m.share {
			p += w * density(z-float64(j)*mu)
		}
		return atom{m.loss(z), p, density(z)}
	})
	return x, nil
}

// mixture is a binomial mixture of normal laws mu apart.
type mixture struct {
	mu              float64
	share, logShare []float64 // Pr[J = j], and its logarithm
}

func newMixture(q, mu float64, k int64) mixture {
	m := mixture{mu: mu, share: make([]float64, k+1), logShare: make([]float64, k+1)}
	// Ratios of neighbouring shares, from the most probable number down both ways: at most a few units
	// of rounding for each step. Logarithms of factorials would lose their size.
	mode := min(int(float64(k+1)*q), int(k))
	odds := q / (1 - q)
	m.share[mode] = 1
	sum := 1.0
	for j := mode + 1; j <= int(k); j++ {
		m.share[j] = m.share[j-1] * (odds * float64(int(k)-j+1) / float64(j))
		sum += m.share[j]
	}
	for j := mode - 1; j >= 0; j-- {
		m.share[j] = m.share[j+1] * (float64(j+1) / (odds * float64(int(k)-j)))
		sum += m.share[j]
	}
	for j := range m.share {
		m.share[j] /= sum
		m.logShare[j] = math.Log(m.share[j])
	}
	return m
}

// loss returns log sum_j Pr[J = j] exp(j mu z - (j mu)²/2), which rises with z.
func (m mixture) loss(z float64) float64 {
	l, _ := m.slope(z)
	return l
}

// slope returns the loss at an output and its derivative, the mean of j mu.
func (m mixture) slope(z float64) (loss, slope float64) {
	top := math.Inf(-1)
	for j, l := range m.logShare {
		d := float64(j) * m.mu
		top = max(top, l+d*(z-d/2))
	}
	sum, mean := 0.0, 0.0
	for j, l := range m.logShare {
		d := float64(j) * m.mu
		if e := l + d*(z-d/2) - top; e > -60 {
			w := math.Exp(e)
			sum += w
			mean += w * d
		}
	}
	return top + math.Log(sum), mean / sum
}

// at returns the output with the given loss, between two outputs. The loss is convex, so Newton's method approaches it
// from above; a step that leaves the bracket is replaced by halving it.
func (m mixture) at(loss, from, to float64) float64 {
	z := to
	for range 200 {
		l, slope := m.slope(z)
		if l < loss {
			from = z
		} else {
			to = z
		}
		next := z - (l-loss)/slope
		if !(next > from && next < to) {
			next = from + (to-from)/2
		}
		if math.Abs(next-z) <= 1e-15*(1+math.Abs(z)) || next == z {
			return next
		}
		z = next
	}
	return z
}
