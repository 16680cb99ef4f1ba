package stats

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*max(1, math.Abs(want))) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

// Student's sleep data (1908): extra hours of sleep of ten patients under two drugs. The expected
// figures are those R prints for t.test(paired = TRUE).
var (
	sleep1 = []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	sleep2 = []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
)

func TestDescribe(t *testing.T) {
	near(t, "mean", Mean(sleep1), 0.75, 1e-12)
	near(t, "sd", SD(sleep1), 1.789010, 1e-6)
	near(t, "sd far from 0", SD([]float64{1e9 + 1, 1e9 + 2, 1e9 + 3}), 1, 1e-12)
	near(t, "stderr", StdErr(sleep1), 1.789010/math.Sqrt(10), 1e-6)
	near(t, "median even", Median(sleep1), 0.35, 1e-12)
	near(t, "median odd", Median([]float64{3, 1, 2}), 2, 0)
	near(t, "nothing", Mean(nil)+SD(nil)+SD(sleep1[:1])+StdErr(nil)+Median(nil), 0, 0)
}

func TestPairedTOfSleepData(t *testing.T) {
	got, err := PairedT(sleep1, sleep2)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "t", got.Statistic, -4.0621, 1e-5)
	near(t, "p", got.P, 0.002833, 1e-6)
	d, _, _ := differences(sleep1, sleep2)
	ci, err := TInterval(d, 0.95)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lo", ci.Lo, -2.4598858, 1e-7)
	near(t, "hi", ci.Hi, -0.7001142, 1e-7)
}

func TestWilcoxonKnownValues(t *testing.T) {
	// Darwin's maize plants, as in Wilcoxon tests of textbooks and scipy: W = 24, exact p = 0.041259765625.
	darwin := []float64{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75}
	got, err := Wilcoxon(darwin, make([]float64, len(darwin)))
	if err != nil {
		t.Fatal(err)
	}
	near(t, "W", got.Statistic, 24, 0)
	near(t, "p", got.P, 0.041259765625, 1e-14)

	got, err = Wilcoxon([]float64{1, 2, 3, 4, 5, 6, 0}, make([]float64, 7)) // all one way: 2/2^6
	if err != nil || got.N != 6 {
		t.Fatal(got, err)
	}
	near(t, "one-sided data", got.P, 2.0/64, 1e-15)
}

// signs enumerates every sign pattern of the differences: the slow oracle of the exact p-value.
func TestWilcoxonAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ints := rapid.SliceOfN(rapid.IntRange(-4, 4), 1, 9).Draw(t, "d") // ties and zeros on purpose
		a, b := make([]float64, len(ints)), make([]float64, len(ints))
		var sizes []float64
		for i, v := range ints {
			a[i] = float64(v)
			if v != 0 {
				sizes = append(sizes, math.Abs(float64(v)))
			}
		}
		got, err := Wilcoxon(a, b)
		if len(sizes) == 0 {
			if !errors.Is(err, ErrNoDifference) {
				t.Fatal(err)
			}
			return
		}
		ranks := make([]float64, len(sizes))
		total := 0.0
		for i, s := range sizes {
			below, equal := 0.0, 0.0
			for _, o := range sizes {
				if o < s {
					below++
				} else if o == s {
					equal++
				}
			}
			ranks[i] = below + (equal+1)/2
			total += ranks[i]
		}
		hits := 0.0
		for pattern := range 1 << len(ranks) {
			sum := 0.0
			for i, r := range ranks {
				if pattern>>i&1 == 1 {
					sum += r
				}
			}
			if min(sum, total-sum) <= got.Statistic {
				hits++
			}
		}
		// Doubling the lower tail counts the middle twice when both sums are equal; then p is capped at 1.
		if want := min(1, hits/float64(int(1)<<len(ranks))); math.Abs(got.P-want) > 1e-12 && got.P < 1 {
			t.Fatalf("p = %v, want %v", got.P, want)
		}
	})
}

func TestWilcoxonApproximationMeetsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	d, z := make([]float64, 51), make([]float64, 51)
	for i := range d {
		d[i] = r.NormFloat64() + 0.2
	}
	large, err := Wilcoxon(d, z)
	if err != nil {
		t.Fatal(err)
	}
	ranks, total := make([]int, 51), 0
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
		total += ranks[i]
	}
	exact := 2 * signedRankCDF(ranks, total, int(2*large.Statistic))
	near(t, "normal approximation", large.P, exact, 0.01)
}

func TestHolm(t *testing.T) {
	got, err := Holm([]float64{0.01, 0.04, 0.03, 0.005})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		near(t, "holm", got[i], want, 1e-15)
	}
	if got, err := Holm([]float64{0.9, 0.8}); err != nil || !slices.Equal(got, []float64{1, 1}) {
		t.Error(got, err)
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := Holm([]float64{0.5, bad}); err == nil {
			t.Errorf("%v was accepted", bad)
		}
	}
}

func TestWilson(t *testing.T) {
	got, err := Wilson(8, 10, 0.95) // Newcombe (1998) formula 3: 0.4902 to 0.9433
	if err != nil {
		t.Fatal(err)
	}
	near(t, "lo", got.Lo, 0.4902, 1e-4)
	near(t, "hi", got.Hi, 0.9433, 1e-4)
	if zero, err := Wilson(0, 10, 0.95); err != nil || zero.Lo != 0 || zero.Hi < 0.2 {
		t.Error(zero, err)
	}
}

