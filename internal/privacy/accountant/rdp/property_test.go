package rdp_test

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/accountant/rdp"
)

// battery is what every family of curves must satisfy; a new one is a line here.
// noise makes a curve from a noise level: more of it never costs more.
type family struct {
	name  string
	curve func(noise, q float64) (rdp.Curve, error)
	// amplifies: a lower rate never costs more; at rate 1 it is the plain curve.
	amplifies bool
	// loose: a bound that is not itself a divergence, which need not grow with the
	// order everywhere nor have a convex cumulant.
	loose bool
}

func families() []family {
	plain := func(f func(noise float64) (rdp.Curve, error)) func(noise, q float64) (rdp.Curve, error) {
		return func(noise, _ float64) (rdp.Curve, error) { return f(noise) }
	}
	poisson := func(f func(noise float64) (rdp.Curve, error)) func(noise, q float64) (rdp.Curve, error) {
		return func(noise, q float64) (rdp.Curve, error) {
			c, err := f(noise)
			if err != nil {
				return nil, err
			}
			return rdp.Poisson{Rate: q, Base: c}.Curve()
		}
	}
	gaussian := func(s float64) (rdp.Curve, error) { return rdp.Gaussian(s, 1) }
	laplace := func(b float64) (rdp.Curve, error) { return rdp.Laplace(b, 1) }
	discrete := func(b float64) (rdp.Curve, error) { return rdp.DiscreteLaplace(b, 3) }
	without := func(noise, q float64) (rdp.Curve, error) {
		c, err := rdp.Laplace(noise, 1)
		if err != nil {
			return nil, err
		}
		return rdp.WithoutReplacement{Rate: q, Base: c, EpsInf: 1 / noise, Capped: true}.Curve()
	}
	return []family{
		{"gaussian", plain(gaussian), false, false},
		{"laplace", plain(laplace), false, false},
		{"discrete laplace", plain(discrete), false, false},
		{"pure", plain(func(n float64) (rdp.Curve, error) { return rdp.PureDP(1 / n) }), false, false},
		{"randomized response", plain(func(n float64) (rdp.Curve, error) { return rdp.RandomizedResponse(1/n, 7) }), false, false},
		{"bounded range", plain(func(n float64) (rdp.Curve, error) { return rdp.BoundedRange(1 / n) }), false, true},
		{"sampled gaussian", func(n, q float64) (rdp.Curve, error) { return rdp.SampledGaussian(q, n) }, true, false},
		{"poisson laplace", poisson(laplace), true, true},
		{"poisson discrete laplace", poisson(discrete), true, true},
		{"without replacement laplace", without, false, true},
		{"without replacement gaussian", func(n, q float64) (rdp.Curve, error) {
			w, err := rdp.WithoutReplacementGaussian(q, n)
			if err != nil {
				return nil, err
			}
			g, err := rdp.Gaussian(n, 1)
			return rdp.Min(w, g), err
		}, false, true},
	}
}

// Over random settings of every family: no NaN, nothing negative, monotone in
// order, noise and rate, n at once is n times one, and the unsampled curve at
// rate 1.
func TestCurveProperties(t *testing.T) {
	for _, f := range families() {
		t.Run(f.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				noise := math.Pow(10, rapid.Float64Range(-1.5, 3).Draw(t, "log noise"))
				q := math.Pow(10, rapid.Float64Range(-7, 0).Draw(t, "log rate"))
				alpha := 1 + math.Pow(10, rapid.Float64Range(-5, 2).Draw(t, "log order-1"))
				more := 1 + math.Pow(10, rapid.Float64Range(-4, 0.5).Draw(t, "log more"))
				get := func(noise, q, alpha float64) float64 {
					c, err := f.curve(noise, q)
					if err != nil {
						t.Fatalf("%v, %v: %v", noise, q, err)
					}
					v := c(alpha)
					if math.IsNaN(v) || v < 0 {
						t.Fatalf("noise %v, rate %v, order %v: %v", noise, q, alpha, v)
					}
					return v
				}
				const slack = 1 + 1e-11
				v := get(noise, q, alpha)
				if w := get(noise*more, q, alpha); w > v*slack {
					t.Fatalf("noise %v, rate %v, order %v: %v, with %v times the noise %v", noise, q, alpha, v, more, w)
				}
				if w := get(noise, q, 1+(alpha-1)*more); w*slack < v && !f.loose {
					t.Fatalf("noise %v, rate %v: %v at order %v, %v at %v", noise, q, v, alpha, w, 1+(alpha-1)*more)
				}
				if w := get(noise, math.Min(1, q*more), alpha); f.amplifies && w*slack < v {
					t.Fatalf("noise %v, order %v: %v at rate %v, %v at %v times that", noise, alpha, v, q, w, more)
				}
				if full := get(noise, 1, alpha); f.amplifies && v > full*slack {
					t.Fatalf("noise %v, order %v: %v at rate %v, more than unsampled %v", noise, alpha, v, q, full)
				}
				if top := get(noise, q, math.Inf(1)); top*slack < v {
					t.Fatalf("order %v costs %v, more than the largest log-ratio %v", alpha, v, top)
				}
				if kl := get(noise, q, 1); kl > v*slack && !f.loose {
					t.Fatalf("order %v costs %v, less than the divergence %v", alpha, v, kl)
				}
				if low := get(noise, q, 0.5); !math.IsInf(low, 1) {
					t.Fatalf("an order below 1 has the value %v", low)
				}
				c, err := f.curve(noise, q)
				if err != nil {
					t.Fatal(err)
				}
				if n := rdp.Times(c, 17)(alpha); math.Abs(n-17*v) > 1e-12*n {
					t.Fatalf("17 times %v is %v", v, n)
				}
				if f.loose || alpha > 60 {
					return
				}
				// The cumulant (alpha-1) D is convex: a chord is above it.
				far := 1 + (alpha-1)*(1+more)
				mid := (alpha + far) / 2
				if k := (mid - 1) * get(noise, q, mid); k > ((alpha-1)*v+(far-1)*get(noise, q, far))/2*slack+1e-300 {
					t.Fatalf("noise %v, rate %v: the cumulant is not convex between %v and %v", noise, q, alpha, far)
				}
			})
		})
	}
}

