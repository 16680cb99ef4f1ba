package rdp

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"

	"privrec/internal/privacy/numeric"
)

// SampledGaussian returns the curve of a Gaussian release of noise multiplier s (noise over
// sensitivity) on a Poisson sample of rate q, for neighbours with and without one unit. It is exact
// to about 1e-13 at every real order. The direction of removal is the larger one (Mironov, Talwar,
// Zhang 2019, theorem 5). q is in [0, 1], s positive and finite.
//
// Between P, the mixture, and Q, the plain normal, with the loss L = log P/Q,
//
//	e^((alpha-1) D) - 1 = (alpha-1) KL(P,Q) + E_P[e^x - 1 - x],  x = (alpha-1) L,
//
// where no term is negative, so that nothing cancels for any small q and any alpha near 1. Both
// terms are integrals of functions that are analytic in a strip around the real line, for which the
// trapezoid rule converges exponentially: with t in units of s, the next singularity, 1+u = 0, is
// pi s away.
//
// Below s = 0.02, and beyond orders of 20000 s, the value is the upper bound alpha log(1 - q + q
// e^c), c = (alpha-1)/(2 s²), of Minkowski's inequality.
func SampledGaussian(q, s float64) (Curve, error) {
	if q == 0 && positive("", s) == nil {
		return Sum(), nil // no unit is ever in a sample
	}
	if err := errors.Join(fraction("sampling rate", q), positive("noise multiplier", s)); err != nil {
		return nil, err
	}
	if q == 1 {
		return Gaussian(s, 1)
	}
	return bounded(newMixture(q, s).at), nil
}

// RevealedGaussian returns the curve of a Gaussian release of noise multiplier s, noise over the
// distance of two units exchanged for one another, with an output that may show whether the unit is
// in the Poisson sample of rate q:
//
//	log(1 + q (e^(alpha (alpha-1)/(2 s²)) - 1))/(alpha-1)
//
// It is above the curve of every such release, with unit vectors of any length, as divergences are
// convex. q is in (0, 1], s positive and finite.
func RevealedGaussian(q, s float64) (Curve, error) {
	if err := errors.Join(fraction("sampling rate", q), positive("noise multiplier", s)); err != nil {
		return nil, err
	}
	return bounded(func(alpha float64) float64 {
		beta, c := alpha-1, alpha*(alpha-1)/(2*s*s)
		switch {
		case math.IsInf(alpha, 1):
			return alpha
		case beta == 0:
			return q / (2 * s * s)
		}
		return minkowski(q, math.Log(q), c) / beta
	}), nil
}

// reach is the number of standard deviations over which the normal density is integrated. The rest is below 1e-17.
const reach = 9

// mixture discretises the law of the loss of a sampled Gaussian.
type mixture struct {
	q, s, logQ float64
	step       float64 // between nodes, in standard deviations
	kl         float64
	grow       sync.Mutex
	table      atomic.Pointer[nodes]
}

// nodes holds the points of the trapezoid rule, from -reach on: the loss there, the logarithm of P's mass, and the mass
// itself.
type nodes struct{ loss, logMass, mass []float64 }

func newMixture(q, s float64) *mixture {
	m := &mixture{q: q, s: s, logQ: math.Log(q), step: 0.4 * math.Min(1, s)}
	m.table.Store(&nodes{})
	if s >= smallestNoise {
		m.upTo(m.end(1))
	}
	return m
}

const smallestNoise = 0.02

// at returns the divergence at an order of at least 1.
func (m *mixture) at(alpha float64) float64 {
	beta := alpha - 1
	c := beta / (2 * m.s * m.s)
	switch {
	case math.IsInf(alpha, 1):
		return alpha
	case m.logQ+c > 42:
		// The mixture's first component is below 1e-18 of the second everywhere that counts.
		return alpha / beta * (m.logQ + c)
	case m.s < smallestNoise || alpha > 20000*m.s:
		if beta == 0 {
			return m.q / (2 * m.s * m.s) // convexity of the divergence
		}
		return alpha / beta * minkowski(m.q, m.logQ, c)
	case beta == 0:
		return m.kl
	}
	t := m.upTo(m.end(alpha))
	if alpha*minkowski(m.q, m.logQ, c) > 600 {
		if big, ok := t.far(beta); ok {
			return big / beta
		}
	}
	return math.Log1p(beta*m.kl+t.excess(beta, m.bulk())) / beta
}

// end returns the place from which the integrand of an order is negligible. For small u it is like u², with a peak at
// 2/s. For large u it is like (1+u)^alpha, with a peak at alpha/s.
func (m *mixture) end(alpha float64) float64 { return reach + math.Max(alpha, 2)/m.s }

// minkowski returns log(1 - q + q e^c). Beyond 30 numeric.LogMixed may differ from it in the last place.
func minkowski(q, logQ, c float64) float64 {
	if c < 30 {
		return math.Log1p(q * math.Expm1(c))
	}
	return numeric.Log1pExp(logQ + numeric.LogExpm1(c))
}

// bulk returns the number of nodes within reach of the plain normal's centre.
func (m *mixture) bulk() int { return int(2*reach/m.step) + 1 }