func TestRefusals(t *testing.T) {
	for name, call := range map[string]func() error{
		"lengths":   func() error { _, err := PairedT([]float64{1, 2}, []float64{1}); return err },
		"one pair":  func() error { _, err := PairedT([]float64{1}, []float64{2}); return err },
		"no spread": func() error { _, err := PairedT([]float64{1, 2}, []float64{0, 1}); return err },
		"equal":     func() error { _, err := PairedT([]float64{1, 2}, []float64{1, 2}); return err },
		"NaN":       func() error { _, err := Wilcoxon([]float64{math.NaN()}, []float64{1}); return err },
		"infinite":  func() error { _, err := Wilcoxon([]float64{math.Inf(1)}, []float64{1}); return err },
		"level":     func() error { _, err := TInterval([]float64{1, 2}, 1); return err },
		"one value": func() error { _, err := TInterval([]float64{1}, 0.9); return err },
		"hits":      func() error { _, err := Wilson(3, 2, 0.9); return err },
		"no trials": func() error { _, err := Wilson(0, 0, 0.9); return err },
	} {
		if call() == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// TestPairedRounding checks that what rounding makes of equal differences is no effect.
func TestPairedRounding(t *testing.T) {
	a, b := []float64{0.3, 0.2, 0.7, 0.9, 1.1}, []float64{0.2, 0.1, 0.6, 0.8, 1.0} // all 0.1 apart
	if got, err := PairedT(a, b); err == nil {
		t.Errorf("a constant difference has p = %g", got.P)
	}
	if _, err := PairedT([]float64{0.1 + 0.2, 1}, []float64{0.3, 1}); !errors.Is(err, ErrNoDifference) {
		t.Errorf("equal but for rounding: %v", err)
	}
	if got, err := PairedT([]float64{1e-20, 3e-20, 2e-20}, []float64{0, 0, 0}); err != nil || got.P > 0.1 {
		t.Errorf("small scores: %v, %v", got, err)
	}
	// With ties of size 0.1 seen as such, five of six ranks are 3 and the largest is 6.
	got, err := Wilcoxon(append(a, 0.1+0.2, 5), append(b, 0.3, 5.4))
	if err != nil || got.N != 6 || got.Statistic != 6 {
		t.Errorf("%+v, %v", got, err)
	}
	exact, err := Wilcoxon([]float64{1, 1, 1, 1, 1, 0}, []float64{0, 0, 0, 0, 0, 4})
	if err != nil || exact.P != got.P {
		t.Errorf("p %v, want %v (%v)", got.P, exact.P, err)
	}
}

// The sign test against sums of binomial weights by hand, and where it has no answer.
func TestSign(t *testing.T) {
	for _, c := range []struct {
		a    []float64
		p, s float64
		n    int
	}{
		{[]float64{1, 1}, 0.5, 2, 2},
		{[]float64{-1, -1, -1}, 0.25, 0, 3},
		{[]float64{1, 1, 1, -1}, 0.625, 3, 4}, // 2 (1+4)/16
		{[]float64{1, 2, -3, 0, 5, 6, 7, 8, 0}, 2 * 8. / 128, 6, 7},
		{[]float64{1, -1}, 1, 1, 2},
		{[]float64{3, 0}, 1, 1, 1},
	} {
		got, err := Sign(c.a, make([]float64, len(c.a)))
		if err != nil || math.Abs(got.P-c.p) > 1e-12 || got.Statistic != c.s || got.N != c.n {
			t.Errorf("%v: %+v, %v, want p %v", c.a, got, err, c.p)
		}
	}
	if got, err := Sign(slices.Repeat([]float64{1}, 100_000), make([]float64, 100_000)); err != nil || !(got.P > 0 && got.P < 1e-300) {
		t.Errorf("of 100,000: %+v, %v", got, err)
	}
	if _, err := Sign([]float64{2, 2}, []float64{2, 2}); !errors.Is(err, ErrNoDifference) {
		t.Errorf("equal pairs: %v", err)
	}
	if _, err := Sign([]float64{1}, []float64{0}); err == nil {
		t.Error("one pair is enough")
	}
}

// Equal values have no interval: nothing says how far they spread.
func TestNoSpread(t *testing.T) {
	for _, x := range [][]float64{{1, 1}, {0, 0, 0}, {-0.1, 0.3 - 0.4}, {1e9, 1e9 * (1 + 1e-15)}} {
		if i, err := TInterval(x, 0.95); !errors.Is(err, ErrNoSpread) {
			t.Errorf("%v: %+v, %v", x, i, err)
		}
	}
	if _, err := PairedT([]float64{1, 1}, []float64{0, 0}); !errors.Is(err, ErrNoSpread) {
		t.Errorf("equal differences: %v", err)
	}
	ci, err := ClusterBootstrap([][]float64{{2, 4, 6}, {1, 2, 4}}, [][]float64{{1, 2, 3}, {1, 1, 1}}, 200, 0.95, clusterSource(7))
	if err != nil || !math.IsNaN(ci[0].Lo) || !math.IsNaN(ci[0].Hi) || !(ci[1].Lo < ci[1].Hi) {
		t.Errorf("%+v, %v", ci, err)
	}
}