// Conversions over random compositions: tight is below classic and best below
// tight, a larger delta gives a smaller epsilon, the two directions are inverse,
// nothing is below the exact value, and a free search is no worse than a grid.
func TestConversionProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mu := math.Pow(10, rapid.Float64Range(-4, 1.5).Draw(t, "log mu"))
		delta := math.Pow(10, rapid.Float64Range(-14, -0.2).Draw(t, "log delta"))
		c := rdp.ZCDP(mu * mu / 2)
		get := func(delta float64, o rdp.Options) rdp.Point {
			p, err := rdp.Epsilon(context.Background(), c, delta, o)
			if err != nil || math.IsNaN(p.Epsilon) || p.Epsilon < 0 || !(p.Order >= 1) {
				t.Fatalf("mu %v, delta %v, %+v: %+v, %v", mu, delta, o, p, err)
			}
			return p
		}
		best, tight, classic := get(delta, rdp.Options{}), get(delta, rdp.Options{Conversion: rdp.Tight}), get(delta, rdp.Options{Conversion: rdp.Classic})
		if best.Epsilon > tight.Epsilon || tight.Epsilon > classic.Epsilon {
			t.Fatalf("mu %v, delta %v: best %+v, tight %+v, classic %+v", mu, delta, best, tight, classic)
		}
		if best.AtEnd || tight.AtEnd || classic.AtEnd {
			t.Fatalf("mu %v, delta %v: a free search ends at an order: %+v, %+v, %+v", mu, delta, best, tight, classic)
		}
		// The closed form is the same minimum on the continuum.
		if want := accountant.Closed(mu*mu, delta); math.Abs(classic.Epsilon-want) > 3e-12*want {
			t.Fatalf("mu %v, delta %v: classic %v, closed form %v", mu, delta, classic.Epsilon, want)
		}
		if exact, err := accountant.Exact(mu, delta); err != nil || best.Epsilon < exact*(1-1e-12) {
			t.Fatalf("mu %v, delta %v: %v is below the exact %v, %v", mu, delta, best.Epsilon, exact, err)
		}
		for _, grid := range [][]float64{rdp.Default(), rdp.DPAccounting(), rdp.Whole(64),
			{1.01, 1.1, 1.5, 2, 5, 12, 32, 100}} {
			if p := get(delta, rdp.Options{Orders: grid, Fixed: true}); p.Epsilon < best.Epsilon*(1-1e-12) {
				t.Fatalf("mu %v, delta %v: %v on the grid %v, %v without", mu, delta, p.Epsilon, grid, best.Epsilon)
			}
		}
		if more := get(math.Min(0.9, delta*1.5), rdp.Options{}); more.Epsilon > best.Epsilon {
			t.Fatalf("mu %v: %v at delta %v, %v at a larger one", mu, best.Epsilon, delta, more.Epsilon)
		}
		if tight.Epsilon > 1e-6 {
			back, err := rdp.Delta(context.Background(), c, tight.Epsilon, rdp.Options{Conversion: rdp.Tight})
			if err != nil || back.Delta > delta*(1+1e-6) || back.Delta < delta*(1-1e-6) {
				t.Fatalf("mu %v: epsilon %v at delta %v, back %+v, %v", mu, tight.Epsilon, delta, back, err)
			}
		}
		eps := rapid.Float64Range(0, 20).Draw(t, "epsilon")
		d, err := rdp.Delta(context.Background(), c, eps, rdp.Options{})
		if err != nil || math.IsNaN(d.Delta) || d.Delta < accountant.Delta(mu, eps)*(1-1e-12) || d.Delta > 1 {
			t.Fatalf("mu %v, epsilon %v: delta %+v, %v; exact %v", mu, eps, d, err, accountant.Delta(mu, eps))
		}
		if fewer, err := rdp.Delta(context.Background(), c, eps+0.1, rdp.Options{}); err != nil || fewer.Delta > d.Delta {
			t.Fatalf("mu %v: delta %v at epsilon %v, %+v at a larger one", mu, d.Delta, eps, fewer)
		}
	})
}

