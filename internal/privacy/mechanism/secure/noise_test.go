package secure

import (
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism"
	"privrec/internal/privacy/mechanism/channel"
)

// power returns the law of the sum of n independent values 0, 1, ... cut at its
// length.
func power(p []float64, n int) []float64 {
	sum := make([]float64, len(p))
	sum[0] = 1
	for range n {
		next := make([]float64, len(p))
		for i, a := range sum {
			if a == 0 {
				continue
			}
			for j, b := range p[:len(p)-i] {
				if b != 0 {
					next[i+j] += a * b
				}
			}
		}
		sum = next
	}
	return sum
}

// massAbove returns the mass beyond a bound.
func massAbove(p []float64, bound float64) (mass float64) {
	for i := len(p) - 1; i >= 0 && float64(i) > bound; i-- {
		mass += p[i]
	}
	return mass
}

func massBelow(p []float64, bound float64) (mass float64) {
	for i := 0; i < len(p) && float64(i) < bound; i++ {
		mass += p[i]
	}
	return mass
}

// The bands of the discrete laws really are crossed with probability at most
// exp(-x), by the exact laws of sums.
func TestDiscreteBandsAreAsRareAsStated(t *testing.T) {
	const most = 1500
	negative := func(f func(float64) float64) func(float64) float64 { return func(t float64) float64 { return f(-t) } }
	for _, s := range []float64{0.4, 0.9, 1, 2, 3} {
		g, l := DiscreteGaussianLaw{s}, DiscreteLaplaceLaw{s}
		squares, sizes, sums := make([]float64, most), make([]float64, most), make([]float64, most)
		gaussSums := make([]float64, most)
		const shift = 60 // sums are counted from -shift a value: the mass below is no worry here
		for k := int64(-38); k <= 38; k++ {
			squares[k*k] += g.PMF(k)
			sizes[max(k, -k)] += l.PMF(k)
			sums[k+shift] += l.PMF(k)
			gaussSums[k+shift] += g.PMF(k)
		}
		for _, n := range []int{1, 3, 12} {
			q, a, c, d := power(squares, n), power(sizes, n), power(sums, n), power(gaussSums, n)
			for _, x := range []float64{1, 5, 12, 20} {
				limit := math.Exp(-x) * (1 + 1e-9)
				shifted := float64(n * shift)
				for name, p := range map[string]float64{
					"squares above": massAbove(q, s*s*channel.Chernoff(g.LogSquares, 0.5, float64(n), x)),
					"squares below": massBelow(q, -s*s*channel.Chernoff(negative(g.LogSquares), 0.5, float64(n), x)),
					"sizes above":   massAbove(a, s*channel.Chernoff(l.LogSizes, 1, float64(n), x)),
					"sizes below":   massBelow(a, -s*channel.Chernoff(negative(l.LogSizes), 1, float64(n), x)),
					"sum above":     massAbove(c, shifted+s*channel.Chernoff(l.LogSum, 1, float64(n), x)),
					"sum below":     massBelow(c, shifted-s*channel.Chernoff(l.LogSum, 1, float64(n), x)),
					"normal sum":    massAbove(d, shifted+s*channel.Chernoff(func(t float64) float64 { return t * t / 2 }, 64, float64(n), x)),
				} {
					if p > limit {
						t.Errorf("s %g, n %d, x %g: %s its band with probability %g", s, n, x, name, p)
					}
				}
			}
		}
	}
}

// A check names what is wrong, and an empty tally is right.
func TestMomentsCheck(t *testing.T) {
	law := gridLaw(privacy.DiscreteGaussian{Sigma: 2}, 2, 0.5)
	p0 := DiscreteGaussianLaw{2}.PMF(0)
	const n = 10_000
	good := channel.Tally{N: n, Zeros: int64(n * p0), Sum: 0, Sq: n}
	for _, c := range []struct {
		what string
		t    channel.Tally
	}{
		{"", channel.Tally{}}, {"", good},
		{"number of unchanged values", channel.Tally{N: n, Zeros: 0, Sq: n}},
		{"number of unchanged values", channel.Tally{N: n, Zeros: 2 * good.Zeros, Sq: n}},
		{"scale", channel.Tally{N: n, Zeros: good.Zeros, Sq: 1.2 * n}},
		{"scale", channel.Tally{N: n, Zeros: good.Zeros, Sq: 0.8 * n}},
		{"scale", channel.Tally{N: n, Zeros: good.Zeros, Sq: math.NaN()}},
		{"mean", channel.Tally{N: n, Zeros: good.Zeros, Sum: 0.1 * n, Sq: n}},
		{"mean", channel.Tally{N: n, Zeros: good.Zeros, Sum: math.NaN(), Sq: n}},
	} {
		err := law.Check(&c.t, "p", 25)
		e, _ := err.(*mechanism.CheckError)
		if (err == nil) != (c.what == "") || e != nil && e.What != c.what {
			t.Errorf("%+v: %v, want %q", c.t, err, c.what)
		}
		if c.what == "scale" && !math.IsNaN(c.t.Sq) && math.Abs(e.Got-math.Sqrt(c.t.Sq/n)) > 1e-12 { // 2 steps of 0.5
			t.Errorf("scale %g is shown as %g", math.Sqrt(c.t.Sq/n), e.Got)
		}
	}
}
