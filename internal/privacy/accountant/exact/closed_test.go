package exact

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// sticks is the hockey stick of two laws on the same outcomes, by definition.
func sticks(p, q []float64, eps float64) (sum float64) {
	for i := range p {
		sum += math.Max(0, p[i]-math.Exp(eps)*q[i])
	}
	return sum
}

// pair is two laws that are each other's mirror images, so that both directions
// have one curve: what thinning supposes of its base.
func pair(t *rapid.T) (p, q []float64) {
	n := rapid.IntRange(2, 7).Draw(t, "outcomes")
	p, q = make([]float64, n), make([]float64, n)
	sum := 0.0
	for i := range p {
		p[i] = rapid.Float64Range(0.01, 1).Draw(t, "p")
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	for i := range p {
		q[i] = p[n-1-i]
	}
	return p, q
}

// Thinning against the mixture itself, outcome by outcome, in both directions and
// over all of the curve.
func TestThinAgainstMixtures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, q := pair(t)
		rate := math.Exp(rapid.Float64Range(-12, 0).Draw(t, "log rate"))
		mixed := make([]float64, len(p))
		most := math.Inf(-1)
		for i := range p {
			mixed[i] = (1-rate)*q[i] + rate*p[i]
			most = math.Max(most, math.Log(p[i]/q[i]))
		}
		base := func(e float64) float64 { return math.Log(sticks(p, q, e)) }
		eps := rapid.Float64Range(0, 1.2).Draw(t, "share") * most
		if rapid.Bool().Draw(t, "low") {
			eps *= rate
		}
		for d, want := range map[Direction]float64{Remove: sticks(mixed, q, eps), Add: sticks(q, mixed, eps)} {
			if got := math.Exp(sampledCurve(rate, d, base)(eps)); math.Abs(got-want) > 1e-13+1e-11*want {
				t.Fatalf("%s rate %g at %g: %.17g, mixture %.17g", d, rate, eps, got, want)
			}
		}
	})
}

// Wrong forms of thinning that look right are not within that tolerance.
func TestThinFaultsAreSeen(t *testing.T) {
	p, q := []float64{0.6, 0.3, 0.1}, []float64{0.1, 0.3, 0.6}
	const rate, eps = 0.2, 0.1
	mixed := make([]float64, len(p))
	for i := range p {
		mixed[i] = (1-rate)*q[i] + rate*p[i]
	}
	base := func(e float64) float64 { return math.Log(sticks(p, q, e)) }
	remove, add := sticks(mixed, q, eps), sticks(q, mixed, eps)
	for name, c := range map[string][2]float64{
		"scale without the move":     {rate * math.Exp(base(eps)), remove},
		"move without the scale":     {math.Exp(base(baseEpsilon(rate, Remove, eps))), remove},
		"linear in epsilon":          {rate * math.Exp(base(eps/rate)), remove},
		"one direction for both":     {math.Exp(sampledCurve(rate, Remove, base)(eps)), add},
		"the other one":              {math.Exp(sampledCurve(rate, Add, base)(eps)), remove},
		"add without b":              {rate * math.Exp(base(baseEpsilon(rate, Add, eps))), add},
		"an extra factor one less q": {(1 - rate) * math.Exp(sampledCurve(rate, Remove, base)(eps)), remove},
	} {
		if math.Abs(c[0]-c[1]) < 1e-3*c[1] {
			t.Errorf("%s: %g for %g", name, c[0], c[1])
		}
	}
}

// The point on the base's curve: fixed at nought, rising in epsilon, above it, and
// falling in the rate.
func TestThinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := math.Exp(rapid.Float64Range(-25, -1e-6).Draw(t, "log rate"))
		eps := math.Exp(rapid.Float64Range(-20, 7).Draw(t, "log eps"))
		for _, d := range []Direction{Remove, Add} {
			if a := baseEpsilon(q, d, 0); a != 0 {
				t.Fatalf("%s: %g at nought", d, a)
			}
			a := baseEpsilon(q, d, eps)
			if a < eps*(1-1e-14) {
				t.Fatalf("%s rate %g: %g below %g", d, q, a, eps)
			}
			if b := baseEpsilon(q, d, eps*1.01); b < a {
				t.Fatalf("%s rate %g: falls from %g to %g", d, q, a, b)
			}
			if b := baseEpsilon(q*1.01, d, eps); q*1.01 < 1 && b > a*(1+1e-13) {
				t.Fatalf("%s rate %g: rises with the rate from %g to %g", d, q, a, b)
			}
			if end := -math.Log1p(-q); d == Add && math.IsInf(a, 1) != (eps >= end) && math.Abs(eps/end-1) > 1e-12 {
				t.Fatalf("add rate %g: %g at %g, where the loss ends at %g", q, a, eps, end)
			}
		}
		if a := baseEpsilon(1, Remove, eps); a != eps {
			t.Fatalf("rate one: %g at %g", a, eps)
		}
	})
	// The forms meet, and exp(epsilon)/q is never taken where it has no number.
	for _, q := range []float64{1e-90, 1e-9, 0.3, 1 - 1e-9} {
		for eps := 20.0; eps < 1500; eps *= 1.001 {
			if got, want := baseEpsilon(q, Remove, eps), eps-math.Log(q); math.Abs(got-want) > 1e-8 {
				t.Errorf("rate %g at %g: %g, want %g", q, eps, got, want)
			}
		}
		if a, b := baseEpsilon(q, Remove, 30), baseEpsilon(q, Remove, math.Nextafter(30, 31)); math.Abs(b-a) > 1e-12 {
			t.Errorf("rate %g: %g, then %g", q, a, b)
		}
	}
	p := &plan{terms: []term{{sampledGaussian{mu: 60, rate: 1e-9}, 1}}}
	for _, eps := range []float64{680, 695, 699.9, 701} {
		if v, err := p.delta(Remove, eps); err != nil || !(v.Delta > 1e-10 && v.Delta < 1.001e-9) {
			t.Errorf("a loud release on a rare sample at %g: %+v, %v", eps, v, err)
		}
	}
}

