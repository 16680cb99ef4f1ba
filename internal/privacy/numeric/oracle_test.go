package numeric

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// wide is arithmetic of 600 bits, in which series may cancel as they like.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(600).SetFloat64(x) }

func mul(x, y *big.Float) *big.Float { return wide(0).Mul(x, y) }

// bigExp is e^x by halving the argument and squaring the series.
func bigExp(x *big.Float) *big.Float {
	small := wide(0).SetMantExp(x, -20)
	sum, term := wide(1), wide(1)
	for k := 1.0; k < 60; k++ {
		term = wide(0).Quo(mul(term, small), wide(k))
		sum.Add(sum, term)
	}
	for range 20 {
		sum = mul(sum, sum)
	}
	return sum
}

// bigLog is log of a positive number, correct to a float64, by Newton's method.
func bigLog(x *big.Float) float64 {
	mant := new(big.Float)
	e := x.MantExp(mant)
	m, _ := mant.Float64()
	at := wide(float64(e)*math.Ln2 + math.Log(m))
	for range 4 { // y + 2 (x - e^y)/(x + e^y)
		p := bigExp(at)
		step := wide(0).Quo(wide(0).Sub(x, p), wide(0).Add(x, p))
		at.Add(at, step.Add(step, step))
	}
	v, _ := at.Float64()
	return v
}

// bigPhi is the probability of a standard normal up to x, by the series
// 1/2 + phi(x) (x + x³/3 + x⁵/15 + ...), whose terms all have one sign.
func bigPhi(x *big.Float) *big.Float {
	square := mul(x, x)
	term, sum := wide(0).Copy(x), wide(0).Copy(x)
	for k := 3.0; k < 1500; k += 2 {
		term = wide(0).Quo(mul(term, square), wide(k))
		sum.Add(sum, term)
	}
	density := bigExp(mul(square, wide(-0.5)))
	pi, _, _ := big.ParseFloat("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651328230664709384460955058223172535940812848111745028410270193852110555964462294895493038196", 10, 600, big.ToNearestEven)
	density.Quo(density, wide(0).Sqrt(mul(pi, wide(2))))
	return sum.Add(mul(sum, density), wide(0.5))
}

// The tails against the series, over the whole range where it is one.
func TestTailsAgainstSeries(t *testing.T) {
	for x := -11.; x < 13; x += 0.37 {
		want := bigLog(bigPhi(wide(-x)))
		got := math.Log(Upper(x))
		if x < -1 {
			got = math.Log1p(-Upper(-x))
		}
		near(t, fmt.Sprintf("log Upper(%v)", x), got, want, 5e-16*(1+math.Max(0, -x)*math.Max(0, -x)))
		if x > -0.25 {
			q := bigPhi(wide(-x))
			near(t, fmt.Sprintf("log Mills(%v)", x), math.Log(Mills(x))+LogPhi(x), bigLog(q), 1e-14)
		}
	}
}

// bigDelta is log delta of a mu-Gaussian-DP release as its theorem states it:
// the difference of two probabilities, one of them times e^epsilon.
func bigDelta(mu, eps float64) float64 {
	m, e := wide(mu), wide(eps)
	half, ratio := mul(m, wide(0.5)), wide(0).Quo(e, m)
	first := bigPhi(wide(0).Sub(half, ratio))
	second := bigPhi(wide(0).Neg(wide(0).Add(half, ratio)))
	return bigLog(first.Sub(first, second.Mul(second, bigExp(e))))
}

// The Gaussian's curve against its own statement, where that has digits left in 600
// bits; and statements that look like it are told apart.
func TestGaussianCurveAgainstItsStatement(t *testing.T) {
	for _, mu := range []float64{1e-6, 0.01, 0.3, 0.499, 0.501, 1, 4, 9} {
		for _, z := range []float64{0, 0.1, 1, 3, 8} { // epsilon = mu²/2 + z mu and 0
			eps := math.Max(0, z*mu+mu*mu/2-0.2*mu)
			want := bigDelta(mu, eps)
			near(t, fmt.Sprintf("GaussianLogDelta(%v, %v)", mu, eps), GaussianLogDelta(mu, eps), want, 5e-14)
			for name, wrong := range map[string][2]float64{
				"the variance for the deviation": {mu * mu, eps}, "half the move": {mu / 2, eps}, "epsilon squared": {mu, eps * eps},
			} {
				if wrong == [2]float64{mu, eps} || wrong[1]/wrong[0]+wrong[0]/2 > 15 { // the same, or beyond the series
					continue
				}
				if math.Abs(GaussianLogDelta(mu, eps)-bigDelta(wrong[0], wrong[1])) < 1e-9*math.Abs(want) {
					t.Errorf("mu %v at %v: %s is not seen", mu, eps, name)
				}
			}
		}
	}
}