// A composition costs the sum, a choice of branches the largest, several bounds
// the smallest; and each is monotone, as a result of the parts being so.
func TestCombinations(t *testing.T) {
	a, b := must(rdp.Gaussian(2, 1))(t), must(rdp.Laplace(1, 1))(t)
	for _, alpha := range []float64{1, 1.5, 2, 40, math.Inf(1)} {
		x, y := a(alpha), b(alpha)
		for name, c := range map[string][2]float64{
			"sum": {rdp.Sum(a, b)(alpha), x + y}, "max": {rdp.Max(a, b)(alpha), math.Max(x, y)}, "min": {rdp.Min(a, b)(alpha), math.Min(x, y)},
			"none": {rdp.Times(a, 0)(alpha), 0}, "empty": {rdp.Sum()(alpha), 0}, "three": {rdp.Times(b, 3)(alpha), 3 * y},
		} {
			if c[0] != c[1] {
				t.Errorf("%s at order %v is %v, want %v", name, alpha, c[0], c[1])
			}
		}
	}
	if p := must(rdp.Epsilon(context.Background(), rdp.Sum(), 0, rdp.Options{}))(t); p.Epsilon != 0 {
		t.Errorf("nothing costs %+v", p)
	}
}

// Noise on whole numbers: the zCDP bound is above the true divergence of the
// discrete normal law, and far distances agree with the sum over all integers.
func TestDiscreteNoise(t *testing.T) {
	divergence := func(log func(k float64) float64, d, alpha float64, span int) float64 {
		term := func(k float64) float64 { return alpha*log(k-d) + (1-alpha)*log(k) }
		z, s, top := 0.0, 0.0, math.Inf(-1)
		for k := -span; k <= span+int(d); k++ {
			z += math.Exp(log(float64(k)))
			top = math.Max(top, term(float64(k)))
		}
		for k := -span; k <= span+int(d); k++ {
			s += math.Exp(term(float64(k)) - top)
		}
		return (top + math.Log(s/z)) / (alpha - 1)
	}
	for _, sigma := range []float64{0.4, 1, 5} {
		for _, d := range []float64{1, 2, 4} {
			c := must(rdp.DiscreteGaussian(sigma, d))(t)
			for _, alpha := range []float64{1.3, 2, 9} {
				truth := divergence(func(k float64) float64 { return -k * k / (2 * sigma * sigma) }, d, alpha, int(40*sigma+alpha*d)+20)
				if c(alpha) < truth*(1-1e-12) || c(alpha) > truth*3 {
					t.Errorf("discrete gaussian sigma %v, distance %v, order %v: bound %v of %v", sigma, d, alpha, c(alpha), truth)
				}
			}
		}
	}
	for _, c := range [][3]float64{{5000, 5000, 2}, {5000, 5000, 1.2}, {900, 4097, 7.5}, {20000, 4500, 30}, {3, 5000, 1.1}, {3, 5000, 50}} {
		b, d, alpha := c[0], c[1], c[2]
		truth := d/b - math.Log1p(math.Exp(-1/b))/(alpha-1) // all that is beyond the centre of P
		if (alpha-1)*d/b < 300 {
			truth = divergence(func(k float64) float64 { return -math.Abs(k) / b }, d, alpha, int(45*b))
		}
		got := must(rdp.DiscreteLaplace(b, d))(t)(alpha)
		if got < truth*(1-1e-11) || got > truth*(1+2e-3) {
			t.Errorf("discrete laplace b %v, distance %v, order %v: %v, want %v", b, d, alpha, got, truth)
		}
	}
	// Distances are whole: what rounding left above or below one is one.
	one := must(rdp.DiscreteLaplace(2, 1))(t)(3)
	for _, d := range []float64{0.3, 0.9999999, 1 + 1e-12, 1.5, 1.99} {
		if got := must(rdp.DiscreteLaplace(2, d))(t)(3); got != one {
			t.Errorf("distance %v costs %v, want that of 1, %v", d, got, one)
		}
	}
}
