package numeric

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// near reports a value that is not within a relative tolerance of what is wanted.
func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if math.IsNaN(got) || got != want && !(math.Abs(got-want) <= tol*math.Abs(want)) {
		t.Errorf("%s = %.17g, want %.17g (relative error %.2g)", what, got, want, math.Abs(got-want)/math.Abs(want))
	}
}

// Values in 60-digit arithmetic (mpmath).
func TestLog1mExp(t *testing.T) {
	for _, c := range [][2]float64{
		{-1e-300, -690.7755278982137}, {-1e-17, -39.14394658089878}, {-1e-05, -11.512930464966061}, {-0.5, -0.9327521295671886},
		{-0.6931471805599453, -0.6931471805599453}, {-0.7, -0.6863410028083852}, {-1, -0.4586751453870819},
		{-10, -4.540096037048921e-05}, {-40, -4.248354255291589e-18}, {-700, -9.859676543759770e-305},
		{-0.3, -1.3502256128148467}, {-0.1, -2.3521684610440907}, {-0.02, -3.9220063388170345}, {-0.001, -6.908255237315471}, {-0.0003, -8.111878079558073},
	} {
		near(t, fmt.Sprintf("Log1mExp(%v)", c[0]), Log1mExp(c[0]), c[1], 4e-16)
	}
}

// Values in 60-digit arithmetic (mpmath).
func TestLog1pExp(t *testing.T) {
	for _, c := range [][2]float64{
		{-800, 0.0}, {-40, 4.248354255291589e-18}, {-1, 0.3132616875182228}, {0, 0.6931471805599453}, {1e-09, 0.6931471810599453},
		{1, 1.3132616875182228}, {30, 30.000000000000092}, {800, 800.0},
	} {
		near(t, fmt.Sprintf("Log1pExp(%v)", c[0]), Log1pExp(c[0]), c[1], 4e-16)
	}
}

// Values in 60-digit arithmetic (mpmath).
func TestLogExpm1(t *testing.T) {
	for _, c := range [][2]float64{
		{1e-300, -690.7755278982137}, {1e-09, -20.723265836446412}, {0.5, -0.43275212956718856}, {1, 0.5413248546129181},
		{29.9, 29.899999999999896}, {30.1, 30.099999999999916}, {40, 40.0}, {800, 800.0},
	} {
		near(t, fmt.Sprintf("LogExpm1(%v)", c[0]), LogExpm1(c[0]), c[1], 4e-16)
	}
}

// Values in 60-digit arithmetic (mpmath).
func TestExpm1mx(t *testing.T) {
	for _, c := range [][2]float64{
		{-800, 799.0}, {-50, 49.0}, {-1, 0.36787944117144233}, {-0.5000001, 0.10653069905957047}, {-0.4999, 0.10649131581135908},
		{-0.25, 0.028800783071404868}, {-0.001, 4.998333749916681e-07}, {-1e-09, 4.999999998333334e-19}, {-1e-150, 5e-301}, {0, 0.0},
		{1e-150, 5e-301}, {1e-09, 5.000000001666667e-19}, {0.001, 5.00166708341668e-07}, {0.25, 0.034025416687741485},
		{0.4999, 0.14865640681638972}, {0.5, 0.14872127070012814}, {0.5000001, 0.1487213355722634}, {1, 0.7182818284590452},
		{10, 22015.465794806718}, {700, 1.0142320547350045e+304},
	} {
		near(t, fmt.Sprintf("Expm1mx(%v)", c[0]), Expm1mx(c[0]), c[1], 1e-15)
	}
}

