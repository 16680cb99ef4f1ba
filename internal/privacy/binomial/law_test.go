package binomial_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/binomial"
)

// k-fold randomised response: how often an attacker who sees a hundred answers,
// each right with odds e, is right in ninety or more, and in sixty or fewer.
func ExampleLaw_Upper() {
	law := binomial.FromLogit(100, 1)
	fmt.Printf("%.4g %.4g %.4g\n", law.Upper(90), law.LogUpper(90), law.Lower(60))
	// Output: 2.736e-05 -10.51 0.003008
}

// The tail is the incomplete beta integral n C(n-1, k-1) int_0^p t^(k-1) (1-t)^(n-k)
// dt, here by Simpson's rule in the logit of t: no sum of masses is in it.
func TestTailIsBetaIntegral(t *testing.T) {
	for _, n := range []int64{2, 9, 60, 400} {
		for _, logit := range []float64{-3, -0.4, 0, 1.7} {
			for k := int64(1); k < n; k += 1 + n/9 {
				want := betaTail(n, k, logit)
				if got := binomial.FromLogit(n, logit).Upper(k); math.Abs(got-want) > 1e-9*want+1e-13 {
					t.Errorf("n=%d logit=%v k=%d: tail %v, integral %v", n, logit, k, got, want)
				}
				// The faults that the check must see: one trial more, one success more.
				for name, wrong := range map[string]float64{
					"n+1": binomial.FromLogit(n+1, logit).Upper(k), "strictly above": binomial.FromLogit(n, logit).Upper(k + 1),
				} {
					if want > 1e-6 && want < 0.99 && math.Abs(wrong-want) <= 1e-9*want+1e-13 {
						t.Errorf("n=%d logit=%v k=%d: the integral does not tell %s", n, logit, k, name)
					}
				}
			}
		}
	}
}

// betaTail integrates over s = logit t, where the density is the beta law's with
// weight t^k (1-t)^(n-k+1) and falls like e^(-k|s|) on the left.
func betaTail(n, k int64, logit float64) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k))
	c, _ := math.Lgamma(float64(n - k + 1))
	density := func(s float64) float64 {
		t := -math.Log1p(math.Exp(-s)) // log t
		return math.Exp(a - b - c + float64(k)*t + float64(n-k+1)*(t-s))
	}
	const steps = 40000
	lo := math.Min(logit, math.Log(float64(k)/float64(n-k+1))) - 45/math.Sqrt(float64(k)) - 5
	h := (logit - lo) / steps
	sum := density(lo) + density(logit)
	for i := 1; i < steps; i++ {
		sum += float64(2+2*(i%2)) * density(lo+float64(i)*h)
	}
	return sum * h / 3
}

// Tails of up to 2^40 trials lie between e^(-n D)/sqrt(8 k (1-k/n)) and e^(-n D), D
// the divergence of k/n from p (Ash, "Information theory", 1965, lemma 4.7.2), and
// the Poisson law is near: within p of every tail (Barbour and Hall 1984).
func TestTailBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := int64(math.Exp2(rapid.Float64Range(1, 40).Draw(t, "log trials")))
		logit := rapid.Float64Range(-20, 20).Draw(t, "logit")
		l := binomial.FromLogit(n, logit)
		sd := math.Sqrt(float64(n) * l.P * l.Q)
		k := int64(math.Ceil(float64(n)*l.P + rapid.Float64Range(0.5, 30).Draw(t, "deviations")*(1+sd)))
		if k >= n {
			t.Skip("no such tail") // this draw alone: rapid fails when too many are
		}
		x, y := float64(k), float64(n-k)
		d := x*math.Log(x/(float64(n)*l.P)) + y*math.Log(y/(float64(n)*l.Q))
		slack := 1e-9 + 1e-15*x*(1+math.Abs(logit)) // rounding of d itself
		if log := l.LogUpper(k); log > -d+slack || log < -d-0.5*math.Log(8*x*y/float64(n))-slack {
			t.Fatalf("%+v, %d: log tail %v, divergence %v", l, k, log, d)
		}
	})
	for _, mean := range []float64{0.1, 1, 7, 30} {
		l := binomial.FromLogit(1e7, math.Log(mean/(1e7-mean)))
		poisson, sum := math.Exp(-mean), 0.0
		for k := int64(0); k < 80; k++ {
			if got := l.Upper(k); math.Abs(got-(1-sum)) > l.P {
				t.Errorf("mean %v: %d or more with probability %v, Poisson %v", mean, k, got, 1-sum)
			}
			sum += poisson
			poisson *= mean / float64(k+1)
		}
	}
}

// Trials in two parts are trials: the masses of n1+n2 are the convolution, and a
// trial more moves the tail by p times the mass below it.
func TestTrialsAdd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(0, 60).Draw(t, "a"), rapid.Int64Range(0, 60).Draw(t, "b")
		logit := rapid.Float64Range(-6, 6).Draw(t, "logit")
		la, lb, l, next := binomial.FromLogit(a, logit), binomial.FromLogit(b, logit), binomial.FromLogit(a+b, logit), binomial.FromLogit(a+b+1, logit)
		k := rapid.Int64Range(0, a+b).Draw(t, "k")
		sum := 0.0
		for i := int64(0); i <= k; i++ {
			sum += math.Exp(la.LogPMF(i) + lb.LogPMF(k-i))
		}
		if got := math.Exp(l.LogPMF(k)); math.Abs(got-sum) > 1e-12*sum {
			t.Fatalf("%d and %d trials, %d: %v, convolved %v", a, b, k, got, sum)
		}
		if got, want := next.Upper(k+1), l.Upper(k+1)+l.P*math.Exp(l.LogPMF(k)); math.Abs(got-want) > 1e-12 {
			t.Fatalf("one trial more than %d, %d: %v, want %v", a+b, k+1, got, want)
		}
	})
}

// Odds of any size give a law; those of sure things are degenerate and not NaN.
func TestFromLogitAtTheEnds(t *testing.T) {
	for _, logit := range []float64{0, 1e-300, 1e-17, 0.3, 36, 37, 40, 700, 745, 800, 1e300, math.Inf(1)} {
		l, m := binomial.FromLogit(9, logit), binomial.FromLogit(9, -logit)
		if !(l.P+l.Q == 1 && l.Q >= 0) || l.P != m.Q || l.Q != m.P || l.P < 0.5 {
			t.Errorf("logit %v: %+v, mirrored %+v", logit, l, m)
		}
		if logit > 0 && logit < 700 && math.Abs(math.Log(l.P/l.Q)-logit) > 1e-15*(1+logit) {
			t.Errorf("logit %v: odds %v", logit, math.Log(l.P/l.Q))
		}
		for k := int64(-1); k <= 10; k++ {
			for name, v := range map[string]float64{"upper": l.Upper(k), "lower": l.Lower(k), "mirrored": m.Upper(k), "mass": math.Exp(l.LogPMF(k)), "log": math.Exp(m.LogUpper(k))} {
				if !(v >= 0 && v <= 1) {
					t.Errorf("logit %v, %s of %d: %v", logit, name, k, v)
				}
			}
		}
	}
}
