package local

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	law "privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/mechanismtest"
	"privrec/internal/privacy/mechanism/mechanismtest/choices"
	"privrec/internal/rng"
)

// below returns a lower bound of e^eps.
func below(t testing.TB, eps float64) *big.Rat {
	t.Helper()
	x, _ := mechanism.ExpBelow(eps).Rat(nil)
	return x
}

// gridLaw is the law of the shipped code at an input, in steps, over thresholds of 128 bits.
func gridLaw(t testing.TB, g gridPiecewise, x float64) law.Law[int64] {
	t.Helper()
	l, err := law.Enumerate(func(c *law.Choices) int64 {
		d := mechanism.Draws{Forced: choices.Enumerated{C: c}}
		y, _ := g.draw(&d, x)
		return y
	}, law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// The exact law on coarse grids: no pair of inputs shows an output with more than e^eps, and some
// pair shows one with e^eps to 1e-9; outputs are the integers up to N; the mean is the input to half
// a step. Twice the budget breaks the bound.
func TestGridPiecewiseIsPrivate(t *testing.T) {
	inputs := []float64{-1, -0.77, -1e-9, 1. / 3, 1}
	for _, eps := range []float64{0x1p-10, 0.1, 0.5, 1, 2.5, 5, 9, 40} {
		for _, bits := range []int{-1, 0, 2} {
			if (eps < 0.1) != (bits < 0) {
				continue // thousands of outputs, or a step above all inputs
			}
			g, err := newGridPiecewise(eps, bits)
			if err != nil {
				t.Fatal(err)
			}
			var laws []law.Law[int64]
			for _, x := range inputs {
				l := gridLaw(t, g, x)
				if mechanismtest.Total(l).Cmp(big.NewRat(1, 1)) != 0 || int64(len(l)) != 2*g.n+1 {
					t.Fatalf("eps %g, %d bits: mass %s on %d outputs of %d", eps, bits, mechanismtest.Total(l),
						len(l), 2*g.n+1)
				}
				mean := new(big.Rat)
				for y, p := range l {
					if y < -g.n || y > g.n {
						t.Fatalf("eps %g: output %d beyond %d", eps, y, g.n)
					}
					mean.Add(mean, new(big.Rat).Mul(p, new(big.Rat).SetInt64(y)))
				}
				if m, _ := mean.Float64(); math.Abs(m*g.step-x) > g.step/2+1e-9 {
					t.Errorf("eps %g, %d bits: mean %g at %g, the step is %g", eps, bits, m*g.step, x, g.step)
				}
				laws = append(laws, l)
			}
			worst := new(big.Rat)
			for _, a := range laws {
				for _, b := range laws {
					if r, _ := a.Worst(b); r.Cmp(worst) > 0 {
						worst = r
					}
				}
			}
			if worst.Cmp(below(t, eps)) > 0 {
				t.Errorf("eps %g, %d bits: shows with %s", eps, bits, worst.FloatString(20))
			}
			f, _ := worst.Float64()
			if d := math.Log(f) - eps; math.Abs(d) > 1e-9 {
				t.Errorf("eps %g, %d bits: shows with e^%g, far below its budget", eps, bits, math.Log(f))
			}
			if twice, _ := newGridPiecewise(2*eps, bits); twice.n > twice.h {
				if r, _ := gridLaw(t, twice, -1).Worst(gridLaw(t, twice, 1)); r.Cmp(below(t, eps)) <= 0 {
					t.Errorf("eps %g, %d bits: twice the budget passes", eps, bits)
				}
			}
		}
	}
	for _, eps := range []float64{0, -1, math.NaN(), 0x1p-29} {
		if _, err := newGridPiecewise(eps, gridBits); err == nil {
			t.Errorf("epsilon %g is accepted", eps)
		}
	}
}

// On the grid of 2^-20 the mechanism is the continuous one: bound, chance of the window, mean and
// variance, by their sums over the grid.
func TestGridPiecewiseIsThePiecewiseMechanism(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := math.Pow(2, rapid.Float64Range(-20, 3.5).Draw(t, "log epsilon"))
		x := rapid.Float64Range(-1, 1).Draw(t, "x")
		g, err := newGridPiecewise(eps, gridBits)
		if err != nil {
			t.Fatal(err)
		}
		m := Piecewise{Epsilon: eps}
		n, h, mid, p := float64(g.n), float64(g.h), float64(g.middle(x)), g.odds.P
		if c := n * g.step; math.Abs(c-m.C()) > 8*g.step+1e-9*c || math.Abs(p-m.Centre()) > 1e-4 {
			t.Fatalf("eps %g: bound %g and chance %g, want %g and %g", eps, c, p, m.C(), m.Centre())
		}
		// Sums of squares of integers from -n to n, and of the window.
		w, others := 2*h+1, 2*(n-h)
		all := n * (n + 1) * (2*n + 1) / 3
		window := w*mid*mid + h*(h+1)*(2*h+1)/3
		mean := mid * (p - (1-p)*w/others) * g.step
		square := (p*window/w + (1-p)*(all-window)/others) * g.step * g.step
		if math.Abs(mean-x) > g.step/2+1e-9*m.C() {
			t.Fatalf("eps %g: mean %g at %g", eps, mean, x)
		}
		if v := square - mean*mean; math.Abs(v-m.Variance(x)) > 1e-3*m.Variance(x)+1e-9 {
			t.Fatalf("eps %g: variance %g at %g, want %g", eps, v, x, m.Variance(x))
		}
	})
}

