package rdp

import (
	"errors"
	"math"
	"sync"
)

// SampledGroup returns the curve of a Gaussian release of noise multiplier s, noise over the sensitivity of one unit,
// on a Poisson sample of rate q, for neighbours with and without k units. The number J of these units in the sample is
// Binomial(k, q), and at worst all move the release the same way (Ganesh, "Tight group-level DP guarantees for DP-SGD
// with sampling via mixture of Gaussians", 2024):
//
//	P = sum_j Pr[J = j] N(j, s²),  Q = N(0, s²)
//
// The value is the larger of both directions, by the trapezoid rule, which converges exponentially for functions as
// smooth as these. Orders so large that the integral would have more than groupNodes nodes are not computed: there the
// curve is +Inf.
func SampledGroup(q, s float64, k int64) (Curve, error) {
	if q == 0 && positive("", s) == nil && k >= 1 {
		return Sum(), nil // no unit is ever in a sample
	}
	if err := errors.Join(fraction("sampling rate", q), positive("noise multiplier", s),
		atLeast("group", k, 1)); err != nil {
		return nil, err
	}
	if q == 1 {
		return Gaussian(s, float64(k))
	}
	return bounded(newGroup(q, s, k).at), nil
}

// groupNodes bounds the nodes of one integral.
const groupNodes = 1 << 14

// group holds the pair of laws of a sampled group, in units of s.
type group struct {
	logShare []float64 // log Pr[J = j]
	s        float64
	step     float64

	mu     sync.Mutex
	losses []float64 // at the first nodes; they are those of every order
}

func newGroup(q, s float64, k int64) *group {
	g := &group{logShare: make([]float64, k+1), s: s, step: 0.2 * math.Min(1, s)}
	n, _ := math.Lgamma(float64(k) + 1)
	for j := range g.logShare {
		a, _ := math.Lgamma(float64(j) + 1)
		b, _ := math.Lgamma(float64(k) - float64(j) + 1)
		g.logShare[j] = n - a - b + float64(j)*math.Log(q) + float64(k-int64(j))*math.Log1p(-q)
	}
	return g
}

// loss returns log P/Q at the output t s.
func (g *group) loss(t float64) float64 {
	sum := newLogSum()
	for j, share := range g.logShare {
		m := float64(j) / g.s
		sum.add(share + m*t - m*m/2)
	}
	return sum.log()
}

// node returns the output of a node, in units of s.
func (g *group) node(i int) float64 { return -2*reach + float64(i)*g.step }

// upTo returns the losses at the first n nodes, and makes the missing ones.
func (g *group) upTo(n int) []float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := len(g.losses); i < n; i++ {
		g.losses = append(g.losses, g.loss(g.node(i)))
	}
	return g.losses[:n]
}

// at returns the divergence at an order of at least 1.
func (g *group) at(alpha float64) float64 {
	if math.IsInf(alpha, 1) {
		return alpha
	}
	// The integrand of P^alpha Q^(1-alpha) has its last peak at alpha k/s; that of P^(1-alpha) Q^alpha falls faster
	// than Q.
	end := 2*reach + math.Max(alpha, 1)*float64(len(g.logShare)-1)/g.s
	nodes := int(math.Ceil((2*reach + end) / g.step))
	if nodes > groupNodes {
		return math.Inf(1)
	}
	removal, addition := newLogSum(), newLogSum()
	kl, back := 0.0, 0.0
	for i, l := range g.upTo(nodes) {
		t := g.node(i)
		mass := math.Log(g.step) - t*t/2 - math.Log(2*math.Pi)/2
		if alpha == 1 {
			kl += math.Exp(mass+l) * l
			back -= math.Exp(mass) * l
			continue
		}
		removal.add(mass + alpha*l)
		addition.add(mass + (1-alpha)*l)
	}
	if alpha == 1 {
		return math.Max(kl, back)
	}
	return math.Max(removal.log(), addition.log()) / (alpha - 1)
}
