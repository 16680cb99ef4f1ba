package exact_test

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/terms"
)

// losses is a distribution of the privacy loss under P, by value.
type losses map[float64]float64

// plus is the law of the sum of two losses, values that differ by rounding joined.
func (a losses) plus(b losses) losses {
	out := losses{}
	for x, p := range a {
		for y, q := range b {
			out[math.Round((x+y)*1e9)/1e9] += p * q
		}
	}
	return out
}

func (a losses) times(n int) losses {
	out := losses{0: 1}
	for range n {
		out = out.plus(a)
	}
	return out
}

// delta is the hockey stick with a mu-Gaussian-DP release beside, mu 0: none.
func (a losses) delta(eps, mu float64) float64 {
	sum := 0.0
	for l, p := range a {
		switch {
		case mu > 0:
			sum += p * stick(mu, eps-l)
		case l > eps:
			sum -= p * math.Expm1(eps-l)
		}
	}
	return sum
}

// stick is delta of a mu-Gaussian-DP release at any real eps.
func stick(mu, eps float64) float64 {
	phi := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	return phi(mu/2-eps/mu) - math.Exp(eps)*phi(-mu/2-eps/mu)
}

func response(eps float64, k int64) losses {
	z := math.Exp(eps) + float64(k) - 1
	l := losses{eps: math.Exp(eps) / z, -eps: 1 / z}
	if k > 2 {
		l[0] = float64(k-2) / z
	}
	return l
}

func discreteLaplace(scale float64, shift int) losses {
	l := losses{}
	for x := -2000; x <= 2000; x++ {
		p := math.Tanh(1/(2*scale)) * math.Exp(-math.Abs(float64(x))/scale)
		l[math.Round((math.Abs(float64(x-shift))-math.Abs(float64(x)))/scale*1e9)/1e9] += p
	}
	return l
}

func discreteGaussian(sigma float64, shift int) losses {
	l, z := losses{}, 0.0
	for x := -60; x <= 60; x++ {
		z += math.Exp(-float64(x*x) / (2 * sigma * sigma))
	}
	for x := -60; x <= 60; x++ {
		if p := math.Exp(-float64(x*x)/(2*sigma*sigma)) / z; p > 1e-40 {
			l[math.Round(float64(shift*(shift+2*x))/(2*sigma*sigma)*1e9)/1e9] += p
		}
	}
	return l
}

// thin is the loss of the sampled release, seen from the data with the unit.
func (a losses) thin(q float64) losses {
	out := losses{}
	for l, p := range a {
		at := p * math.Exp(-l) // under Q
		out[math.Log1p(q*math.Expm1(l))] += at * (1 + q*math.Expm1(l))
	}
	return out
}

func ldp(eps float64, n int64) terms.Term {
	return local(privacy.PureLDP{Epsilon: eps, Unit: privacy.User}, n)
}

func rr(eps float64, k, n int64) terms.Term {
	return local(privacy.RandomizedResponse{Epsilon: eps, Categories: k, Unit: privacy.User}, n)
}

func dlap(scale, shift float64, n int64) terms.Term {
	return plain(privacy.DiscreteLaplace{Scale: scale, Sensitivity: shift, Unit: privacy.User, Neighbouring: privacy.AddRemove}, n)
}

func dgauss(sigma, shift float64, n int64) terms.Term {
	return plain(privacy.DiscreteGaussian{Sigma: sigma, Sensitivity: shift, Dimension: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}, n)
}

func gaussians(sigma float64, n int64) terms.Term {
	return plain(gauss(sigma, 1, privacy.AddRemove), n)
}

