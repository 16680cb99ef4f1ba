package pld

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// finePoints are the losses of pairs by normal noise, by their densities.
func finePoints(name string) (out []atom) {
	law := map[string]struct{ q, mu, back float64 }{
		"gaussian": {1, 0.8, 0}, "sampled gaussian": {0.02, 1, 0}, "rare": {1e-5, 1.5, 0}, "loud": {0.3, 6, 0},
		"replaced": {0.05, 1 / 0.9, 1 / 0.9},
	}[name]
	const step = 1.0 / 512
	for z := -9.0; z < law.mu+9; z += step {
		density := func(mean float64) float64 { return math.Exp(-(z-mean)*(z-mean)/2) / math.Sqrt(2*math.Pi) * step }
		p := (1-law.q)*density(0) + law.q*density(law.mu)
		q := density(0)
		if law.back > 0 {
			q = (1-law.q)*density(0) + law.q*density(-law.back)
		}
		out = append(out, atom{math.Log(p / q), p, q})
	}
	return out
}

// Two and three releases with continuous losses against direct integration: the
// delta of a composition is the mean over the first losses of the last release's
// delta at what is left of epsilon, which its tails give in closed form. It rests
// on no mesh of losses, tilt, window or transform.
func TestIntegration(t *testing.T) {
	all := pairs(t)
	for _, c := range []struct {
		names []string
		tol   float64 // of the quadrature
	}{
		{[]string{"gaussian", "gaussian"}, 1e-10},
		{[]string{"sampled gaussian", "sampled gaussian"}, 1e-9},
		{[]string{"replaced", "replaced"}, 1e-9},
		{[]string{"loud", "loud"}, 1e-9},
		{[]string{"sampled gaussian", "gaussian"}, 1e-10},
		{[]string{"rare", "sampled gaussian"}, 1e-9},
		{[]string{"response", "4-ary response", "sampled gaussian"}, 1e-12},
		{[]string{"sampled discrete gaussian", "response", "replaced"}, 1e-12},
		{[]string{"discrete laplace", "sampled discrete laplace", "laplace"}, 1e-12},
		{[]string{"response", "discrete laplace", "sampled laplace"}, 1e-12},
		{[]string{"gaussian", "laplace"}, 1e-5},
		{[]string{"loud", "sampled laplace"}, 1e-5},
	} {
		var parts []term
		for _, n := range c.names {
			if k := len(parts); k > 0 && c.names[k-1] == n {
				parts[k-1].count++
				continue
			}
			parts = append(parts, term{all[n], 1})
		}
		for _, eps := range []float64{0, 0.05, 0.4, 1.1} {
			bs, err := brackets(context.Background(), parts, query{eps: eps}, Options{Bins: 1 << 14}, false)
			if err != nil {
				t.Errorf("%v: %v", c.names, err)
				continue
			}
			for direction := range 2 {
				want := 0.0
				var sum func(rest []string, p, eps float64)
				sum = func(rest []string, p, eps float64) {
					x := all[rest[0]]
					if len(rest) == 1 {
						d := 0.0
						if direction == 0 {
							d = exactDelta(x, eps)
						} else {
							d = 1 - math.Exp(eps) + math.Exp(eps)*exactDelta(x, -eps)
						}
						want += p * d
						return
					}
					points := x.atoms
					if x.tails != nil {
						points = finePoints(rest[0])
					}
					if direction == 1 {
						points = swapped(points)
					}
					for _, a := range points {
						if a.p > 1e-17 {
							sum(rest[1:], p*a.p, eps-a.loss)
						}
					}
				}
				sum(c.names, 1, eps)
				b := bs[min(direction, len(bs)-1)]
				tol := c.tol*want + 1e-14
				if b.Lower > want+tol || b.Upper < want-tol || b.Upper-b.Lower > 0.05*want+1e-10 {
					t.Errorf("%v, direction %d, epsilon %g: %.12g to %.12g, want %.12g", c.names, direction, eps, b.Lower, b.Upper, want)
				}
			}
		}
	}
}

