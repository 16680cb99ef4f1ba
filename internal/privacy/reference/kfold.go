package reference

import (
	"math"
	"slices"

	"privrec/internal/privacy/binomial"
)

// Guarantee stands for Count mechanisms that are (Epsilon, Delta)-DP each.
type Guarantee struct {
	Epsilon float64
	Delta   float64 // 0 is pure
	Count   int64   // at least 1
}

// KFoldDelta returns the smallest delta such that any adaptive composition of the parts is (epsilon, delta)-DP: the
// optimal composition theorem (Kairouz, Oh, Viswanath, "The composition theorem for differential privacy", ICML 2015,
// theorem 3.3; Murtagh and Vadhan, "The complexity of computing the optimal composition of differential privacy", TCC
// 2016, for unlike parts). With L the sum of the log-ratios of randomized responses of the parts' epsilons it is
//
//	1 - prod (1-delta_i)^k_i (1 - E[(1 - e^(epsilon-L))+])
//
// The result is accurate relative to itself. Unlike epsilons take a sum over the outcomes of all except one.
func KFoldDelta(parts []Guarantee, epsilon float64) float64 { return newKFold(parts).delta(epsilon) }

// KFoldEpsilon returns the smallest epsilon >= 0 at which KFoldDelta is at most delta, rounded up. It is infinite if
// the parts' own deltas are more already.
func KFoldEpsilon(parts []Guarantee, delta float64) float64 {
	c := newKFold(parts)
	switch {
	case c.broken > delta:
		return math.Inf(1)
	case c.delta(0) <= delta:
		return 0
	}
	lo, hi := 0.0, c.sum
	for {
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			return hi
		}
		if c.delta(mid) > delta {
			lo = mid
		} else {
			hi = mid
		}
	}
}

// kfold holds a composition with its terms merged by epsilon.
type kfold struct {
	broken float64   // probability that some term fails altogether
	sum    float64   // of the epsilons
	last   responses // the one with the most outcomes
	others []responses
}

// responses holds count randomized responses of one epsilon.
type responses struct {
	epsilon float64
	law     binomial.Law // of the number of true answers
}

// loss returns the log-ratio if n answers are true.
func (g responses) loss(n int64) float64 { return float64(2*n-g.law.N) * g.epsilon }

func newKFold(parts []Guarantee) kfold {
	counts, held := map[float64]int64{}, 0.0
	for _, p := range parts {
		held += float64(p.Count) * math.Log1p(-p.Delta)
		if p.Epsilon > 0 {
			counts[p.Epsilon] += p.Count
		}
	}
	c := kfold{broken: -math.Expm1(held)}
	for epsilon, n := range counts {
		c.sum += float64(n) * epsilon
		c.others = append(c.others, responses{epsilon, binomial.FromLogit(n, epsilon)})
	}
	slices.SortFunc(c.others, func(a, b responses) int {
		if a.law.N != b.law.N {
			return int(max(-1, min(1, a.law.N-b.law.N)))
		}
		if a.epsilon < b.epsilon {
			return -1
		}
		return 1
	})
	if n := len(c.others); n > 0 {
		c.last, c.others = c.others[n-1], c.others[:n-1]
	}
	return c
}

func (c kfold) delta(epsilon float64) float64 {
	return math.Min(1, c.broken+(1-c.broken)*c.hockeyStick(c.others, epsilon))
}

// hockeyStick returns E[(1-e^(epsilon-L))+] for the loss L of the given groups together with the last one.
func (c kfold) hockeyStick(others []responses, epsilon float64) float64 {
	if len(others) == 0 {
		return c.last.hockeyStick(epsilon)
	}
	g, sum := others[0], 0.0
	for n := range g.law.N + 1 {
		if p := math.Exp(g.law.LogPMF(n)); p > 0 {
			sum += p * c.hockeyStick(others[1:], epsilon-g.loss(n))
		}
	}
	return sum
}

// hockeyStick returns E[(1-e^(epsilon-L))+] for the loss L of the group, at any real epsilon. It is a
// sum of positive terms that starts at the largest mass among them and goes up and down.
func (g responses) hockeyStick(epsilon float64) float64 {
	k := g.law.N
	if k == 0 {
		return math.Max(0, -math.Expm1(epsilon))
	}
	// The first n with a loss above epsilon. Rounding may give one term more or
	// less, whose gain is next to zero.
	first := math.Floor((epsilon/g.epsilon+float64(k))/2) + 1
	if first > float64(k) {
		return 0
	}
	from := int64(math.Max(0, first))
	start := min(k, max(from, int64(float64(k)*g.law.P)))
	gain := func(n int64) float64 { return math.Max(0, -math.Expm1(epsilon-g.loss(n))) }
	odds, sum := g.law.P/g.law.Q, gain(start)
	mass := 1.0
	for n := start; n < k; n++ {
		ratio := float64(k-n) / float64(n+1) * odds
		mass *= ratio
		sum += mass * gain(n+1)
		if mass*ratio < 0x1p-60*sum*(1-ratio) { // gains are at most 1, ratios fall
			break
		}
	}
	mass = 1.0
	for n := start; n > from; n-- {
		ratio := float64(n) / float64(k-n+1) / odds
		mass *= ratio
		sum += mass * gain(n-1)
		if mass*ratio < 0x1p-60*sum*(1-ratio) {
			break
		}
	}
	if sum == 0 {
		return 0
	}
	return math.Exp(g.law.LogPMF(start) + math.Log(sum))
}
