package special

import (
	"fmt"
	"math"
	"math/big"
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

// Values in 60-digit arithmetic (mpmath).
func TestMills(t *testing.T) {
	for _, c := range [][2]float64{
		{-0.25, 1.548372621547658}, {0, 1.2533141373155003}, {0.5, 0.8763644564536923}, {1.9999, 0.4213849559764444},
		{2, 0.4213692292880545}, {2.5, 0.35426511132979366}, {5, 0.19280810471531576}, {30, 0.03329641907249721},
		{10000.0, 9.999999900000004e-05},
	} {
		near(t, fmt.Sprintf("Mills(%v)", c[0]), Mills(c[0]), c[1], 1e-14)
	}
}

// Values in 60-digit arithmetic (mpmath): the integral of the slope, the plain
// difference, and where subtraction would leave nothing.
func TestMillsDifference(t *testing.T) {
	for _, c := range [][3]float64{
		{-0.25, 0.5, 0.5105480456939314}, {-0.25, 1e-09, 1.3870931544393416e-09}, {0, 0.001, 0.000999373676108078},
		{0, 0.5, 0.3769496808618079}, {0, 0.51, 0.3825382228822219}, {0, 3, 0.948723838605397}, {1.9, 0.3, 0.045720020034012716},
		{5, 1e-06, 3.595946991806102e-08}, {5, 0.4999, 0.01648209654991212}, {30, 0.2, 0.00022002358234733197},
		{10000.0, 0.1, 9.999899701006005e-10}, {10000.0, 100, 9.900989804911395e-07},
	} {
		near(t, fmt.Sprintf("MillsDifference(%v, %v)", c[0], c[1]), MillsDifference(c[0], c[1]), c[2], 2e-14)
	}
}

// Values in 60-digit arithmetic (mpmath), through every branch: exact products,
// few factors, the table of Stirling's errors and its series, either side of the
// middle.
func TestLogBinomial(t *testing.T) {
	for _, c := range []struct {
		n, k int
		want float64
	}{
		{0, 0, 0.0}, {1, 0, 0.0}, {2, 1, 0.6931471805599453}, {5, 2, 2.302585092994046}, {61, 30, 39.988587385699425},
		{62, 31, 40.68173456625937}, {62, 1, 4.127134385045092}, {62, 2, 7.544861068658458}, {62, 3, 10.540593342212448},
		{62, 4, 13.231836424998278}, {100, 4, 15.18191466294869}, {100, 50, 66.78384165201743}, {700, 350, 481.7013377290596},
		{1000, 3, 18.9285038647141}, {1000, 10, 53.927997037888275}, {1000, 11, 58.42780670821854}, {1029, 514, 709.5537576845187},
		{1030, 515, 710.2469048650786}, {100000, 4, 42.873588028832955}, {100000, 21, 196.3891957223832}, {1000000, 2, 26.9378729353681},
		{1000000, 4, 52.08398240150215}, {1000000, 9, 111.53773154149499}, {1000000, 10, 123.05064800642472},
		{1000000, 500000, 693140.0470130637}, {1000000, 999990, 123.05064800642472}, {1000000, 123456, 373748.0244124986},
		{1099511627776, 7, 185.55604919570018}, {1099511627776, 549755813888, 762123384771.7217},
	} {
		near(t, fmt.Sprintf("LogBinomial(%d, %d)", c.n, c.k), LogBinomial(c.n, c.k), c.want, 1e-15)
	}
	for _, c := range [][2]int{{5, -1}, {5, 6}, {-1, 0}, {0, 1}} {
		if got := LogBinomial(c[0], c[1]); !math.IsInf(got, -1) {
			t.Errorf("LogBinomial(%d, %d) = %v, want -Inf", c[0], c[1], got)
		}
	}
}

// Every coefficient up to n = 400 against exact integers.
func TestLogBinomialAgainstIntegers(t *testing.T) {
	row := []*big.Int{big.NewInt(1)}
	for n := 1; n <= 400; n++ {
		next := make([]*big.Int, n+1)
		next[0], next[n] = big.NewInt(1), big.NewInt(1)
		for k := 1; k < n; k++ {
			next[k] = new(big.Int).Add(row[k-1], row[k])
		}
		row = next
		for k := 1; k < n; k++ {
			f, _ := new(big.Float).SetInt(row[k]).Float64()
			near(t, fmt.Sprintf("LogBinomial(%d, %d)", n, k), LogBinomial(n, k), math.Log(f), 1e-15)
		}
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