// Values in 60-digit arithmetic (mpmath).
func TestLog1pmx(t *testing.T) {
	for _, c := range [][2]float64{
		{-0.999999, -12.815511557935519}, {-0.9, -1.402585092994046}, {-0.4000001, -0.11082569043267125},
		{-0.3999, -0.11075897098666987}, {-0.2, -0.023143551314209757}, {-0.001, -5.003335835335002e-07},
		{-1e-09, -5.000000003333334e-19}, {-1e-150, -5e-301}, {0, 0.0}, {1e-150, -5e-301}, {1e-09, -4.999999996666667e-19},
		{0.001, -4.996669164668332e-07}, {0.1, -0.00468982019567514}, {0.5, -0.09453489189183562}, {0.6999, -0.16933057419741301},
		{0.7001, -0.16941292713845377}, {1, -0.3068528194400547}, {50, -46.068174367275674}, {1000000000.0, -999999979.2767341},
	} {
		near(t, fmt.Sprintf("Log1pmx(%v)", c[0]), Log1pmx(c[0]), c[1], 1e-15)
	}
}

func TestLogSums(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range [][4]float64{ // a, b, log(e^a+e^b), log(e^a-e^b) for the larger first
		{0, 0, math.Ln2, -inf},
		{1, -inf, 1, 1},
		{-inf, -inf, -inf, -inf},
		{inf, 3, inf, inf},
		{1000, 1000 - math.Ln2, 1000 + math.Log(1.5), 1000 - math.Ln2},
		{-2000, -2000 - math.Log(4), -2000 + math.Log(1.25), -2000 + math.Log(0.75)},
		{5, -60, 5, 5},
		{3, 3, 3 + math.Ln2, -inf},
	} {
		near(t, fmt.Sprintf("LogAdd(%v, %v)", c[0], c[1]), LogAdd(c[0], c[1]), c[2], 1e-15)
		near(t, fmt.Sprintf("LogAdd(%v, %v)", c[1], c[0]), LogAdd(c[1], c[0]), c[2], 1e-15)
		if c[1] > math.Inf(-1) && c[0] < inf {
			near(t, fmt.Sprintf("log(e^%v - e^%v)", c[0], c[1]), c[0]+Log1mExp(c[1]-c[0]), c[3], 1e-15)
		}
	}
}

// Identities over random arguments: what is added can be subtracted, the tails
// fall and sum to one, the tails of exp and log keep their sign and order.
func TestIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64Range(-700, 700).Draw(t, "a")
		d := rapid.Float64Range(1e-3, 30).Draw(t, "d")
		sum := LogAdd(a, a-d)
		room := 1e-12 * (1 + math.Abs(a))
		if back := sum + Log1mExp(a-d-sum); math.Abs(back-a) > room*math.Exp(-d)+room {
			t.Fatalf("log(e^LogAdd(%v, %v) - same) = %v", a, a-d, back)
		}
		x := rapid.Float64Range(-45, 45).Draw(t, "x")
		if Upper(x+0.01) > Upper(x) {
			t.Fatalf("Upper does not fall at %v", x)
		}
		if one := Upper(x) + Upper(-x); math.Abs(one-1) > 4e-15 {
			t.Fatalf("Q(%v) + Q(%v) = %v", x, -x, one)
		}
		y := rapid.Float64Range(-0.99, 5).Draw(t, "y")
		if Expm1mx(y) < 0 || Log1pmx(y) > 0 {
			t.Fatalf("signs at %v: %v, %v", y, Expm1mx(y), Log1pmx(y))
		}
		// exp and log are inverse: with l = log(1+y), e^l - 1 - l = y - l.
		if l := math.Log1p(y); math.Abs(Expm1mx(l)+Log1pmx(y)) > 1e-14*math.Abs(Log1pmx(y))+1e-15*l*l+2e-16*math.Abs(l) {
			t.Fatalf("y = %v: %v and %v", y, Expm1mx(l), Log1pmx(y))
		}
		n := rapid.IntRange(2, 1_000_000).Draw(t, "n")
		k := rapid.IntRange(1, n-1).Draw(t, "k")
		pascal := LogAdd(LogBinomial(n-1, k-1), LogBinomial(n-1, k))
		if got := LogBinomial(n, k); math.Abs(got-pascal) > 3e-15*(1+got) {
			t.Fatalf("LogBinomial(%d, %d) = %v, by Pascal's rule %v", n, k, got, pascal)
		}
	})
}
