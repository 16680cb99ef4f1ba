package local

import (
	"errors"
	"math"
	"strings"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/rng"
)

// The density ratio over all outputs and all pairs of inputs is exp(eps), and
// no more; the density integrates to one.
func TestPiecewiseRatioIsExact(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 2.5, 20.0 / 6, 10, 30} {
		m := Piecewise{Epsilon: eps}
		worst := 0.0
		var xs []float64
		for x := -1.0; x <= 1; x += 1.0 / 16 {
			xs = append(xs, x)
		}
		for _, x1 := range xs {
			l, r := m.Bounds(x1)
			c := m.C()
			if mass := m.Density((l+r)/2, x1)*m.width() + m.Density(-math.Copysign(c, x1), x1)*(c+1); math.Abs(mass-1) > 1e-12 {
				t.Errorf("eps %g, x %g: mass %g", eps, x1, mass)
			}
			for _, x2 := range xs {
				for _, y := range []float64{-c, l, (l + r) / 2, r, c, 0} {
					if d := m.Density(y, x2); d > 0 {
						worst = max(worst, m.Density(y, x1)/d)
					}
				}
			}
		}
		if math.Abs(math.Log(worst)/eps-1) > 1e-12 {
			t.Errorf("eps %g: worst log ratio %.15g", eps, math.Log(worst))
		}
	}
}

// The same for unary encoding, over all outputs: exp(eps) between one-hot
// vectors, less against a vector of zeros.
func TestUnaryRatioIsExact(t *testing.T) {
	for _, eps := range []float64{0.1, 1, 20.0 / 3, 15} {
		m := UnaryEncoding{Epsilon: eps}
		const width = 5
		inputs := [][]bool{make([]bool, width)}
		for i := range width {
			v := make([]bool, width)
			v[i] = true
			inputs = append(inputs, v)
		}
		worst, missing := 0.0, 0.0
		for out := range 1 << width {
			y := make([]bool, width)
			for i := range y {
				y[i] = out>>i&1 == 1
			}
			for i, a := range inputs {
				for j, b := range inputs {
					ratio := m.Probability(y, a) / m.Probability(y, b)
					worst = max(worst, ratio)
					if i == 0 || j == 0 {
						missing = max(missing, ratio)
					}
				}
			}
		}
		if math.Abs(math.Log(worst)/eps-1) > 1e-12 {
			t.Errorf("eps %g: worst log ratio %.15g", eps, math.Log(worst))
		}
		if missing > math.Exp(eps) {
			t.Errorf("eps %g: a missing value shows with ratio %g", eps, missing)
		}
	}
}

// The mean of many outputs is the input, their variance the formula, within
// 6.11 standard errors; all within [-C, C].
func TestPiecewiseIsUnbiased(t *testing.T) {
	const n = 200_000
	for _, eps := range []float64{0.5, 2.5, 5} {
		for _, x := range []float64{-1, -0.3, 0, 1} {
			m := Piecewise{Purpose: "p", Epsilon: eps, Unit: privacy.Feature}
			data := make([]float64, n)
			for i := range data {
				data[i] = x
			}
			l := mechanismtest.Ledger(t)
			if err := PerturbPiecewise(m, l, rng.Seed(1).Stream("pm"), data); err != nil {
				t.Fatal(err)
			}
			var s, q float64
			for _, y := range data {
				if math.Abs(y) > m.C()*(1+1e-12) {
					t.Fatalf("output %g outside C = %g", y, m.C())
				}
				s += y
				q += (y - x) * (y - x)
			}
			v := m.Variance(x)
			if d := (s/n - x) / math.Sqrt(v/n); math.Abs(d) > mechanismtest.Sigmas {
				t.Errorf("eps %g, x %g: mean %g, %.1f standard errors off", eps, x, s/n, d)
			}
			// (y-x)² is within [0, 4C²] and has variance at most 4C² v.
			if d := math.Abs(q/n - v); d > mechanismtest.Sigmas*2*m.C()*math.Sqrt(v/n) {
				t.Errorf("eps %g, x %g: variance %g, want %g", eps, x, q/n, v)
			}
			if e := l.Entries(); len(e) != 1 || e[0].Event != (privacy.PureLDP{Epsilon: eps, Unit: privacy.Feature}) {
				t.Errorf("ledger %v", e)
			}
		}
	}
}