// Every kind with a discrete loss, alone and together, with and without Gaussians,
// against the convolution of its losses.
func TestAgainstConvolution(t *testing.T) {
	for name, c := range map[string]struct {
		ts     []terms.Term
		law    losses
		mu     float64
		method exact.Method
	}{
		"responses":               {list(rr(0.4, 2, 12)), response(0.4, 2).times(12), 0, exact.Lattice},
		"categories":              {list(rr(0.4, 5, 12)), response(0.4, 5).times(12), 0, exact.Lattice},
		"three":                   {list(rr(0.1, 3, 9)), response(0.1, 3).times(9), 0, exact.Lattice},
		"large epsilon":           {list(rr(30, 4, 3)), response(30, 4).times(3), 0, exact.Lattice},
		"pure local":              {list(ldp(1.5, 7)), response(1.5, 2).times(7), 0, exact.Lattice},
		"one":                     {list(ldp(1.5, 1)), response(1.5, 2), 0, exact.Lattice},
		"half as large":           {list(rr(1, 3, 3), rr(2, 2, 4)), response(1, 3).times(3).plus(response(2, 2).times(4)), 0, exact.Lattice},
		"discrete laplace":        {list(dlap(2, 3, 6)), discreteLaplace(2, 3).times(6), 0, exact.Lattice},
		"discrete laplace by one": {list(dlap(1, 1.9, 4)), discreteLaplace(1, 1).times(4), 0, exact.Lattice},
		"discrete gaussian":       {list(dgauss(2, 1, 5)), discreteGaussian(2, 1).times(5), 0, exact.Lattice},
		"coarse gaussian":         {list(dgauss(0.5, 1, 4)), discreteGaussian(0.5, 1).times(4), 0, exact.Lattice},
		"gaussian by three":       {list(dgauss(3, 3.5, 2)), discreteGaussian(3, 3).times(2), 0, exact.Lattice},
		"responses, gaussians":    {list(rr(0.4, 2, 6), gaussians(2, 4)), response(0.4, 2).times(6), 1, exact.Contour},
		"two kinds, gaussians":    {list(rr(0.5, 3, 4), dlap(3, 2, 3), gaussians(1, 1)), response(0.5, 3).times(4).plus(discreteLaplace(3, 2).times(3)), 1, exact.Contour},
		"all kinds": {list(ldp(0.3, 2), dlap(2.5, 2, 2), dgauss(2, 1, 2), gaussians(4, 4)),
			response(0.3, 2).times(2).plus(discreteLaplace(2.5, 2).times(2)).plus(discreteGaussian(2, 1).times(2)), 0.5, exact.Contour},
		"sampled discrete": {list(sampled(dlap(1, 3, 1).Leaf, 0.2, 3), gaussians(2, 1)), discreteLaplace(1, 3).thin(0.2).times(3), 0.5, exact.Contour},
		"sampled alone":    {list(sampled(dlap(1, 3, 1).Leaf, 0.2, 1)), discreteLaplace(1, 3).thin(0.2), 0, exact.Closed},
	} {
		checked := 0
		for _, eps := range []float64{0, 0.1, 0.7, 1, 1.3, 2.2, 4, 7} {
			want := c.law.delta(eps, c.mu)
			if want < 1e-12 {
				continue
			}
			checked++
			v, err := exact.DeltaIn(context.Background(), exact.Remove, c.ts, eps)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			// The convolution rounds losses to 1e-9.
			if math.Abs(v.Delta-want) > 3e-8*want+1e-14 || v.Method != c.method {
				t.Errorf("%s at %g: %.15g by %s, convolution %.15g", name, eps, v.Delta, v.Method, want)
			}
			if v.Error < 0 || v.Error > 1e-9*v.Delta {
				t.Errorf("%s at %g: error %g of %g", name, eps, v.Error, v.Delta)
			}
			if v.Delta == 1 {
				continue
			}
			e, err := exact.EpsilonIn(context.Background(), exact.Remove, c.ts, v.Delta)
			if err != nil || math.Abs(e.Epsilon-eps) > 1e-7*(1+eps) {
				t.Errorf("%s: delta(%g) = %g back to %v (%v)", name, eps, v.Delta, e, err)
			}
		}
		if checked < 2 {
			t.Errorf("%s: %d points", name, checked)
		}
	}
}

// A single release of each continuous kind beside Gaussians: delta is the mean of
// the Gaussian's over the release's loss, by direct integration over its noise.
func TestAgainstIntegration(t *testing.T) {
	const mu = 0.7
	beside := gaussians(1/mu, 1)
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	double := func(x float64) float64 { return math.Exp(-math.Abs(x)) / 2 }
	mean := func(p, q func(x float64) float64, eps float64) float64 {
		const from, to, n = -40., 40., 200_000
		h, sum := (to-from)/n, 0.0
		for i := range int(n) {
			x := from + (float64(i)+0.5)*h
			if a := p(x); a > 0 {
				sum += a * stick(mu, eps-math.Log(a/q(x))) * h
			}
		}
		return sum
	}
	mix := func(f func(x float64) float64, q, m float64) func(x float64) float64 {
		return func(x float64) float64 { return (1-q)*f(x) + q*f(x-m) }
	}
	replace := sampled(gauss(1, 1.8, privacy.Replace), 0.3, 1)
	replace.Relation = privacy.Replace
	for name, c := range map[string]struct {
		term terms.Term
		p, q func(x float64) float64
	}{
		"sampled gaussian": {sampled(gauss(1, 0.9, privacy.AddRemove), 0.3, 1), mix(normal, 0.3, 0.9), normal},
		"replace":          {replace, mix(normal, 0.3, 0.9), mix(normal, 0.3, -0.9)},
		"laplace":          {plain(laplace(1, 1.3), 1), mix(double, 1, 1.3), double},
		"sampled laplace":  {sampled(laplace(1, 1.3), 0.2, 1), mix(double, 0.2, 1.3), double},
	} {
		for _, eps := range []float64{0, 0.4, 1.5} {
			for d, want := range map[exact.Direction]float64{exact.Remove: mean(c.p, c.q, eps), exact.Add: mean(c.q, c.p, eps)} {
				v, err := exact.DeltaIn(context.Background(), d, list(c.term, beside), eps)
				if err != nil || math.Abs(v.Delta-want) > 2e-7*want {
					t.Errorf("%s %s at %g: %.12g, integral %.12g (%v)", name, d, eps, v.Delta, want, err)
				}
			}
		}
	}
}

