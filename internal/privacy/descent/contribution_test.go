package descent

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"privrec/internal/privacy/mechanism"
	"privrec/internal/rng"
)

// coarse is a grid of few steps, where rounding shows.
func coarse(radius float64) grid {
	return grid{clip: 1, step: 0x1p-4, perStep: 16, squared: uint64(radius * radius), most: 1 << 40}
}

// In every dimension the steps of a contribution are no longer than the bound of the event, so
// that a sum moves by no more than it; rounding to the nearest step would break that bound.
func TestContributionsKeepTheirBound(t *testing.T) {
	s := rng.Seed(3).Stream("contributions")
	g, nearest, longest := coarse(16), 0, uint64(0)
	for trial := range 60_000 {
		dim := 1 + s.IntN(12)
		v, length := make([]float64, dim), 0.0
		for i := range v {
			switch trial % 3 {
			case 0:
				v[i] = s.NormFloat64()
			case 1: // all alike, just above a half of a step
				v[i] = (float64(s.IntN(4)) + 0.5000001) / 16
			default: // on the grid
				v[i] = float64(s.IntN(9)-4) / 16
			}
			length += v[i] * v[i]
		}
		if trial%3 == 1 { // of the longest that is allowed
			for i := range v {
				v[i] /= math.Sqrt(length)
			}
		}
		steps, rounded := make([]int64, dim), 0.0
		if err := place(&g, v, func(i int, k int64) { steps[i] += k }); err != nil {
			t.Fatal(err)
		}
		square := uint64(0)
		for i, k := range steps {
			square += uint64(k * k)
			n := math.RoundToEven(v[i] * 16) // v is clipped now
			rounded += n * n
			if math.Abs(float64(k)-v[i]*16) >= 1 {
				t.Fatalf("value %v became %d steps of 1/16", v[i], k)
			}
		}
		longest = max(longest, square)
		if rounded > 256 {
			nearest++
		}
		if square > 256 {
			t.Fatalf("%v became %v: longer than 16 steps", v, steps)
		}
	}
	if nearest < 1000 || longest < 250 {
		t.Errorf("rounding to the nearest step is too long %d times; the longest contribution has %d steps squared", nearest, longest)
	}
}

// All pairs of data sets of up to three vectors, one of which has one vector more: their sums
// differ by a vector within the bound, in whole steps, in any order of addition.
func TestSumsMoveByTheBound(t *testing.T) {
	g := coarse(16)
	values := []float64{-1, -0.7, -0.26, -0.0313, 0, 0.0312, 0.2, 0.49, 0.8, 1}
	var vectors [][2]float64
	for _, a := range values {
		for _, b := range values {
			vectors = append(vectors, [2]float64{a, b})
		}
	}
	sum := func(of ...[2]float64) (k [2]int64) {
		for _, v := range of {
			x := v
			if err := place(&g, x[:], func(i int, n int64) { k[i] += n }); err != nil {
				t.Fatal(err)
			}
		}
		return k
	}
	for _, one := range vectors {
		alone := sum(one)
		for _, a := range vectors {
			for _, b := range vectors[:20] {
				with, without := sum(a, one, b), sum(b, a)
				d := [2]int64{with[0] - without[0], with[1] - without[1]}
				if d != alone || d[0]*d[0]+d[1]*d[1] > 256 {
					t.Fatalf("%v beside %v and %v moves the sum by %v", one, a, b, d)
				}
			}
		}
	}
}

// What was not clipped is an error and adds nothing. What is no number counts as 0: an error would tell of it.
func TestContributionsAreChecked(t *testing.T) {
	g := coarse(16)
	g.clip = 3 // a fault: clipping at another norm
	var failed *mechanism.CheckError
	if err := place(&g, []float32{2, 2}, func(int, int64) { t.Error("added") }); !errors.As(err, &failed) {
		t.Errorf("a contribution that is too long: %v", err)
	}
	for _, x := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		if err := place(&g, []float32{0, x}, func(int, int64) { t.Error("added") }); err != nil {
			t.Errorf("%v: %v", x, err)
		}
	}
}

// A grid is a power of two within its limits, its squared length is exact, and sums of all
// examples fit. Settings without a grid are refused.
func TestGrids(t *testing.T) {
	for _, c := range []struct {
		clip, z float64
		n       int64
	}{{0.2, 0.57, 284_863}, {1, 1, 6040}, {0.3, 20, 943}, {1e-5, 0.8, 10}, {1e5, 300, 1 << 31}, {3, 0.01, 1 << 20}} {
		g, err := newGrid(c.clip, c.z*c.clip, c.n)
		if err != nil {
			t.Fatal(err)
		}
		f, _ := math.Frexp(g.step)
		radius := new(big.Rat).SetFloat64(c.clip / g.step)
		square := new(big.Rat).Mul(radius, radius)
		low, high := new(big.Rat).SetInt(new(big.Int).SetUint64(g.squared)), new(big.Rat).SetInt(new(big.Int).SetUint64(g.squared+1))
		if f != 0.5 || g.perStep*g.step != 1 || low.Cmp(square) > 0 || high.Cmp(square) <= 0 {
			t.Errorf("%+v: %+v, radius squared %s", c, g, square.FloatString(3))
		}
		if s := c.z * c.clip / g.step; s >= finestSigma || s < leastSigma || g.most > mostSum+c.n || c.clip/g.step > mostRadius {
			t.Errorf("%+v: %v steps to a sigma, sums of up to %d", c, s, g.most)
		}
		d := DPSGD{Purpose: "p", Clip: c.clip, NoiseMultiplier: c.z, Examples: min(c.n, math.MaxInt32), Sampling: "poisson", Rate: 0.1, Unit: "user"}
		if _, err := SecretEvent(d, 1000); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range [][3]float64{{1, 1e-9, 10}, {1, 1e9, 10}, {1, 1e-4, math.MaxInt32}, {1e300, 1, 5}} {
		if _, err := newGrid(c[0], c[1]*c[0], int64(c[2])); err == nil {
			t.Errorf("%v has a grid", c)
		}
	}
}

// The digits of a probability, put together again, are the probability: coins are exact.
func TestCoinDigits(t *testing.T) {
	s := rng.Seed(5).Stream("rates")
	for _, q := range []float64{0.1, 0.5, 1.0 / 3, 0x1p-64, 0x1.8p-65, 0x1p-1074, math.Nextafter(1, 0), s.Float64(), s.Float64() * 1e-12, s.Float64() * 1e-300} {
		sum, unit := new(big.Rat), new(big.Rat).SetInt64(1)
		base := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 64))
		for rest := q; rest != 0; {
			var high uint64
			high, rest = digit(rest)
			unit.Quo(unit, base)
			sum.Add(sum, new(big.Rat).Mul(unit, new(big.Rat).SetInt(new(big.Int).SetUint64(high))))
		}
		if sum.Cmp(new(big.Rat).SetFloat64(q)) != 0 {
			t.Errorf("the digits of %v are those of %s", q, sum.FloatString(30))
		}
	}
	src := &rng.Secret{}
	hits := mechanism.Proportion{What: "coins", P: 0.37}
	tiny := mechanism.Proportion{What: "rare coins", P: 0x1p-13 * 1.7}
	for range 400_000 {
		hits.Count(coin(src, hits.P))
		tiny.Count(coin(src, tiny.P))
	}
	for _, p := range []*mechanism.Proportion{&hits, &tiny} {
		if err := p.Check("coin", 21.5); err != nil { // false alarm 1e-9
			t.Error(err)
		}
	}
	if !coin(src, 1) || coin(src, 0) {
		t.Error("certain coins")
	}
}