// Frequencies estimated from the bits are the true ones within 6.11 standard
// errors of the published variance.
func TestUnaryFrequencies(t *testing.T) {
	const n, width = 60_000, 4
	share := [width]float64{0.5, 0.3, 0.15, 0.05}
	for _, eps := range []float64{1, 20.0 / 3} {
		m := UnaryEncoding{Purpose: "p", Epsilon: eps, Unit: privacy.Feature}
		data := make([]float32, n*width)
		for i := range n {
			u := float64(i) / n
			for j, s := range share {
				if u -= s; u < 0 {
					data[i*width+j] = 1
					break
				}
			}
		}
		if err := PerturbUnary(m, mechanismtest.Ledger(t), rng.Seed(2).Stream("oue"), data, width); err != nil {
			t.Fatal(err)
		}
		for j, f := range share {
			c := 0.0
			for i := range n {
				c += float64(data[i*width+j])
			}
			got := (c/n - m.Q()) / (m.P() - m.Q())
			if d := (got - f) / math.Sqrt(m.FrequencyVariance(n, f)); math.Abs(d) > mechanismtest.Sigmas {
				t.Errorf("eps %g: share %g estimated as %g, %.1f standard errors off", eps, f, got, d)
			}
		}
	}
}

// A sampler of another budget fails the check: twice and half the epsilon, a
// swapped bit.
func TestLocalChecksFail(t *testing.T) {
	const n = 20_000
	m := Piecewise{Epsilon: 2.5}
	for _, wrong := range []float64{1.25, 5} {
		check := m.newCheck()
		for i := range n {
			s := rng.Seed(3).Stream("pm", uint64(i))
			check.see(0.5, Piecewise{Epsilon: wrong}.sample(&s, 0.5))
		}
		if mechanism.CheckAll("p", 1, &check.centre, &check.bias) == nil {
			t.Errorf("epsilon %g passed for 2.5", wrong)
		}
	}
	biased := m.newCheck()
	u := UnaryEncoding{Epsilon: 2}
	swapped, doubled := u.newCheck(), u.newCheck()
	for i := range n {
		s := rng.Seed(3).Stream("oue", uint64(i))
		biased.see(0.5, m.sample(&s, 0.4))
		swapped.see(i%2 == 0, u.sample(&s, i%2 == 1))
		doubled.see(false, UnaryEncoding{Epsilon: 4}.sample(&s, false))
	}
	var failed *mechanism.CheckError
	for name, err := range map[string]error{
		"biased": mechanism.CheckAll("p", 1, &biased.bias), "swapped": mechanism.CheckAll("p", 1, &swapped.kept, &swapped.flipped), "doubled": mechanism.CheckAll("p", 1, &doubled.flipped),
	} {
		if !errors.As(err, &failed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLocalRefuses(t *testing.T) {
	l, s := mechanismtest.Ledger(t), rng.Seed(1).Stream("x")
	pm := Piecewise{Purpose: "p", Epsilon: 1, Unit: privacy.Feature}
	oue := UnaryEncoding{Purpose: "p", Epsilon: 1, Unit: privacy.Feature}
	for name, err := range map[string]error{
		"above one":   PerturbPiecewise(pm, l, s, []float32{0, 1.01}),
		"NaN":         PerturbPiecewise(pm, l, s, []float64{math.NaN()}),
		"no epsilon":  PerturbPiecewise(Piecewise{Purpose: "p", Unit: privacy.Feature}, l, s, []float32{0}),
		"no unit":     PerturbPiecewise(Piecewise{Purpose: "p", Epsilon: 1}, l, s, []float32{0}),
		"no purpose":  PerturbUnary(UnaryEncoding{Epsilon: 1, Unit: privacy.Feature}, l, s, []float32{0}, 1),
		"no ledger":   PerturbUnary(oue, nil, s, []float32{0}, 1),
		"two ones":    PerturbUnary(oue, l, s, []float32{0, 1, 1}, 3),
		"a half":      PerturbUnary(oue, l, s, []float32{0.5, 0, 0}, 3),
		"ragged":      PerturbUnary(oue, l, s, []float32{0, 1}, 3),
		"no features": PerturbFeatures(FeatureSampler{Purpose: "p", Epsilon: 1}, l, s, []float32{}),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if len(l.Entries()) != 0 {
		t.Errorf("a refusal was recorded: %v", l.Entries())
	}
	data := []float64{0.5, 7}
	if PerturbPiecewise(pm, l, s, data) == nil || data[0] != 0.5 {
		t.Error("data was changed before it was refused")
	}
	for _, err := range []error{PerturbPiecewise(pm, l, s, []float32{}), PerturbUnary(oue, l, s, []float32{}, 3)} {
		if err != nil || len(l.Entries()) != 0 {
			t.Errorf("nothing to perturb: %v, %v", err, l.Entries())
		}
	}
}

// kinds of features of the three data sets of the DIPSGNN paper.
func kinds(categories ...int) (f []FeatureKind) {
	for i, c := range categories {
		f = append(f, FeatureKind{Name: string(rune('a' + i)), Categories: c})
	}
	return f
}

// The table of section 1.2 of the specification.
func TestFeatureBudgets(t *testing.T) {
	ml, tmall, yelp := kinds(2, 7, 21), kinds(9, 3), kinds(0, 0, 0, 0, 0, 0)
	for _, c := range []struct {
		kinds   []FeatureKind
		eps     float64
		k       int
		per     float64
		q, c, r float64 // flip 0->1, bound C; relative tolerance of the print
	}{
		{ml, 10, 3, 3.333, 0.0344, 0, 2e-3}, {ml, 20, 3, 6.667, 0.00127, 0, 3e-3}, {ml, 30, 3, 10, 4.5e-5, 0, 1e-2},
		{tmall, 10, 2, 5, 0.00669, 0, 1e-3}, {tmall, 20, 2, 10, 4.5e-5, 0, 1e-2}, {tmall, 30, 2, 15, 3.1e-7, 0, 2e-2},
		{yelp, 10, 4, 2.5, 0, 1.803, 5e-4}, {yelp, 20, 6, 3.333, 0, 1.466, 5e-4}, {yelp, 30, 6, 5, 0, 1.179, 5e-4},
		{ml, 1, 1, 1, 0, 0, 0}, {ml, 5, 2, 2.5, 0, 0, 0}, {ml, 4.99, 1, 4.99, 0, 0, 0}, {kinds(0), 1e300, 1, 1e300, 0, 0, 0},
	} {
		f := FeatureSampler{Epsilon: c.eps, Features: c.kinds}
		if f.K() != c.k || math.Abs(f.PerFeature()/c.per-1) > 2e-4 {
			t.Errorf("eps %g, n %d: k %d, e %g, want %d, %g", c.eps, len(c.kinds), f.K(), f.PerFeature(), c.k, c.per)
		}
		if q := (UnaryEncoding{Epsilon: f.PerFeature()}).Q(); c.q > 0 && math.Abs(q/c.q-1) > c.r {
			t.Errorf("eps %g, n %d: flip %g, want %g", c.eps, len(c.kinds), q, c.q)
		}
		if b := (Piecewise{Epsilon: f.PerFeature()}).C(); c.c > 0 && math.Abs(b/c.c-1) > c.r {
			t.Errorf("eps %g, n %d: C %g, want %g", c.eps, len(c.kinds), b, c.c)
		}
	}
}

func numeric(users, n int) []float64 {
	x := make([]float64, users*n)
	for i := range x {
		x[i] = math.Sin(float64(i%n)) * 0.8
	}
	return x
}

// k of n numbers, each drawn by a share k/n of the users, and the vector
// unbiased thanks to the factor n/k.
func TestFeaturesAreUnbiased(t *testing.T) {
	const users, n = 60_000, 6
	f := FeatureSampler{Purpose: "features", Epsilon: 10, Features: kinds(0, 0, 0, 0, 0, 0)}
	x, y, l := numeric(users, n), numeric(users, n), mechanismtest.Ledger(t)
	if err := PerturbFeatures(f, l, rng.Seed(5).Stream("features"), y); err != nil {
		t.Fatal(err)
	}
	pm := Piecewise{Epsilon: f.PerFeature()}
	share := float64(f.K()) / n
	for j := range n {
		var sum, zeros float64
		for i := range users {
			v := y[i*n+j]
			sum += v
			if v == 0 {
				zeros++
			}
		}
		if d := (zeros/users - (1 - share)) / math.Sqrt(share*(1-share)/users); math.Abs(d) > mechanismtest.Sigmas {
			t.Errorf("feature %d: a share %g is zero, want %g", j, zeros/users, 1-share)
		}
		want := x[j]
		variance := (pm.Variance(want)+want*want)/share - want*want
		if d := (sum/users - want) / math.Sqrt(variance/users); math.Abs(d) > mechanismtest.Sigmas {
			t.Errorf("feature %d: mean %g, want %g (%.1f standard errors)", j, sum/users, want, d)
		}
	}
	for i := range users {
		drawn := 0
		for _, v := range y[i*n : (i+1)*n] {
			if v != 0 {
				drawn++
			}
		}
		if drawn != 4 {
			t.Fatalf("user %d drew %d features, want 4", i, drawn)
		}
	}
	want := privacy.Entry{Purpose: "features", Count: 1, Event: privacy.PureLDP{Epsilon: 10, Unit: privacy.Feature}}
	if e := l.Entries(); len(e) != 1 || e[0] != want {
		t.Errorf("ledger %v", e)
	}
}

// One user's noise does not depend on who else there is.
func TestFeaturesAreKeyedByUser(t *testing.T) {
	f := FeatureSampler{Purpose: "features", Epsilon: 5, Features: kinds(2, 0, 3)}
	row := []float32{0, 1, 0.25, 0, 0, 0}
	few, many := append([]float32{}, row...), []float32{}
	for range 50 {
		many = append(many, row...)
	}
	s := rng.Seed(9).Stream("features")
	for _, data := range [][]float32{few, many} {
		if err := PerturbFeatures(f, mechanismtest.Ledger(t), s, data); err != nil {
			t.Fatal(err)
		}
	}
	for i := range few {
		if few[i] != many[i] {
			t.Fatalf("value %d of the first user is %g alone and %g among others", i, few[i], many[i])
		}
	}
}

// The released code's variant: one subset, the rest in the clear, and said so.
func TestSharedClear(t *testing.T) {
	const users, n = 2000, 6
	f := FeatureSampler{Purpose: "features", Epsilon: 10, Features: kinds(0, 0, 0, 0, 0, 0), Unselected: SharedClear}
	x, y, l := numeric(users, n), numeric(users, n), mechanismtest.Ledger(t)
	if err := PerturbFeatures(f, l, rng.Seed(5).Stream("features"), y); err != nil {
		t.Fatal(err)
	}
	clear := 0
	for j := range n {
		same := 0
		for i := range users {
			if y[i*n+j] == x[i*n+j] {
				same++
			}
		}
		switch same {
		case users:
			clear++
		case 0:
		default:
			t.Errorf("feature %d is clear for %d of %d users", j, same, users)
		}
	}
	if clear != 2 {
		t.Errorf("%d features in the clear, want 2", clear)
	}
	var bare *privacy.Unprotected
	for _, e := range l.Entries() {
		if u, ok := e.Event.(privacy.Unprotected); ok {
			bare = &u
		}
	}
	if bare == nil || strings.Count(bare.Why, ",") != 1 || bare.Unit != privacy.Feature {
		t.Errorf("the ledger does not say which two: %v", l.Entries())
	}
	// With k = n nothing is left in the clear and nothing is to be said.
	f.Epsilon, l = 20, mechanismtest.Ledger(t)
	if err := PerturbFeatures(f, l, rng.Seed(5).Stream("features"), y[:0:0]); err != nil {
		t.Fatal(err)
	}
	if err := PerturbFeatures(f, l, rng.Seed(5).Stream("features"), numeric(10, n)); err != nil || len(l.Entries()) != 1 {
		t.Errorf("%v, %v", err, l.Entries())
	}
}

func TestFeaturesRefuse(t *testing.T) {
	l, s := mechanismtest.Ledger(t), rng.Seed(1).Stream("x")
	good := FeatureSampler{Purpose: "p", Epsilon: 5, Features: kinds(2, 0)}
	bad := func(change func(f *FeatureSampler)) FeatureSampler { f := good; change(&f); return f }
	for name, err := range map[string]error{
		"ragged":     PerturbFeatures(good, l, s, []float32{0, 1}),
		"number":     PerturbFeatures(good, l, s, []float32{0, 1, 2}),
		"category":   PerturbFeatures(good, l, s, []float32{1, 1, 0}),
		"unselected": PerturbFeatures(bad(func(f *FeatureSampler) { f.Unselected = "kept" }), l, s, []float32{1, 0, 0}),
		"unnamed":    PerturbFeatures(bad(func(f *FeatureSampler) { f.Features = []FeatureKind{{}} }), l, s, []float32{1}),
		"infinite":   PerturbFeatures(bad(func(f *FeatureSampler) { f.Epsilon = math.Inf(1) }), l, s, []float32{1, 0, 0}),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if len(l.Entries()) != 0 {
		t.Error("a refusal was recorded")
	}
}

// A missing value is zeros: accepted alone and in a vector of mixed features, and
// perturbed bit by bit as the zeros of any other vector, a number as 0.
func TestMissingValues(t *testing.T) {
	const users, width = 60_000, 4
	for _, eps := range []float64{1, 6} { // 1 of 2 features drawn, then both
		f := FeatureSampler{Purpose: "features", Epsilon: eps, Features: kinds(3, 0)}
		data, l := make([]float32, users*width), mechanismtest.Ledger(t)
		for i := width; i < len(data); i += 3 * width { // a third of the users have the first level and the number 1
			data[i], data[i+3] = 1, 1
		}
		if err := PerturbFeatures(f, l, rng.Seed(6).Stream("features"), data); err != nil {
			t.Fatal(err)
		}
		share := float64(f.K()) / 2
		u, pm := UnaryEncoding{Epsilon: f.PerFeature()}, Piecewise{Epsilon: f.PerFeature()}
		n, ones, sum := 0.0, [3]float64{}, 0.0
		for i := 0; i < len(data); i += width {
			if i%(3*width) == width {
				continue
			}
			n++
			for j := range ones {
				if v := data[i+j]; v == 1 {
					ones[j]++
				} else if v != 0 {
					t.Fatalf("a bit is %g", v)
				}
			}
			sum += float64(data[i+3])
		}
		for j, got := range ones {
			p := share * u.Q()
			if d := (got - n*p) / math.Sqrt(n*p*(1-p)); math.Abs(d) > mechanismtest.Sigmas {
				t.Errorf("eps %g: bit %d is set for %g of %g users without a value, want a share %g (%.1f standard errors)", eps, j, got, n, p, d)
			}
		}
		if d := sum / math.Sqrt(n*pm.Variance(0)/share); math.Abs(d) > mechanismtest.Sigmas {
			t.Errorf("eps %g: missing numbers have mean %g, %.1f standard errors off", eps, sum/n, d)
		}
		want := privacy.Entry{Purpose: "features", Count: 1, Event: privacy.PureLDP{Epsilon: eps, Unit: privacy.Feature}}
		if e := l.Entries(); len(e) != 1 || e[0] != want {
			t.Errorf("ledger %v", e)
		}
	}
	// nan is not how a missing value is written.
	nan := float32(math.NaN())
	for _, row := range [][]float32{{nan, 0, 0, 0}, {0, 0, 0, nan}} {
		if PerturbFeatures(FeatureSampler{Purpose: "p", Epsilon: 5, Features: kinds(3, 0)}, mechanismtest.Ledger(t), rng.Stream{}, row) == nil {
			t.Errorf("%v was accepted", row)
		}
	}
}

// A share outside (0, 1] is refused.
func TestFeaturesRefuseShares(t *testing.T) {
	for _, bad := range []mechanism.Share{-0.1, 1.1, mechanism.Share(math.NaN())} {
		f := FeatureSampler{Purpose: "p", Epsilon: 5, Features: kinds(2), Share: bad}
		if err := PerturbFeatures(f, mechanismtest.Ledger(t), rng.Stream{}, []float32{0, 1}); err == nil {
			t.Errorf("features: a share of %v was accepted", bad)
		}
	}
}