// Any pair of laws on few points, any mesh, both directions, every epsilon: the
// rounded laws bound the hockey stick from both sides.
func TestRandomAtoms(t *testing.T) {
	check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "atoms")
		x := pair{max: math.Inf(1), min: math.Inf(-1)}
		sumP, sumQ := 0.0, 0.0
		for range n {
			l := rapid.Float64Range(-3, 3).Draw(t, "loss")
			p := logUniform(t, "mass", 1e-6, 1)
			x.atoms = append(x.atoms, atom{l, p, p * math.Exp(-l)})
			sumP, sumQ = sumP+p, sumQ+p*math.Exp(-l)
		}
		slices.SortFunc(x.atoms, func(a, b atom) int {
			if a.loss < b.loss {
				return -1
			}
			return 1
		})
		scale := max(sumP, sumQ)
		for i := range x.atoms {
			x.atoms[i].p /= scale
			x.atoms[i].q /= scale
		}
		x.infP, x.infQ = max(0, 1-sumP/scale), max(0, 1-sumQ/scale)
		x.pin = x.atoms[rapid.IntRange(0, n-1).Draw(t, "pin")].loss
		h := logUniform(t, "mesh", 1e-3, 2)
		c := x.discretise(context.Background(), h, x.atoms[0].loss, x.atoms[n-1].loss)
		for direction, c := range []*cells{c, c.swap()} {
			atoms, inf := x.atoms, x.infP
			if direction == 1 {
				atoms, inf = swapped(x.atoms), x.infQ
			}
			up, low := c.upper(), c.lower()
			for _, m := range []*masses{up, low} {
				for i, w := range m.w {
					if !(w >= -1e-16) {
						t.Fatalf("direction %d: mass %d is %g", direction, i, w)
					}
				}
			}
			for i := range 60 {
				eps := -4 + 8*(float64(i)+0.31)/60
				want := inf
				for _, a := range atoms {
					want += a.p * max(0, -math.Expm1(eps-a.loss))
				}
				tol := 1e-13 * (1 + math.Exp(eps))
				if u, l := hockeyStick(up, eps), hockeyStick(low, eps); u < want-tol || l > want+tol {
					t.Fatalf("direction %d, epsilon %g: %g to %g, want %g", direction, eps, l, u, want)
				}
			}
		}
	})
}

// A direction that is left at a coarse bracket changes no answer.
func TestPrunedDirections(t *testing.T) {
	for _, c := range []struct {
		q, sigma float64
		n        int64
		delta    float64
	}{
		{0.02, 1, 50, 1e-5}, {0.3, 0.7, 3, 1e-3}, {0.001, 0.6, 1000, 1e-8}, {0.1, 4, 400, 1e-6},
	} {
		parts, err := build(sampledGaussian(c.q, c.sigma, c.n))
		if err != nil {
			t.Fatal(err)
		}
		o := Options{Bins: 1 << 16}
		for _, ask := range []query{{delta: c.delta, solve: true}, {eps: 0.3}} {
			full, err1 := brackets(context.Background(), parts, ask, o, false)
			some, err2 := brackets(context.Background(), parts, ask, o, true)
			if err1 != nil || err2 != nil {
				t.Fatal(c, err1, err2)
			}
			a, b := both(full), both(some)
			if a.Lower > b.Upper || b.Lower > a.Upper || b.Upper-b.Lower > 4*(a.Upper-a.Lower)+1e-12 {
				t.Errorf("%+v: %+v, of the larger alone %+v", ask, a, b)
			}
		}
	}
}