// excess returns E_P[e^x - 1 - x] for x = beta times the loss. Nodes from bulk on count only if
// they can change the sum.
func (t nodes) excess(beta float64, bulk int) float64 {
	bulk = min(bulk, len(t.loss))
	sum := 0.0
	loss := t.loss[:bulk]
	logMass, mass := t.logMass[:len(loss)], t.mass[:len(loss)] // equal lengths let the compiler drop bounds checks
	for i, l := range loss {
		x := beta * l
		if x < 0.5 && x > -0.5 {
			sum += mass[i] * numeric.Expm1mxSeries(x)
		} else {
			sum += math.Exp(x+logMass[i]) - (1+x)*mass[i]
		}
	}
	cut := math.Log(sum) - 45
	for i := bulk; i < len(t.loss); i++ {
		x := beta * t.loss[i]
		if v := x + t.logMass[i]; v < cut {
			continue
		} else if x < 0.5 && x > -0.5 {
			sum += t.mass[i] * numeric.Expm1mxSeries(x)
		} else {
			sum += math.Exp(v) - (1+x)*t.mass[i]
		}
	}
	return sum
}

// far returns log E_P[e^x] for x so large that e^x may overflow. ok is false if it is small enough for excess.
func (t nodes) far(beta float64) (logSum float64, ok bool) {
	top := math.Inf(-1)
	for i, l := range t.loss {
		if v := beta*l + t.logMass[i]; v > top {
			top = v
		}
	}
	if top < 600 {
		return 0, false
	}
	sum := 0.0
	for i, l := range t.loss {
		if v := beta*l + t.logMass[i] - top; v > -45 {
			sum += math.Exp(v)
		}
	}
	return top + math.Log(sum), true
}

// upTo returns the nodes up to the given number of standard deviations, and makes the missing ones.
func (m *mixture) upTo(end float64) nodes {
	n := int(math.Ceil((end + reach) / m.step))
	if t := m.table.Load(); len(t.loss) >= n {
		return nodes{t.loss[:n], t.logMass[:n], t.mass[:n]}
	}
	m.grow.Lock()
	defer m.grow.Unlock()
	t := *m.table.Load()
	for size := max(n, 2*len(t.loss)); len(t.loss) < size; {
		m.add(&t)
	}
	m.table.Store(&t)
	return nodes{t.loss[:n], t.logMass[:n], t.mass[:n]}
}

// add appends the next node.
func (m *mixture) add(t *nodes) {
	x := float64(len(t.loss)-int(reach/m.step)) * m.step
	w := x/m.s - 1/(2*m.s*m.s)
	weight := -x*x/2 + math.Log(m.step/math.Sqrt(2*math.Pi))
	var u, l float64
	if m.logQ+w > 40 {
		u, l = math.Inf(1), m.logQ+w
	} else {
		u = m.q * math.Expm1(w)
		l = math.Log1p(u)
	}
	mass := math.Exp(weight + l)
	if len(t.loss) < int(math.Ceil((m.end(1)+reach)/m.step)) {
		// E_Q[(1+u) log(1+u) - u], the divergence without its linear term.
		if u < 1 {
			m.kl += math.Exp(weight) * ((1+u)*numeric.Log1pmx(u) + u*u)
		} else {
			m.kl += mass*(l-1) + math.Exp(weight)
		}
	}
	t.loss, t.logMass, t.mass = append(t.loss, l), append(t.logMass, weight+l), append(t.mass, mass)
}

// Poisson computes a bound on a mechanism that runs on a Poisson sample, for neighbours with and without one unit:
//
//	e^((n-1) D(n)) <= sum over k of C(n,k) (1-q)^(n-k) q^k e^((k-1) eps(k))
//
// for whole n. It is an equality in the direction of removal if Base is exact (Zhu and Wang, "Poisson subsampled Rényi
// differential privacy", ICML 2019, theorem 5 without its factor 3). That this direction is the larger one is proved
// for pairs of laws that a reflection exchanges (Mironov, Talwar, Zhang 2019, theorem 5): additive noise of an even
// density, such as Laplace and normal noise, continuous or on a grid. It does not hold for every mechanism.
type Poisson struct {
	Rate float64 // in (0, 1]
	Base Curve   // without sampling, of an additive mechanism with even noise
}

// Curve returns the bound, which is at most the curve of the mechanism without sampling.
func (p Poisson) Curve() (Curve, error) {
	if p.Base == nil {
		return nil, errors.New("no base curve")
	}
	if err := fraction("sampling rate", p.Rate); err != nil {
		return nil, err
	}
	if p.Rate == 1 {
		return p.Base, nil
	}
	in, out := math.Log(p.Rate), math.Log1p(-p.Rate)
	// The weights of all k sum to 1, so that 1 may be subtracted from every power.
	power := memo(func(k float64) float64 { return numeric.LogExpm1((k - 1) * p.Base(k)) })
	logs := memo(math.Log)
	return Min(p.Base, integers(func(n int) float64 {
		s, ways := newLogSum(), logs(n) // ways: log C(n,k), off by far less than 1
		for k := 2; k <= n; k++ {
			if n-k > 0 {
				ways += logs(n-k+1) - logs(k)
			} else {
				ways = 0
			}
			v := float64(k)*in + float64(n-k)*out + power(k)
			if v+ways < s.top-negligible-1 {
				continue
			}
			s.add(numeric.LogBinomial(n, k) + float64(k)*in + float64(n-k)*out + power(k))
		}
		return s.log1p()
	})), nil
}

// amplified returns the curve of an epsilon-DP mechanism on a sample: it is log(1 + q (e^epsilon -
// 1))-DP (Balle, Barthe, Gaboardi, NeurIPS 2018, theorems 8 and 9: Poisson with add-remove
// neighbours, without replacement with replace).
func amplified(q, epsilon float64) (Curve, error) {
	e := math.Log1p(q * math.Expm1(epsilon))
	if math.IsInf(e, 1) {
		e = minkowski(q, math.Log(q), epsilon)
	}
	if !(e > 0) {
		e = math.SmallestNonzeroFloat64
	}
	return PureDP(e)
}