// More signal and less epsilon mean more delta; delta is a probability, convex in
// e^epsilon, and the total variation at 0.
func TestGaussianCurveLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Exp(rapid.Float64Range(-12, 5).Draw(t, "log mu"))
		eps := mu * rapid.Float64Range(0, 30).Draw(t, "epsilon/mu")
		v := GaussianLogDelta(mu, eps)
		slack := 1e-12 * (1 + math.Abs(v))
		if !(v <= 0) || GaussianLogDelta(mu*1.01, eps) < v-slack || GaussianLogDelta(mu, eps*1.01) > v+slack {
			t.Fatalf("mu %v at %v: %v, more signal %v, more epsilon %v", mu, eps, v, GaussianLogDelta(mu*1.01, eps), GaussianLogDelta(mu, eps*1.01))
		}
		if tv := math.Erf(mu / 2 / math.Sqrt2); math.Abs(math.Exp(GaussianLogDelta(mu, 0))/tv-1) > 1e-12 {
			t.Fatalf("mu %v: %v at 0, total variation %v", mu, math.Exp(GaussianLogDelta(mu, 0)), tv)
		}
		if chernoff := -math.Pow(math.Max(0, eps-mu*mu/2), 2) / (2 * mu * mu); v > chernoff+slack {
			t.Fatalf("mu %v at %v: %v above the bound %v", mu, eps, v, chernoff)
		}
	})
}

// Sums by logarithms: commutative, associative, rising, homogeneous; and all the
// coefficients of a row are 2^n.
func TestLogSumLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := rapid.Float64Range(-800, 800).Draw(t, "a"), rapid.Float64Range(-800, 800).Draw(t, "b"), rapid.Float64Range(-800, 800).Draw(t, "c")
		ab := LogAdd(a, b)
		if ab != LogAdd(b, a) || ab < math.Max(a, b) || ab > math.Max(a, b)+math.Ln2 {
			t.Fatalf("LogAdd(%v, %v) = %v", a, b, ab)
		}
		if l, r := LogAdd(ab, c), LogAdd(a, LogAdd(b, c)); math.Abs(l-r) > 1e-15*(1+math.Abs(l))*3 {
			t.Fatalf("%v, %v, %v: %v and %v", a, b, c, l, r)
		}
		if d := LogAdd(a+c, b+c) - ab - c; math.Abs(d) > 1e-12 {
			t.Fatalf("not homogeneous by %v", d)
		}
		if x := -math.Abs(a) / 50; x < 0 && math.Abs(math.Exp(Log1mExp(x))+math.Exp(x)-1) > 1e-15 {
			t.Fatalf("Log1mExp(%v) = %v", x, Log1mExp(x))
		}
		if x := math.Abs(a) / 10; x > 0 && math.Abs(LogExpm1(x)-x-Log1mExp(-x)) > 2e-15*(1+math.Abs(LogExpm1(x))) {
			t.Fatalf("LogExpm1(%v) = %v", x, LogExpm1(x))
		}
		if x := b / 10; math.Abs(Log1pExp(x)-LogAdd(0, x)) > 1e-15*(1+math.Abs(x)) || math.Abs(Log1pExp(x)-x-Log1pExp(-x)) > 1e-15*(1+math.Abs(x)) {
			t.Fatalf("Log1pExp(%v) = %v", x, Log1pExp(x))
		}
	})
	for _, n := range []int{1, 7, 61, 62, 300, 4001} {
		sum := math.Inf(-1)
		for k := range n + 1 {
			sum = LogAdd(sum, LogBinomial(n, k))
			if LogBinomial(n, k) != LogBinomial(n, n-k) {
				t.Errorf("LogBinomial(%d, %d) is not symmetric", n, k)
			}
		}
		near(t, fmt.Sprintf("a row of %d", n), sum, float64(n)*math.Ln2, 1e-14)
	}
}

// The loss on a sample and its inverse against 600 bits.
func TestLogMixedAgainstSeries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := math.Exp(rapid.Float64Range(-25, -1e-6).Draw(t, "log q"))
		x := rapid.Float64Range(-40, 300).Draw(t, "x")
		if rapid.Bool().Draw(t, "small") {
			x *= 1e-6
		}
		if math.Abs(x) < 1e-60 { // 600 bits are not enough
			x = 0
		}
		grown := wide(0).Sub(bigExp(wide(x)), wide(1))
		u := mul(wide(q), grown)
		want := bigLog(wide(0).Add(wide(1), u))
		room := 4e-16*math.Abs(want) + 4e-16*math.Abs(q*math.Expm1(min(x, 0)))/math.Exp(want)
		if x > 30 {
			room += 4e-16 * (x - math.Log(q))
		}
		if got := LogMixed(q, x); math.Abs(got-want) > room {
			t.Fatalf("LogMixed(%v, %v) = %.17g, want %.17g", q, x, got, want)
		}
		if x < 0 {
			return
		}
		want = bigLog(wide(0).Add(wide(1), wide(0).Quo(grown, wide(q))))
		if got := LogUnmixed(q, x); math.Abs(got-want) > 1e-15*want {
			t.Fatalf("LogUnmixed(%v, %v) = %.17g, want %.17g", q, x, got, want)
		}
		if back := LogUnmixed(q, LogMixed(q, x)); x < 300 && math.Abs(back-x) > 1e-13*(1+x)/q {
			t.Fatalf("LogUnmixed(%v, LogMixed(%v)) = %v", q, x, back)
		}
	})
}
