package channel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"privrec/internal/privacy/mechanism"
)

// The bands really are crossed with probability at most exp(-x), for few values
// and for many, by the exact laws.
func TestBandsAreAsRareAsStated(t *testing.T) {
	for _, x := range []float64{1, 5, 15, 23, 40} {
		for _, n := range []float64{1, 2, 10, 150, 48_000, 1e7} {
			chi := distuv.ChiSquared{K: n}
			r := math.Sqrt(n * x)
			if p := chi.Survival(n + 2*r + 2*x); p > math.Exp(-x) {
				t.Errorf("n %g, x %g: scale above its band with probability %g", n, x, p)
			}
			if low := n - 2*r; low > 0 {
				if p := chi.CDF(low); p > math.Exp(-x) {
					t.Errorf("n %g, x %g: scale below its band with probability %g", n, x, p)
				}
			}
			if p := distuv.UnitNormal.Survival(math.Sqrt(2 * x)); p > math.Exp(-x) {
				t.Errorf("x %g: mean outside its band with probability %g", x, p)
			}
			for _, rate := range []float64{unchangedRate, 0.3} {
				b := distuv.Binomial{N: n, P: rate}
				// P(Z > high) is 1 - CDF; the CDF of gonum is good to 1e-12 or so.
				if p := 1 - b.CDF(n*rate+math.Sqrt(2*n*rate*x)+2*x/3); p > math.Exp(-x)+1e-11 {
					t.Errorf("n %g, x %g: count above its band with probability %g", n, x, p)
				}
			}
		}
	}
}

// However many checks a run makes, their shares add up to the whole.
func TestSpending(t *testing.T) {
	var s mechanism.Spending
	total := 0.0
	for range 100_000 {
		total += 5 * math.Exp(-s.Next(5, 0.25))
	}
	if total > mechanism.Share(0.25).FalseAlarm() || total < 0.99*mechanism.Share(0.25).FalseAlarm() {
		t.Errorf("100000 checks spend %g of %g", total, mechanism.Share(0.25).FalseAlarm())
	}
}

// TestScaleIsSeen: a scale that is 1 % off in normal noise is seen after about 4 x / 0.02² values.
func TestScaleIsSeen(t *testing.T) {
	x := math.Log(2e9)
	for _, wrong := range []float64{1.01, 0.99} {
		need := 4 * x / 0.0004
		at := 0.0
		for n := 100.0; n < 100*need; n *= 1.01 {
			k := Tally{N: int64(n), Sq: math.Floor(n) * wrong * wrong}
			if k.check("p", 1, x) != nil {
				at = n
				break
			}
		}
		if at < 0.9*need || at > 1.2*need {
			t.Errorf("%g times the scale is seen after %g values, want about %g", wrong, at, need)
		}
	}
}

// Checks of one channel share its part: the second gets a quarter of the first.
func TestChecksShareTheirPart(t *testing.T) {
	var spent mechanism.Spending
	a := spent.Next(2, 0.5)
	b := spent.Next(2, 0.5)
	if !(b > a) || math.Abs(math.Exp(a-b)-0.25) > 1e-12 { // the second gets a quarter of the first
		t.Errorf("checks get e^-%g and e^-%g", a, b)
	}
}