// One sampled release: the closed forms, both relations, against the definition.
func TestSingleSampled(t *testing.T) {
	normal := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	for _, m := range []float64{0.1, 0.9, 3} {
		for _, q := range []float64{0.01, 0.5, 0.97} {
			mix := func(x, m float64) float64 { return (1-q)*normal(x) + q*normal(x-m) }
			stick := func(p, q func(x float64) float64, eps float64) float64 {
				const from, to, n = -14., 17., 400_000
				h, sum := (to-from)/n, 0.0
				for i := range int(n) {
					x := from + (float64(i)+0.5)*h
					sum += math.Max(0, p(x)-math.Exp(eps)*q(x)) * h
				}
				return sum
			}
			with := func(x float64) float64 { return mix(x, m) }
			other := func(x float64) float64 { return mix(x, -m) }
			replace := sampled(gauss(1, 2*m, privacy.Replace), q, 1)
			replace.Relation = privacy.Replace
			for _, eps := range []float64{0, 0.01, 0.3, 1.1} {
				for _, c := range []struct {
					name string
					t    terms.Term
					d    exact.Direction
					want float64
				}{
					{"remove", sampled(gauss(1, m, privacy.AddRemove), q, 1), exact.Remove, stick(with, normal, eps)},
					{"add", sampled(gauss(1, m, privacy.AddRemove), q, 1), exact.Add, stick(normal, with, eps)},
					{"replace", replace, exact.Remove, stick(with, other, eps)},
				} {
					v, err := exact.DeltaIn(context.Background(), c.d, list(c.t), eps)
					if err != nil || math.Abs(v.Delta-c.want) > 1e-6*c.want+1e-9 {
						t.Errorf("m %g q %g %s at %g: %.12g, integral %.12g (%v)", m, q, c.name, eps, v.Delta, c.want, err)
					}
					if v.Delta < 1e-14 || err != nil {
						continue
					}
					e, err := exact.EpsilonIn(context.Background(), c.d, list(c.t), v.Delta)
					if err != nil || math.Abs(e.Epsilon-eps) > 1e-7 {
						t.Errorf("m %g q %g %s: back to %+v, want %g (%v)", m, q, c.name, e, eps, err)
					}
				}
			}
		}
	}
}

// Moving two coordinates by a and b costs no more than one by a+b: what makes one
// coordinate the worst for the l1 sensitivity of Laplace noise, both kinds.
func TestOneCoordinateIsWorst(t *testing.T) {
	beside := gaussians(3, 1) // so that the continuous kind is covered
	for _, scale := range []float64{0.5, 1, 4} {
		for _, ab := range [][2]float64{{1, 1}, {1, 5}, {3, 3}, {2, 9}} {
			a, b := ab[0], ab[1]
			for _, eps := range []float64{0, 0.3, 3} {
				for _, pair := range [][2][]terms.Term{
					{list(dlap(scale, a, 1), dlap(scale, b, 1)), list(dlap(scale, a+b, 1))},
					{list(plain(laplace(scale, a), 1), plain(laplace(scale, b), 1), beside), list(plain(laplace(scale, a+b), 1), beside)},
				} {
					two, err := exact.Delta(context.Background(), pair[0], eps)
					one, err1 := exact.Delta(context.Background(), pair[1], eps)
					if err != nil || err1 != nil {
						t.Errorf("scale %g, %v: %v, %v", scale, ab, err, err1)
					} else if two.Delta-two.Error > one.Delta {
						t.Errorf("scale %g, %v at %g: two coordinates %g, one %g", scale, ab, eps, two.Delta, one.Delta)
					}
				}
			}
		}
	}
}
