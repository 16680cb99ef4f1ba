package local_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/privacy/reference"
	"privrec/internal/rng"
)

// integrate is Simpson's rule over n pairs of pieces between neighbouring cuts.
func integrate(f func(y float64) float64, n int, cuts ...float64) (sum float64) {
	for i, a := range cuts[:len(cuts)-1] {
		h := (cuts[i+1] - a) / float64(2*n)
		if h <= 0 {
			continue
		}
		// Open at the ends, where the density jumps: the limit from within.
		at := func(k int) float64 {
			return f(min(max(a+float64(k)*h, math.Nextafter(a, cuts[i+1])), math.Nextafter(cuts[i+1], a)))
		}
		for k := 0; k < 2*n; k += 2 {
			sum += h / 3 * (at(k) + 4*at(k+1) + at(k+2))
		}
	}
	return sum
}

// moment is the mean of g over the law of the piecewise mechanism at x.
func moment(m local.Piecewise, x float64, g func(y float64) float64) float64 {
	l, r := m.Bounds(x)
	c := m.C()
	cuts := []float64{-c, math.Max(-c, l), math.Min(c, r), c}
	return integrate(func(y float64) float64 { return g(y) * m.Density(y, x) }, 8, cuts...)
}

// Mass, mean and variance by quadrature of the density that is exported; the
// fourth moment, which no formula gives, is that of its mirror image.
func TestPiecewiseMomentsByQuadrature(t *testing.T) {
	for _, eps := range []float64{0.05, 0.5, 1, 2.5, 6, 12} {
		m := local.Piecewise{Epsilon: eps}
		c := m.C()
		for _, x := range []float64{-1, -0.7, 0, 1. / 3, 1} {
			mass := moment(m, x, func(float64) float64 { return 1 })
			mean := moment(m, x, func(y float64) float64 { return y })
			square := moment(m, x, func(y float64) float64 { return (y - x) * (y - x) })
			if math.Abs(mass-1) > 1e-11 || math.Abs(mean-x) > 1e-10*c || math.Abs(square/m.Variance(x)-1) > 1e-9 {
				t.Errorf("eps %g, x %g: mass %.14g, mean %g, variance %g, want 1, %g and %g", eps, x, mass, mean, square, x, m.Variance(x))
			}
			fourth := func(x float64) float64 { return moment(m, x, func(y float64) float64 { return y * y * y * y }) }
			if a, b := fourth(x), fourth(-x); math.Abs(a/b-1) > 1e-11 {
				t.Errorf("eps %g: fourth moments %g at %g and %g at its mirror image", eps, a, x, b)
			}
		}
	}
}

// The law is symmetric, moves with its input, and no pair of inputs shows with more
// than e^eps in any set of outputs (data processing: intervals as well as points).
func TestPiecewiseIsPrivateInIntervals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eps := rapid.Float64Range(0.05, 8).Draw(t, "eps")
		m := local.Piecewise{Epsilon: eps}
		c := m.C()
		x, z := rapid.Float64Range(-1, 1).Draw(t, "x"), rapid.Float64Range(-1, 1).Draw(t, "z")
		y := rapid.Float64Range(-c, c).Draw(t, "y")
		if l, r := m.Bounds(x); math.Abs(y-l) > 1e-9 && math.Abs(y-r) > 1e-9 && m.Density(y, x) != m.Density(-y, -x) {
			t.Fatalf("density %g at %g, %g at the mirror image", m.Density(y, x), y, m.Density(-y, -x))
		}
		a, b := y, rapid.Float64Range(-c, c).Draw(t, "b")
		a, b = min(a, b), max(a, b)
		if b-a < 1e-6 {
			return
		}
		within := func(x float64) float64 {
			l, r := m.Bounds(x)
			cuts := []float64{a, b, min(max(l, a), b), min(max(r, a), b)}
			slices.Sort(cuts)
			return integrate(func(y float64) float64 { return m.Density(y, x) }, 1, cuts...)
		}
		if p, q := within(x), within(z); p > math.Exp(eps)*q*(1+1e-9) || p > 1+1e-9 {
			t.Fatalf("inputs %g and %g are within [%g, %g] with %g and %g: more than e^%g", x, z, a, b, p, q, eps)
		}
		l, r := m.Bounds(x)
		if l2, r2 := m.Bounds(z); math.Abs((r-l)-(r2-l2)) > 1e-9*c || math.Abs((l2-l)-(c+1)/2*(z-x)) > 1e-9*c || l < -c-1e-9 || r > c+1e-9 {
			t.Fatalf("centres [%g, %g] and [%g, %g] within %g", l, r, l2, r2, c)
		}
	})
}

// piecewiseCDF is the distribution function, from the exported parts.
func piecewiseCDF(m local.Piecewise, x, y float64) float64 {
	l, r := m.Bounds(x)
	c := m.C()
	low := (1 - m.Centre()) / (c + 1)
	switch {
	case y < l:
		return low * (y + c)
	case y < r:
		return low*(l+c) + m.Centre()*(y-l)/(r-l)
	}
	return 1 - low*(c-y)
}