// Finitely many losses against the definition, and nothing beyond the last.
func TestTableDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tab := randomAtoms(t, "law")
		eps := rapid.Float64Range(-4, 6).Draw(t, "eps")
		want := 0.0
		for k, l := range tab.loss {
			want += tab.p[k] * math.Max(0, 1-math.Exp(eps-l))
		}
		if got := math.Exp(tab.delta(eps)); math.Abs(got-want) > 1e-14 {
			t.Fatalf("%g: %.17g, want %.17g", eps, got, want)
		}
	})
}

// The crossing is where the loss is epsilon; it rises with epsilon and is at 0 for
// none, the two mixtures being mirror images.
func TestCrossing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := sampledGaussian{mu: rapid.Float64Range(0.05, 8).Draw(t, "mu"), rate: rapid.Float64Range(0.001, 0.999).Draw(t, "rate"), replace: true}
		eps := rapid.Float64Range(0, 20).Draw(t, "eps")
		m := g.mu / 2
		loss := func(x float64) float64 {
			up := 1 - g.rate + g.rate*math.Exp(m*x-m*m/2)
			down := 1 - g.rate + g.rate*math.Exp(-m*x-m*m/2)
			return math.Log(up / down)
		}
		x := g.crossing(eps)
		if got := loss(x); math.Abs(got-eps) > 1e-11*(1+eps+m*x) {
			t.Fatalf("%+v: loss %.15g at %g, want %.15g", g, got, x, eps)
		}
		if y := g.crossing(eps + 0.01); y < x {
			t.Fatalf("%+v: crossing falls from %g to %g", g, x, y)
		}
		if zero := g.crossing(0); math.Abs(loss(zero)) > 1e-15 {
			t.Fatalf("%+v: crossing %g at nought", g, zero)
		}
	})
}

// log(1 + q (e^x - 1)) in all of its forms, against the plain one where that is
// good and the leading term where it is not; monotone over the seams.
func TestLogMixed(t *testing.T) {
	for _, q := range []float64{1e-12, 1e-3, 0.3, 0.5, 0.9, 1 - 1e-9} {
		g := sampledGaussian{mu: 1, rate: q}
		for x := -40.; x <= 690; x += 0.37 {
			want := math.Log((1 - q) + q*math.Exp(x))
			if got := g.logMixed(x); math.Abs(got-want) > 4e-16*(2+math.Abs(want))+2*ulp/math.Max(1-q, math.Exp(x)) {
				t.Errorf("q %g x %g: %.17g, plain %.17g", q, x, got, want)
			}
		}
		for _, x := range []float64{689.999, 690, 690.001, 800, 1e6} {
			if got, want := g.logMixed(x), math.Log(q)+x; math.Abs(got-want) > 1e-12*want {
				t.Errorf("q %g x %g: %g, want %g", q, x, got, want)
			}
		}
		// To second order around nought, where 1 + u has no digits of u.
		for _, x := range []float64{1e-8, -1e-8, 1e-12} {
			if got, want := g.logMixed(x), q*x+q*(1-q)*x*x/2; math.Abs(got/want-1) > 1e-13 {
				t.Errorf("q %g x %g: %g, want %g", q, x, got, want)
			}
		}
		last := math.Inf(-1)
		for x := -60.; x < 720; x += 0.11 {
			if got := g.logMixed(x); got < last {
				t.Errorf("q %g: falls at %g", q, x)
			} else {
				last = got
			}
		}
	}
}