func TestContenders(t *testing.T) {
	b := func(lo, hi float64) Bounds { return Bounds{Lower: lo, Upper: hi} }
	for _, c := range []struct {
		a, b Bounds
		want []int
	}{
		{b(1, 2), b(0, 0.5), []int{0}}, {b(0, 0.5), b(1, 2), []int{1}}, {b(1, 2), b(0, 1), []int{0}},
		{b(0, 2), b(1, 3), []int{0, 1}}, {b(1, 3), b(0, 2), []int{0, 1}}, {b(0, 3), b(1, 2), []int{0, 1}},
	} {
		if got := contenders([]Bounds{c.a, c.b}); !slices.Equal(got, c.want) {
			t.Errorf("%v, %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// Bins grow to what was asked for, or until the bracket is narrow, and end.
func TestNext(t *testing.T) {
	for _, c := range []struct {
		bins, last int
		asked      bool
		directions int
		widest     float64
		want       int
	}{
		{1 << 13, 1 << 19, true, 1, 0.1, 1 << 19},
		{1 << 13, 1 << 19, true, 2, 0.1, 1 << 15},
		{1 << 15, 1 << 19, true, 2, 0.1, 1 << 17},
		{1 << 17, 1 << 19, true, 2, 0.1, 1 << 19},
		{1 << 13, 1 << 19, false, 1, 2 * enough, 1 << 14},
		{1 << 13, 1 << 19, false, 1, 15 * enough, 1 << 15},
		{1 << 13, 1 << 19, false, 1, 1, 1 << 17},
		{1 << 13, 1 << 19, false, 2, 1, 1 << 15},
		{1 << 17, 1 << 19, false, 1, 1, 1 << 19},
	} {
		if got := next(c.bins, c.last, c.asked, c.directions, c.widest); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	// The bracket is as narrow as is said, or the bins are as many.
	for _, ts := range [][]terms.Term{sampledGaussian(0.01, 1, 1000), {laplaceTerm(0.1, 1, 20)}, {gaussianTerm(1, 2, 1, privacy.AddRemove, 3)}} {
		b, err := Bracket(context.Background(), ts, 1e-5, Options{})
		if err != nil || b.Upper-b.Lower > enough*b.Upper && b.Bins != defaultBins {
			t.Errorf("%+v, %v", b, err)
		}
		if b.Bins > coarseBins { // no more bins than needed, within a factor of four
			less, err := Bracket(context.Background(), ts, 1e-5, Options{Bins: b.Bins / 4})
			if err != nil || less.Upper-less.Lower <= enough*less.Upper {
				t.Errorf("%d bins where %+v is enough, %v", b.Bins, less, err)
			}
		}
	}
}

// How many bins a release is given falls with how many differ.
func TestBinsOfManyReleases(t *testing.T) {
	var ts []terms.Term
	for i := range mostTerms + 1 {
		ts = append(ts, pureTerm(0.01+float64(i)*1e-4, 1))
	}
	b, err := Bracket(context.Background(), ts[:100], 1e-5, Options{Bins: 1 << 17})
	if err != nil || b.Bins != 1<<15 {
		t.Errorf("%+v, %v", b, err)
	}
	if b, err := Bracket(context.Background(), ts, 1e-5, Options{}); err == nil {
		t.Errorf("%+v", b)
	}
}

// The same on one processor and on all, and at every call.
func TestDeterminism(t *testing.T) {
	for _, ts := range [][]terms.Term{sampledGaussian(0.01, 1, 1000), {laplaceTerm(0.1, 1, 20), gaussianTerm(1, 2, 1, privacy.AddRemove, 3)}} {
		ask := func() string {
			b, err := Bracket(context.Background(), ts, 1e-5, Options{Bins: 1 << 15})
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%b %+v", []float64{b.Lower, b.Upper, b.Rounding, b.Truncated}, b)
		}
		was := ask()
		n := runtime.GOMAXPROCS(1)
		one := ask()
		runtime.GOMAXPROCS(n)
		if again := ask(); was != one || was != again {
			t.Errorf("%s, %s, %s", was, one, again)
		}
	}
}