// distanceToLaw is the largest distance of the empirical distribution function,
// Kolmogorov and Smirnov's: above sqrt(x/(2n)) with probability at most 2 e^-x
// (Dvoretzky, Kiefer, Wolfowitz; Massart 1990).
func distanceToLaw(values []float64, cdf func(y float64) float64) (d float64) {
	slices.Sort(values)
	n := float64(len(values))
	for i, y := range values {
		d = max(d, cdf(y)-float64(i)/n, float64(i+1)/n-cdf(y))
	}
	return d
}

// The sampled outputs have the law, false alarm 1e-9 each; the mistakes that the
// literature warns of are further away than that.
func TestPiecewiseSamplesHaveTheLaw(t *testing.T) {
	const n = 30_000
	allowed := math.Sqrt(math.Log(2e9) / (2 * n))
	s := rng.Seed(5).Stream("faults")
	for _, eps := range []float64{0.7, 4} {
		for _, x := range []float64{0.25, 1} {
			m := local.Piecewise{Purpose: "pm", Epsilon: eps, Unit: privacy.Feature}
			draw := func(m local.Piecewise, x float64) []float64 {
				v := slices.Repeat([]float64{x}, n)
				if err := local.PerturbPiecewise(m, research(), rng.Seed(5).Stream("pm"), v); err != nil {
					t.Fatal(err)
				}
				return v
			}
			law := func(y float64) float64 { return piecewiseCDF(m, x, y) }
			right := draw(m, x)
			if d := distanceToLaw(right, law); d > allowed {
				t.Errorf("eps %g, x %g: %g from the law, want %g", eps, x, d, allowed)
			}
			double := m
			double.Epsilon *= 2
			mirrored := make([]float64, n)
			for i, y := range right {
				mirrored[i] = -y
			}
			clamped := make([]float64, n)
			for i, y := range right {
				clamped[i] = max(-1, min(1, y))
			}
			uniform := make([]float64, n)
			duchi := make([]float64, n)
			for i := range uniform {
				uniform[i] = m.C() * (2*s.Float64() - 1)
				if duchi[i] = reference.DuchiBound(eps); s.Float64() > 0.5+x/(2*reference.DuchiBound(eps)) {
					duchi[i] = -duchi[i]
				}
			}
			faults := map[string][]float64{"twice the budget": draw(double, x), "uniform": uniform, "Duchi's": duchi}
			if eps < 1 { // else hardly any output is beyond 1
				faults["clamped to the input's range"] = clamped
			}
			if math.Abs(x) == 1 {
				faults["of -x"] = mirrored
			}
			for name, values := range faults {
				if d := distanceToLaw(values, law); d < allowed {
					t.Errorf("eps %g, x %g: %s passes at %g", eps, x, name, d)
				}
			}
		}
	}
}

// The mechanism of Duchi et al. as it is described: unbiased, of the stated variance,
// and of ratio e^eps exactly between 1 and -1; the hybrid one is the mixture, never
// worse than the better of its parts at the input that is worst for it.
func TestDuchiAndHybrid(t *testing.T) {
	for _, eps := range []float64{0.1, 0.5, 0.61, 0.65, 1, 1.29, 3, 10} {
		b := reference.DuchiBound(eps)
		up := func(x float64) float64 { return 0.5 + x/(2*b) }
		if r := up(1) / up(-1); math.Abs(math.Log(r)-eps) > 1e-9 {
			t.Errorf("eps %g: ratio e^%g", eps, math.Log(r))
		}
		worst := map[string]float64{}
		for _, x := range []float64{-1, -0.5, 0, 0.3, 1} {
			p := up(x)
			mean, v := b*(2*p-1), 4*b*b*(p*(1-p)*(1-p)+(1-p)*p*p)
			if math.Abs(mean-x) > 1e-12*b || math.Abs(v/reference.DuchiVariance(eps, x)-1) > 1e-9 {
				t.Errorf("eps %g, x %g: mean %g, variance %g, want %g", eps, x, mean, v,
					reference.DuchiVariance(eps, x))
			}
			pm := local.Piecewise{Epsilon: eps}
			share := reference.HybridShare(eps)
			mixture := (1-share)*reference.DuchiVariance(eps, x) + share*pm.Variance(x)
			if got := reference.HybridVariance(eps, x); math.Abs(got/mixture-1) > 1e-9 ||
				got != reference.HybridVariance(eps, -x) {
				t.Errorf("eps %g, x %g: hybrid %g, want %g", eps, x, got, mixture)
			}
			worst["duchi"] = max(worst["duchi"], reference.DuchiVariance(eps, x))
			worst["pm"] = max(worst["pm"], pm.Variance(x))
			worst["hybrid"] = max(worst["hybrid"], reference.HybridVariance(eps, x))
			// Above the switch the hybrid's variance does not depend on the input at all.
			at0 := reference.HybridVariance(eps, 0)
			if share > 0 && math.Abs(reference.HybridVariance(eps, x)/at0-1) > 1e-9 {
				t.Errorf("eps %g: hybrid variance %g at %g, %g at 0", eps, reference.HybridVariance(eps, x), x, at0)
			}
		}
		if worst["hybrid"] > min(worst["duchi"], worst["pm"])*(1+5e-3) { // 0.61 is rounded
			t.Errorf("eps %g: worst variances %v", eps, worst)
		}
		if better := worst["pm"] < worst["duchi"]; better != (eps >= 1.29) {
			t.Errorf("eps %g: the piecewise mechanism is better: %v (they meet at 1.29)", eps, better)
		}
	}
}