// rowsOf lists all rows of features: numbers from a few, every category and a missing one.
func rowsOf(f FeatureSampler) (rows [][]float64) {
	rows = [][]float64{nil}
	for _, k := range f.Features {
		var values [][]float64
		if k.Categories == 0 {
			values = [][]float64{{-1}, {0.3}, {1}}
		}
		for i := 0; k.Categories > 0 && i <= k.Categories; i++ {
			v := make([]float64, k.Categories)
			if i > 0 {
				v[i-1] = 1
			}
			values = append(values, v)
		}
		var longer [][]float64
		for _, r := range rows {
			for _, v := range values {
				longer = append(longer, slices.Concat(r, v))
			}
		}
		rows = longer
	}
	return rows
}

// rowLaw is the law of the output at a row.
func rowLaw(t testing.TB, r *FeatureRun, row []float64) law.Law[string] {
	t.Helper()
	x, err := r.Rows()
	if err != nil {
		t.Fatal(err)
	}
	l, err := law.Enumerate(func(c *law.Choices) string {
		x.d.Forced = choices.Enumerated{C: c}
		out := slices.Clone(row)
		x.perturb(out)
		return fmt.Sprint(out)
	}, law.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// differ counts the features in which two rows differ.
func differ(f FeatureSampler, a, b []float64) (n int) {
	at := 0
	for _, k := range f.Features {
		if !slices.Equal(a[at:at+k.Width()], b[at:at+k.Width()]) {
			n++
		}
		at += k.Width()
	}
	return n
}

// The exact law of the code that samples, over all subsets, rows and neighbours: rows that differ
// in m features show with at most exp(min(m, k) eps/k), and some pair with that, to 1e-9. So a
// single feature costs eps/k whatever the share of users who report it: sampling amplifies nothing,
// since the zeros show what was drawn. A run with the whole budget for every feature fails.
func TestFeatureRunIsPrivate(t *testing.T) {
	mixed := func(categories ...int) (k []FeatureKind) {
		for i, c := range categories {
			k = append(k, FeatureKind{fmt.Sprint("f", i), c})
		}
		return k
	}
	for _, c := range []struct {
		f    FeatureSampler
		k    int
		bits int
	}{
		{FeatureSampler{Epsilon: 2, Features: mixed(0, 2)}, 1, 1},
		{FeatureSampler{Epsilon: 5, Features: mixed(0, 3)}, 2, 0},
		{FeatureSampler{Epsilon: 5, Features: mixed(0, 2, 2)}, 2, 0},
		{FeatureSampler{Epsilon: 3, Features: mixed(2, 0, 2), Choose: 2}, 2, 0},
		{FeatureSampler{Epsilon: 1, Features: mixed(0, 2), Choose: 2}, 2, -1},
		{FeatureSampler{Epsilon: 1.5, Features: mixed(4), Choose: 1}, 1, 1},
	} {
		c.f.Purpose = "features"
		worst := func(f FeatureSampler) []*big.Rat { // by the number of features that differ
			r, err := f.prepare(mechanism.Secret(), c.bits)
			if err != nil {
				t.Fatal(err)
			}
			rows := rowsOf(f)
			var laws []law.Law[string]
			for _, row := range rows {
				laws = append(laws, rowLaw(t, r, row))
			}
			w := make([]*big.Rat, len(f.Features)+1)
			for i := range w {
				w[i] = new(big.Rat)
			}
			for i, a := range rows {
				for j, b := range rows {
					if x, _ := laws[i].Worst(laws[j]); x.Cmp(w[differ(f, a, b)]) > 0 {
						w[differ(f, a, b)] = x
					}
				}
			}
			return w
		}
		if c.f.K() != c.k {
			t.Fatalf("%v: k is %d", c.f, c.f.K())
		}
		got := worst(c.f)
		for m := 1; m <= len(c.f.Features); m++ {
			want := float64(min(m, c.k)) * c.f.budget()
			if got[m].Cmp(below(t, want)) > 0 {
				t.Errorf("%v: %d features show with %s, want at most e^%g", c.f, m, got[m].FloatString(12), want)
			}
			if x, _ := got[m].Float64(); math.Abs(math.Log(x)-want) > 1e-9 {
				t.Errorf("%v: %d features show with e^%g, want e^%g", c.f, m, math.Log(x), want)
			}
		}
		if c.k > 1 {
			whole := c.f
			whole.Epsilon *= float64(c.k)
			whole.Choose = c.k
			if w := worst(whole); w[len(w)-1].Cmp(below(t, c.f.Epsilon)) <= 0 {
				t.Errorf("%v: the whole budget for every feature passes", c.f)
			}
		}
	}
}

// What k features may spend is never above the budget of the row, not even by rounding.
func TestBudgetIsNotExceededByRounding(t *testing.T) {
	down := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		f := FeatureSampler{Epsilon: rapid.Float64Range(0.01, 100).Draw(t, "eps"), Features: make([]FeatureKind, n), Choose: rapid.IntRange(0, n).Draw(t, "k")}
		e := f.budget()
		all := new(big.Rat).Mul(new(big.Rat).SetFloat64(e), new(big.Rat).SetInt64(int64(f.K())))
		if all.Cmp(new(big.Rat).SetFloat64(f.Epsilon)) > 0 || e < f.PerFeature()*(1-1e-15) {
			t.Fatalf("%d times %v of %v", f.K(), e, f.Epsilon)
		}
		if e != f.PerFeature() {
			down++
		}
	})
	if down == 0 {
		t.Error("no quotient was above its value")
	}
}