// One release under replace against Simpson's rule over the positive part of the
// densities' difference.
func TestTiltedAgainstSimpson(t *testing.T) {
	density := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	for _, g := range []sampledGaussian{{mu: 0.4, rate: 0.01}, {mu: 1, rate: 0.3}, {mu: 2.4, rate: 0.7}, {mu: 5, rate: 0.99}} {
		g.replace = true
		m := g.mu / 2
		p := func(x float64) float64 { return (1-g.rate)*density(x) + g.rate*density(x-m) }
		for _, eps := range []float64{0, 0.001, 0.2, 1.4} {
			from := g.crossing(eps)
			const n = 20_000
			h, sum := (from+14+m-from)/n, 0.0
			for i := 0; i <= n; i++ {
				x := from + float64(i)*h
				w := 2.0
				switch {
				case i == 0 || i == n:
					w = 1
				case i%2 == 1:
					w = 4
				}
				sum += w * h / 3 * (p(x) - math.Exp(eps)*p(-x))
			}
			got := math.Exp(g.replaceDelta(eps))
			if tol := 1e-11*sum + 1e-15; math.Abs(got-sum) > tol {
				t.Errorf("%+v at %g: %.15g, Simpson %.15g", g, eps, got, sum)
			}
		}
	}
}

// Single releases are closed, everything else is not; the closed curve and the
// bound that it is bracketed by agree on where delta is met.
func TestSticksOfPlans(t *testing.T) {
	for name, l := range laws() {
		for _, d := range []Direction{Remove, Add} {
			one := (&plan{terms: []term{{l, 1}}}).closedCurve(d)
			switch k := l.(type) {
			case sampledGaussian, laplace:
				if one == nil {
					t.Errorf("%s %s: no closed curve", name, d)
					continue
				}
			case discreteLaplace:
				if (one != nil) != (k.rate < 1) {
					t.Errorf("%s %s: closed %v", name, d, one != nil)
				}
			default:
				if one != nil {
					t.Errorf("%s %s: a closed curve", name, d)
				}
			}
			for what, p := range map[string]*plan{
				"two":           {terms: []term{{l, 2}}},
				"two kinds":     {terms: []term{{l, 1}, {response{eps: 1, categories: 2}, 1}}},
				"with gaussian": {mu2: 1, terms: []term{{l, 1}}},
			} {
				if p.closedCurve(d) != nil {
					t.Errorf("%s %s: %s are closed", name, d, what)
				}
			}
			if one == nil {
				continue
			}
			last := 0.0
			for _, eps := range []float64{0, 1e-6, 1e-3, 0.1, 0.4} {
				v := one.log(eps)
				if v > last+1e-12 {
					t.Errorf("%s %s: log delta rises to %g at %g", name, d, v, eps)
				}
				last = v
				if r := one.err(eps); !math.IsInf(v, -1) && !(r >= 0 && r < 1e-6) && v > -600 {
					t.Errorf("%s %s at %g: error %g at log delta %g", name, d, eps, r, v)
				}
			}
			for _, delta := range []float64{1e-3, 1e-9} {
				if most := one.most(delta); one.log(most) > math.Log(delta) {
					t.Errorf("%s %s: epsilon %g is not enough for %g", name, d, most, delta)
				}
			}
		}
	}
}

// delta of one Laplace release, and the ends of its curve.
func TestLogLaplace(t *testing.T) {
	for _, r := range []float64{1e-6, 0.5, 3, 40} {
		for _, share := range []float64{0, 0.2, 0.99} {
			eps := share * r
			if got, want := math.Exp(logLaplace(r, eps)), 1-math.Exp((eps-r)/2); math.Abs(got-want) > 1e-15 {
				t.Errorf("range %g at %g: %g, want %g", r, eps, got, want)
			}
		}
		for _, eps := range []float64{r, 2 * r, 1e9} {
			if got := logLaplace(r, eps); !math.IsInf(got, -1) {
				t.Errorf("range %g at %g: %g", r, eps, got)
			}
		}
	}
}

// The largest loss of a loud release on a sample is a number where the exponential
// of the release's own is none, and epsilon with it.
func TestLoudLaplaceOnASample(t *testing.T) {
	for _, r := range []float64{0.5, 600, 709, 711, 2000, 9000} {
		const q = 0.1
		want := r + math.Log(q+(1-q)*math.Exp(-r))
		if got := mostMixed(r, q, Remove); math.Abs(got-want) > 1e-12*want {
			t.Errorf("range %g: largest loss %g, want %g", r, got, want)
		}
		if got, want := mostMixed(r, q, Add), -math.Log1p(-q*-math.Expm1(-r)); math.Abs(got-want) > 1e-15 {
			t.Errorf("range %g: largest loss %g the other way, want %g", r, got, want)
		}
		p := &plan{terms: []term{{laplace{shift: r, rate: q}, 1}}}
		v, err := p.epsilon(Remove, 1e-20)
		if err != nil || v.Epsilon < want*(1-1e-12) || v.Epsilon > want*(1+1e-12) || math.IsNaN(v.Error) {
			t.Errorf("range %g: %+v, %v, want %v", r, v, err, want)
		}
	}
}
