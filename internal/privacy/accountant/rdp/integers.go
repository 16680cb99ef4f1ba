package rdp

import (
	"math"
	"sync"

	"privrec/internal/privacy/numeric"
)

// maxOrder is the largest whole order for which finite sums are computed. Beyond it the bound counts as unknown.
const maxOrder = 1 << 14

// integers returns the curve of a bound on the cumulant (n-1) D(n) at whole orders n >= 2. Cumulants are convex in the
// order and 0 at order 1, so between whole orders the straight line is a bound. Each order is computed once.
func integers(cumulant func(n int) float64) Curve {
	var mu sync.Mutex
	known := map[int]float64{1: 0}
	at := func(n int) float64 {
		mu.Lock()
		defer mu.Unlock()
		v, ok := known[n]
		if !ok {
			v = cumulant(n)
			known[n] = v
		}
		return v
	}
	return bounded(func(alpha float64) float64 {
		switch {
		case alpha <= 2: // the line from 0 has the slope of the bound at 2
			return at(2)
		case !(alpha <= maxOrder):
			return math.Inf(1)
		}
		n := math.Floor(alpha)
		low := at(int(n))
		if alpha == n {
			return low / (n - 1)
		}
		t := alpha - n
		return ((1-t)*low + t*at(int(n)+1)) / (alpha - 1)
	})
}

// memo returns a function of a curve's values at whole orders from 2, each computed once. Only
// integers calls it, under its lock.
func memo(c Curve) func(n int) float64 {
	var known []float64
	return func(n int) float64 {
		for len(known) <= n-2 {
			known = append(known, c(float64(len(known)+2)))
		}
		return known[n-2]
	}
}

// negligible is the distance below the largest addend, in logarithms, from which an addend leaves a sum as it is, to
// the last bit: e^-40 is below a twentieth of the rounding of 1.
const negligible = 40

// logSum sums numbers given by their logarithms.
type logSum struct{ top, sum float64 }

func newLogSum() logSum { return logSum{top: math.Inf(-1)} }

func (s *logSum) add(v float64) {
	switch {
	case v <= s.top-negligible || math.IsInf(v, -1):
	case v <= s.top:
		s.sum += math.Exp(v - s.top)
	default:
		s.sum = s.sum*math.Exp(s.top-v) + 1
		s.top = v
	}
}

// log returns the logarithm of the sum.
func (s *logSum) log() float64 {
	if math.IsInf(s.top, 0) {
		return s.top
	}
	return s.top + math.Log(s.sum)
}

// log1p returns the logarithm of 1 plus the sum.
func (s *logSum) log1p() float64 { return numeric.Log1pExp(s.log()) }