// A run gives the bytes of DrawFeatures for any goroutine and order of its rows, and the law of
// PerturbFeatures: means of what was drawn, within 6.11 standard errors, a false alarm of 1e-9 each.
func TestFeatureRunDraws(t *testing.T) {
	f := FeatureSampler{Purpose: "features", Epsilon: 5, Features: []FeatureKind{{"a", 0}, {"b", 3}, {"c", 0}, {"d", 2}}}
	const n = 40_000
	w := f.Width()
	data := make([]float64, n*w)
	for i := range n {
		data[i*w], data[i*w+2], data[i*w+4], data[i*w+5] = 0.4, 1, -1, 1
	}
	bits := mechanism.Keyed(rng.Seed(3).Stream("rows"))
	ledger := func(noise privacy.Noise) *privacy.Ledger {
		l, err := privacy.NewLedger(noise)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	l := ledger(privacy.Research)
	run, err := f.Open(l, bits)
	if err != nil {
		t.Fatal(err)
	}
	two := slices.Clone(data)
	var workers [2]*FeatureRows
	for i := range workers {
		if workers[i], err = run.Rows(); err != nil {
			t.Fatal(err)
		}
	}
	for i := n - 1; i >= 0; i-- {
		if err := workers[i%7%2].Row(two[i*w:(i+1)*w], uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Finish(); err != nil {
		t.Fatal(err)
	}
	if err := DrawFeatures(f, ledger(privacy.Research), bits, data); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(data, two) {
		t.Error("other bytes by other goroutines")
	}
	if e := l.Entries(); len(e) != 1 || e[0].Event != (privacy.PureLDP{Epsilon: 5, Unit: privacy.Feature}) {
		t.Errorf("ledger %v", e)
	}
	p := Piecewise{Epsilon: 2.5}
	q := UnaryEncoding{Epsilon: 2.5}.Q()
	for at, want := range []float64{0.4, q / 2, 0.25, q / 2, -1, 0.25, q / 2} { // k/n = 1/2, numbers doubled
		sum, v := 0.0, want*(1-want)
		if at == 0 || at == 4 {
			v = 2*(p.Variance(want)+want*want) - want*want
		}
		for i := range n {
			sum += data[i*w+at]
		}
		if z := (sum - n*want) / math.Sqrt(n*v); math.Abs(z) > 6.11 {
			t.Errorf("value %d has mean %g, want %g: %.1f standard errors", at, sum/n, want, z)
		}
	}
	// Secret bits need a ledger that says so, and never come twice.
	if _, err := f.Open(ledger(privacy.Research), mechanism.Secret()); err == nil {
		t.Error("secret bits under a research ledger")
	}
	secret := func() []float64 {
		x := slices.Repeat([]float64{0.4, 0, 1, 0, -1, 1, 0}, 50)
		if err := DrawFeatures(f, ledger(privacy.Secure), mechanism.Secret(), x); err != nil {
			t.Fatal(err)
		}
		return x
	}
	if slices.Equal(secret(), secret()) {
		t.Error("secret bits come twice")
	}
}

// Refusals name what is wrong and record nothing.
func TestFeatureRunRefuses(t *testing.T) {
	good := FeatureSampler{Purpose: "features", Epsilon: 5, Features: []FeatureKind{{"a", 0}, {"b", 3}}}
	for _, c := range []struct {
		change func(f *FeatureSampler)
		data   []float64
		want   string
	}{
		{func(f *FeatureSampler) { f.Choose = 3 }, nil, "3 features are to be drawn of 2"},
		{func(f *FeatureSampler) { f.Choose = -1 }, nil, "-1 features are to be drawn of 2"},
		{func(f *FeatureSampler) { f.Epsilon = 0 }, nil, "epsilon is 0, want positive and finite"},
		{func(f *FeatureSampler) { f.Epsilon = -2 }, nil, "epsilon is -2"},
		{func(f *FeatureSampler) { f.Epsilon = math.Inf(1) }, nil, "epsilon is +Inf"},
		{func(f *FeatureSampler) { f.Epsilon = math.NaN() }, nil, "epsilon is NaN"},
		{func(f *FeatureSampler) { f.Epsilon = 1e-12 }, nil, "epsilon of one number"},
		{func(f *FeatureSampler) { f.Features = nil }, nil, "no features"},
		{func(f *FeatureSampler) { f.Unselected = SharedClear }, nil, "in the clear"},
		{func(f *FeatureSampler) {}, []float64{1.5, 0, 0, 1}, `feature a: features: value 0 is 1.5`},
		{func(f *FeatureSampler) {}, []float64{1, 0, 1, 1}, `feature b: features: row 0 holds 2 ones`},
		{func(f *FeatureSampler) {}, []float64{1, 0}, "2 values in rows of 4"},
	} {
		f := good
		c.change(&f)
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		if c.data == nil {
			c.data = []float64{0, 0, 0, 0}
		}
		err = DrawFeatures(f, l, mechanism.Keyed(rng.Seed(1).Stream("x")), c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) || len(l.Entries()) > 0 {
			t.Errorf("%v (%d entries), want %q", err, len(l.Entries()), c.want)
		}
	}
}
