package rdp

import (
	"fmt"
	"math"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/allocation"
	"privrec/internal/privacy/numeric"
)

// Allocated implements privacy.Pricer.
func (l *leaf) Allocated(e privacy.AllocatedGaussian) (err error) {
	l.curve, err = Allocated(e.Sigma, e.Sensitivity, e.Times, e.Steps)
	return err
}

// Allocated returns the curve of normal noise on a unit that is in times of the given steps, drawn at random, for both
// directions of AddRemove. For one step of t it is, with m the sensitivity over sigma and R the likelihood ratio of
// package allocation, the larger of
//
//   - removed: E[R^a], at whole orders a the exact t^-a a! [z^a] (sum_j z^j/j! exp((j²-j) m²/2))^t (Feldman, Shenfeld
//     2025, theorem 4.6); between them its logarithm is convex, so that a chord bounds it;
//   - added: E[R^(1-a)], by the bound of the law of R, which is convex in R.
//
// A unit in several steps costs what one in one step of each block of steps does (see pld). No curve is above that of
// an observer who knows the steps.
func Allocated(sigma, sensitivity float64, times, steps int64) (Curve, error) {
	whole, err := Gaussian(sigma, math.Sqrt(float64(times))*sensitivity)
	if err != nil {
		return nil, err
	}
	if times < 1 || times > steps {
		return nil, fmt.Errorf("times is %d, want from 1 to steps, %d", times, steps)
	}
	var blocks []Curve
	for _, b := range allocation.Blocks(times, steps) {
		c, err := allocatedOnce(sensitivity/sigma, b.Steps)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, Times(c, b.Count))
	}
	return Min(Sum(blocks...), whole), nil
}

// allocatedOnce returns the curve of a unit in one of t steps, for a sensitivity of m standard deviations. Beyond
// mostAllocatedOrder it is infinite.
func allocatedOnce(m float64, t int64) (Curve, error) {
	above, _, err := allocation.Bounds(m, t)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", err, ErrNotCovered)
	}
	moments := sync.OnceValue(func() []float64 { return allocatedMoments(m, t) })
	return bounded(func(alpha float64) float64 {
		if !(alpha <= mostAllocatedOrder) {
			return math.Inf(1)
		}
		logs := moments()
		low := math.Floor(alpha)
		removed := logs[int(low)]
		if part := alpha - low; part > 0 {
			removed += part * (logs[int(low)+1] - removed)
		}
		if alpha < 2 { // a chord from order 1, where the logarithm is 0
			return math.Max(logs[2], addedMoment(above, m, t, 2))
		}
		return math.Max(removed, addedMoment(above, m, t, alpha)) / (alpha - 1)
	}), nil
}

// mostAllocatedOrder is the largest order at which an allocation has a curve of its own.
const mostAllocatedOrder = 256

// allocatedMoments returns bounds of the logarithms of E[R^a] for the whole orders a up to mostAllocatedOrder + 1, from
// 0. Nothing is subtracted but in logarithms, and what these may have lost is added.
func allocatedMoments(m float64, t int64) []float64 {
	const n = mostAllocatedOrder + 1
	factorial := make([]float64, n+1)
	one := make([]float64, n+1) // logarithms of the coefficients of the power series of one step
	for j := range one {
		x := float64(j)
		if j > 0 {
			factorial[j] = factorial[j-1] + math.Log(x)
		}
		one[j] = (x*x-x)*m*m/2 - factorial[j]
	}
	out := make([]float64, n+1)
	if t < n {
		all := seriesPower(one, t)
		for a := 2; a <= n; a++ {
			out[a] = all[a] + factorial[a] - float64(a)*math.Log(float64(t))
			out[a] = max(0, out[a]) + 1e-12*(float64(t)+math.Abs(all[a]))
		}
		return out
	}
	// The coefficients h of a power t of a series g with g_0 = 1 are h_a = 1/a sum_k (k(t+1) - a) g_k h_(a-k). Up to
	// a = t all terms are positive.
	logT := math.Log(float64(t))
	for a := 2; a <= n; a++ {
		sum := newLogSum()
		for k := 1; k <= a; k++ {
			share := (float64(k)*float64(t+1) - float64(a)) / float64(a)
			sum.add(math.Log(share) + factorial[a] - factorial[a-k] + one[k] - float64(k)*logT + out[a-k])
		}
		out[a] = max(0, sum.log()) + 1e-14*float64(a)
	}
	return out
}

// seriesPower returns the logarithms of the coefficients of a power series to the power t, from those of the series.
func seriesPower(one []float64, t int64) []float64 {
	product := func(a, b []float64) []float64 {
		out := make([]float64, len(one))
		for k := range out {
			sum := newLogSum()
			for j := range k + 1 {
				sum.add(a[j] + b[k-j])
			}
			out[k] = sum.log()
		}
		return out
	}
	var all []float64
	for square := one; ; square = product(square, square) {
		if t&1 == 1 {
			if all == nil {
				all = square
			} else {
				all = product(all, square)
			}
		}
		if t >>= 1; t == 0 {
			return all
		}
	}
}

// addedMoment returns the logarithm of a bound of E[R^(1-alpha)]. What lies at no point of the law counts by the
// inequality of Cauchy and Schwarz, and R is at least the geometric mean of its summands.
func addedMoment(above allocation.Law, m float64, t int64, alpha float64) float64 {
	b := alpha - 1
	sum := 0.0
	for i, r := range above.Ratio {
		sum += above.Mass[i] * math.Exp(-b*math.Log(r))
	}
	missing := (b*m*m + 2*b*b*m*m/float64(t) + math.Log(above.MissingWithout)) / 2
	return numeric.LogAdd(math.Log(sum*(1+above.Rounding)), missing)
}
