package local

import (
	"math"
	"privrec/internal/privacy/reference"
	"testing"

	"pgregory.net/rapid"
)

// The variance at epsilons where its exponentials overflow, or vanish, against
// 50-digit arithmetic; it is never NaN and falls with epsilon.
func TestPiecewiseVariance(t *testing.T) {
	for _, c := range []struct{ eps, x, want float64 }{
		{1e-6, 0, 5333331333333.722}, {1e-6, 1, 5333333333333.222},
		{1e-3, 0, 5331333.722180557}, {0.5, -0.5, 18.58195983701736},
		{300, 0, 2.39169865772147e-66}, {300, 1, 9.566794630885881e-66},
		{700, 0.5, 5.792261064487905e-153}, {1400, 1, 1.314623539167969e-304},
		{1420, 0, 0}, {1500, 1, 0}, {2000, 1, 0}, {1e300, -1, 0},
	} {
		if got := (Piecewise{Epsilon: c.eps}).Variance(c.x); !(math.Abs(got-c.want) <= 1e-13*c.want+1e-307) {
			t.Errorf("epsilon %v, x %v: %.14g, want %.14g", c.eps, c.x, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		eps := math.Pow(10, rapid.Float64Range(-9, 5).Draw(t, "log epsilon"))
		x := rapid.Float64Range(-1, 1).Draw(t, "x")
		here, there := Piecewise{Epsilon: eps}.Variance(x), Piecewise{Epsilon: eps * 1.01}.Variance(x)
		if !(here >= there && there >= 0) || math.IsInf(here, 0) {
			t.Fatalf("epsilon %v, x %v: %v, a little above %v", eps, x, here, there)
		}
		h, d := reference.HybridVariance(eps, x), reference.DuchiVariance(eps, x)
		if !(h >= 0 && h <= math.Max(here, d)*(1+1e-12) && h >= math.Min(here, d)*(1-1e-12)) {
			t.Fatalf("epsilon %v, x %v: hybrid %v of %v and %v", eps, x, h, here, d)
		}
	})
}

// Density, centre and bounds say the same: the density integrates to one, has
// the mean x and the stated variance, and its two heights are e^eps apart.
func TestPiecewiseLawIsOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := Piecewise{Epsilon: math.Pow(10, rapid.Float64Range(-2, 1.5).Draw(t, "log epsilon"))}
		x := rapid.Float64Range(-1, 1).Draw(t, "x")
		l, r := m.Bounds(x)
		c := m.C()
		in, out := m.Centre()/(r-l), m.Density(c, -1)
		if got := m.Density((l+r)/2, x); math.Abs(got/in-1) > 1e-9 {
			t.Fatalf("density in the centre %v, want %v", got, in)
		}
		if ratio := in / out; math.Abs(math.Log(ratio)-m.Epsilon) > 1e-9*(1+m.Epsilon) {
			t.Fatalf("heights %v and %v: e^%v apart, want e^%v", in, out, math.Log(ratio), m.Epsilon)
		}
		moment := func(k float64) float64 {
			f := func(a, b, h float64) float64 { return h * (math.Pow(b, k) - math.Pow(a, k)) / k }
			return f(-c, c, out) + f(l, r, in-out)
		}
		if one, mean := moment(1), moment(2); math.Abs(one-1) > 1e-9 || math.Abs(mean-x) > 1e-9*(1+c*c) {
			t.Fatalf("mass %v, mean %v, want %v", one, mean, x)
		}
		if v, want := moment(3)-x*x, m.Variance(x); math.Abs(v-want) > 1e-9*(1+c*c*c) {
			t.Fatalf("variance %v, want %v", v, want)
		}
		for _, y := range []float64{-c * 1.001, c * 1.001} {
			if m.Density(y, x) != 0 {
				t.Fatalf("density at %v, beyond %v", y, c)
			}
		}
	})
}
