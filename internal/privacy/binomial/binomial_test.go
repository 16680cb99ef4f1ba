package binomial

import (
	"math"
	"math/big"
	"testing"
)

// exact is the upper tail in rational arithmetic with p = num/den.
func exact(n, k, num, den int64) float64 {
	var sum, term, c big.Int
	for i := max(k, 0); i <= n; i++ {
		term.Exp(big.NewInt(num), big.NewInt(i), nil)
		term.Mul(&term, c.Exp(big.NewInt(den-num), big.NewInt(n-i), nil))
		term.Mul(&term, c.Binomial(n, i))
		sum.Add(&sum, &term)
	}
	f, _ := new(big.Rat).SetFrac(&sum, c.Exp(big.NewInt(den), big.NewInt(n), nil)).Float64()
	return f
}

func TestTailsAgainstRationals(t *testing.T) {
	for _, n := range []int64{1, 2, 7, 15, 16, 17, 40, 100, 333} {
		for _, p := range [][2]int64{{1, 2}, {1, 1024}, {1023, 1024}, {3, 4}, {5, 16}} {
			l := Law{n, float64(p[0]) / float64(p[1]), float64(p[1]-p[0]) / float64(p[1])}
			for k := int64(-1); k <= n+1; k += 1 + n/30 {
				up, low := exact(n, k, p[0], p[1]), exact(n, n-k, p[1]-p[0], p[1])
				for _, c := range []struct {
					name      string
					got, want float64
				}{
					{"Upper", l.Upper(k), up}, {"Lower", l.Lower(k), low}, {"LogUpper", math.Exp(l.LogUpper(k)), up},
					{"LogPMF", math.Exp(l.LogPMF(k)), up - exact(n, k+1, p[0], p[1])},
				} {
					tol := 1e-13*c.want + 1e-15*math.Min(1, c.want*1e3)
					if c.name == "LogPMF" {
						tol += 1e-15 * up // of the difference that it is compared with
					}
					if !(math.Abs(c.got-c.want) <= tol+1e-307) {
						t.Errorf("n=%d p=%v k=%d: %s %v, want %v", n, p, k, c.name, c.got, c.want)
					}
				}
			}
		}
	}
}

// Values of 40-digit arithmetic where rationals are too slow: many trials, far
// tails, probabilities next to 1.
func TestLargeLaws(t *testing.T) {
	for _, c := range large {
		l := FromLogit(c.n, c.logit)
		if got := l.LogPMF(c.k); !(math.Abs(got-c.logPMF) <= 2e-11+3e-15*math.Abs(c.logPMF)) {
			t.Errorf("%+v: log mass %v", c, got)
		}
		if got := l.LogUpper(c.k); !(math.Abs(got-c.logUpper) <= 2e-11+3e-15*math.Abs(c.logUpper)) {
			t.Errorf("%+v: log tail %v", c, got)
		}
	}
}

func TestDegenerate(t *testing.T) {
	never, always := Law{5, 0, 1}, Law{5, 1, 0}
	for k := int64(-1); k <= 6; k++ {
		for _, c := range []struct {
			name      string
			got, want float64
		}{
			{"never above", never.Upper(k), b(k <= 0)}, {"always above", always.Upper(k), b(k <= 5)},
			{"never below", never.Lower(k), b(k >= 0)}, {"always below", always.Lower(k), b(k >= 5)},
			{"never mass", math.Exp(never.LogPMF(k)), b(k == 0)}, {"always mass", math.Exp(always.LogPMF(k)), b(k == 5)},
		} {
			if c.got != c.want {
				t.Errorf("%s %d: %v, want %v", c.name, k, c.got, c.want)
			}
		}
	}
	if got := FromLogit(0, 1).LogPMF(0); got != 0 {
		t.Errorf("no trials: %v", got)
	}
}

func b(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func BenchmarkUpper(b *testing.B) {
	l := FromLogit(100000, 1)
	for b.Loop() {
		l.Upper(73500)
	}
}
