package calculator

import (
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/numeric"
)

// shuffledSource names the source of the lower bound for shuffled batches.
const shuffledSource = "lower bound: Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha, Zhang, ICML 2024, arXiv " +
	"2403.17673, by an event in every epoch; upper bound: no amplification"

// shuffledLower returns a lower bound of epsilon for shuffled batches, 0 if delta is asked for. One
// record is 1 and all others are -1, after Chua et al., "How private are DP-SGD implementations?".
// In units of the clipping norm the batch of that record is 2 above the others, and 1 above them if
// the record is blanked; an exchange for -1 leaves nothing above. An observer who only looks whether
// the largest of all T batches is at least c sees that with probability
//
//	p = 1 - Phi((c-2)/z) Phi(c/z)^(T-1),  q = 1 - Phi((c-1)/z) Phi(c/z)^(T-1)
//
// in an epoch; q has c in place of c-1 under replace. Epochs are independent, so that the number of
// epochs with such a batch is binomial, and its hockey-stick divergence is a lower bound of delta. The
// best c on a grid counts.
func (q *Question) shuffledLower() (float64, error) {
	if q.given("at-epsilon") || q.or("group", 1) > 1 {
		return 0, nil
	}
	z, delta, epochs := q.get("noise-multiplier"), q.get("delta"), q.get("epochs")
	batches := math.Ceil(q.get("records") / q.get("batch"))
	moved := 1.0
	if q.relation == privacy.Replace {
		moved = 0
	}
	if epochs > 1e4 {
		return 0, nil
	}
	best := 0.0
	for i := range 400 {
		if err := q.stopped(); err != nil {
			return 0, err
		}
		c := -2*z + float64(i)/400*(2+14*z)
		rest := (batches - 1) * math.Log1p(-numeric.Upper(c/z))
		event := func(mean float64) float64 {
			return -math.Expm1(rest + math.Log1p(-numeric.Upper((c-mean)/z)))
		}
		b := binomialPair{int(epochs), event(2) * (1 - 1e-9), event(moved)*(1+1e-9) + 1e-15}
		if !(b.q < b.p) || !(b.delta(best) > delta) {
			continue
		}
		over := func(eps float64) bool { return b.delta(eps) > delta }
		lo, hi := numeric.Double(best, best+1, 1e4, over)
		best, _ = numeric.Halve(50, lo, hi, over)
	}
	return best, nil
}

// binomialPair holds two binomial distributions of n draws.
type binomialPair struct {
	n    int
	p, q float64
}

// delta returns the hockey-stick divergence at epsilon, rounded down.
func (b binomialPair) delta(eps float64) float64 {
	if b.p >= 1 {
		b.p = 1 - 1e-16
	}
	sum := 0.0
	n, _ := math.Lgamma(float64(b.n) + 1)
	for k := 0; k <= b.n; k++ {
		x, y := float64(k), float64(b.n-k)
		u, _ := math.Lgamma(x + 1)
		v, _ := math.Lgamma(y + 1)
		logP := n - u - v + x*math.Log(b.p) + y*math.Log1p(-b.p)
		logQ := n - u - v + x*math.Log(b.q) + y*math.Log1p(-b.q)
		if logP > eps+logQ {
			sum += -math.Exp(logP) * math.Expm1(eps+logQ-logP)
		}
	}
	return sum * (1 - 1e-9)
}
