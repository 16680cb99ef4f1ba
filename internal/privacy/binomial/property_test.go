package binomial

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawLaw(t *rapid.T, most int64) Law {
	return FromLogit(rapid.Int64Range(1, most).Draw(t, "trials"), rapid.Float64Range(-12, 12).Draw(t, "logit"))
}

// Masses add up to one and have the mean and the variance of the law; tails are
// their sums from either side.
func TestMassesAreALaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t, 400)
		n := float64(l.N)
		var sum, mean, square float64
		for k := int64(0); k <= l.N; k++ {
			p, d := math.Exp(l.LogPMF(k)), float64(k)-n*l.P
			sum += p
			mean += p * d
			square += p * d * d
			if low := l.Lower(k); math.Abs(low-sum) > 1e-13 {
				t.Fatalf("%+v: at most %d with probability %v, the masses add up to %v", l, k, low, sum)
			}
			if high := l.Upper(k); math.Abs(high-(1-sum+p)) > 1e-13 {
				t.Fatalf("%+v: at least %d with probability %v, without the masses below %v", l, k, high, 1-sum+p)
			}
		}
		if v := n * l.P * l.Q; math.Abs(sum-1) > 1e-13 || math.Abs(mean) > 1e-12*(1+n) || math.Abs(square-v) > 1e-12*(1+n*n) {
			t.Fatalf("%+v: mass %v, mean off by %v, variance %v, want %v", l, sum, mean, square, v)
		}
	})
}

// Successes of one law are failures of its mirror; tails fall with k and grow with
// the probability; the logarithm is that of the tail. Nothing is NaN.
func TestTailsAreInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLaw(t, 1_000_000)
		k := rapid.Int64Range(-1, l.N+1).Draw(t, "k")
		m := Law{l.N, l.Q, l.P}
		if a, b := l.Upper(k), m.Lower(l.N-k); a != b {
			t.Fatalf("%+v, %d: %v above, %v below in the mirror", l, k, a, b)
		}
		if a, b := l.LogPMF(k), m.LogPMF(l.N-k); a != b && math.Abs(a-b) > 1e-12*(1+math.Abs(a)) {
			t.Fatalf("%+v, %d: log mass %v, %v in the mirror", l, k, a, b)
		}
		up, next := l.Upper(k), l.Upper(k+1)
		if !(up >= next*(1-1e-12) && up <= 1 && next >= 0) {
			t.Fatalf("%+v: %v from %d on, %v from the next", l, up, k, next)
		}
		likelier := FromLogit(l.N, math.Log(l.P/l.Q)+0.1)
		if more := likelier.Upper(k); !(more >= up*(1-1e-9)) {
			t.Fatalf("%+v, %d: %v, and %v at better odds", l, k, up, more)
		}
		if log := l.LogUpper(k); up > 1e-300 && math.Abs(log-math.Log(up)) > 1e-11 || math.IsNaN(log) || log > 0 {
			t.Fatalf("%+v, %d: log tail %v, tail %v", l, k, log, up)
		}
	})
}
