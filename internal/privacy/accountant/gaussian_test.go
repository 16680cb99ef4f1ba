package accountant

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Delta against direct numerical integration of max(0, p - e^eps q): the slow
// and independent form of the definition.
func TestDeltaAgainstIntegration(t *testing.T) {
	for _, mu := range []float64{1e-4, 0.01, 0.3, 0.49, 0.51, 1, 3, 10} {
		for _, eps := range []float64{0, 1e-5, 1e-3, 0.1, 1, 5, 20} {
			from := eps/mu + mu/2 // where the densities of N(mu,1) and N(0,1) cross
			const n = 200_000
			width := 12 + mu
			h := width / n
			s := 0.0
			for i := range n {
				x := from + (float64(i)+0.5)*h
				// p(x)(1 - e^(eps - mu x + mu²/2)): no cancellation
				s -= math.Exp(-(x-mu)*(x-mu)/2) * math.Expm1(eps-mu*x+mu*mu/2)
			}
			want := s * h / math.Sqrt(2*math.Pi)
			if want < 1e-300 {
				continue
			}
			if got := Delta(mu, eps); math.Abs(got/want-1) > 1e-6 {
				t.Errorf("delta(mu %g, eps %g) = %g, integral %g", mu, eps, got, want)
			}
		}
	}
}

// Over random settings: no NaN, epsilon falls with delta and grows with mu, the
// inverses are inverse and never overshoot, the closed bound is above.
func TestGaussianProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Pow(10, rapid.Float64Range(-4, 2).Draw(t, "log mu"))
		delta := math.Pow(10, rapid.Float64Range(-15, -0.01).Draw(t, "log delta"))
		more := 1 + math.Pow(10, rapid.Float64Range(-6, 0).Draw(t, "log more"))
		get := func(m, d float64) float64 {
			e, err := Exact(m, d)
			if err != nil || math.IsNaN(e) || e < 0 || math.IsInf(e, 0) {
				t.Fatalf("Exact(%g, %g) = %g, %v", m, d, e, err)
			}
			return e
		}
		eps := get(mu, delta)
		if c := Closed(mu*mu, delta); eps > c {
			t.Fatalf("exact %g above its bound %g", eps, c)
		}
		if LogDelta(mu, eps) > math.Log(delta) {
			t.Fatalf("epsilon %g is not enough", eps)
		}
		if e := get(mu*more, delta); e < eps {
			t.Fatalf("a larger mu gives %g, below %g", e, eps)
		}
		if e := get(mu, math.Min(delta*more, 0.999)); e > eps {
			t.Fatalf("a larger delta gives %g, above %g", e, eps)
		}
		back, err := MuFor(eps, delta)
		if err != nil || LogDelta(back, eps) > math.Log(delta) {
			t.Fatalf("MuFor overshoots: %g, %v", back, err)
		}
		if eps > 1e-9 && math.Abs(back/mu-1) > 1e-7 {
			t.Fatalf("mu %g came back as %g", mu, back)
		}
		sigma, err := SigmaFor(3, eps, delta)
		if err != nil || 3/sigma > back {
			t.Fatalf("sigma %g is too small for mu %g: %v", sigma, back, err)
		}
		if eps > 1e-9 && math.Abs(Closed(square(ClosedMu(eps, delta)), delta)/eps-1) > 1e-12 {
			t.Fatal("the closed form and its inverse disagree")
		}
	})
}

func square(x float64) float64 { return x * x }

// The table of section 1.6 of the specification: sigma/(C sqrt T) by the
// paper's formula.
func TestClosedSigmaTable(t *testing.T) {
	for _, c := range []struct{ delta, eps3, eps4, eps5 float64 }{
		{2.5e-7, 1.9246, 1.4639, 1.1870}, {1e-6, 1.8426, 1.4032, 1.1391}, {1e-7, 1.9769, 1.5026, 1.2177},
	} {
		for eps, want := range map[float64]float64{3: c.eps3, 4: c.eps4, 5: c.eps5} {
			if got := ClosedSigma(0.2, 4, eps, c.delta) / (0.2 * 2); math.Abs(got-want) > 5e-5 {
				t.Errorf("delta %g, epsilon %g: %.4f, want %.4f", c.delta, eps, got, want)
			}
		}
	}
	mu := ClosedMu(5, 2.5e-7)
	if eps, err := Exact(mu, 2.5e-7); err != nil || math.Abs(eps-4.26) > 0.005 {
		t.Errorf("the exact epsilon of a claimed 5 is %g, want 4.26", eps)
	}
}

func TestGaussianRefuses(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][2]float64{{nan, 0.1}, {-1, 0.1}, {inf, 0.1}, {1, 0}, {1, 1}, {1, nan}, {1, -0.5}, {1, 2}} {
		if e, err := Exact(c[0], c[1]); err == nil {
			t.Errorf("Exact%v = %g", c, e)
		}
		if m, err := MuFor(c[0], c[1]); err == nil {
			t.Errorf("MuFor%v = %g", c, m)
		}
	}
	for _, s := range []float64{0, -1, nan, inf} {
		if _, err := SigmaFor(s, 1, 0.1); err == nil {
			t.Errorf("sensitivity %g accepted", s)
		}
	}
	if e, err := Exact(0, 0.1); e != 0 || err != nil {
		t.Errorf("no release costs %g, %v", e, err)
	}
}
