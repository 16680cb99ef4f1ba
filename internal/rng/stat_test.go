package rng

import (
	"math"
	"testing"
)

// Every bound below is crossed by a right generator with probability at most
// 1e-9 (two-sided: beyond 6.11 standard deviations of the statistic).
const sigmas = 6.11

// chiBound is the value that chi-square with k degrees of freedom exceeds with
// probability 5e-10 (Wilson and Hilferty, PNAS 1931), far end for sign 1, near
// end for sign -1.
func chiBound(k int, sign float64) float64 {
	v := 2 / (9 * float64(k))
	return float64(k) * math.Pow(1-v+sign*sigmas*math.Sqrt(v), 3)
}

func checkChi(t *testing.T, what string, counts []int, p func(i int) float64) {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	x := 0.0
	for i, c := range counts {
		e := float64(n) * p(i)
		x += (float64(c) - e) * (float64(c) - e) / e
	}
	k := len(counts) - 1
	if lo, hi := chiBound(k, -1), chiBound(k, 1); x < lo || x > hi {
		t.Errorf("%s: chi-square %.1f outside [%.1f, %.1f] with %d degrees of freedom", what, x, lo, hi, k)
	}
}

// checkMean fails when the mean of n values with expectation want and the given
// variance is too far off.
func checkMean(t *testing.T, what string, sum float64, n int, want, variance float64) {
	t.Helper()
	if d := (sum/float64(n) - want) / math.Sqrt(variance/float64(n)); math.Abs(d) > sigmas || math.IsNaN(d) {
		t.Errorf("%s: %g over %d values, want %g (%.1f standard deviations)", what, sum/float64(n), n, want, d)
	}
}

func cdf(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

func checkNormals(t *testing.T, z []float64) {
	t.Helper()
	n := len(z)
	var m1, m2, m3, m4, sqPair float64
	counts := make([]int, 82) // below -4, 80 bins of 0.1, above 4
	tails := [3]float64{}
	for i, v := range z {
		m1 += v
		m2 += v * v
		m3 += v * v * v
		m4 += v * v * v * v
		counts[int(max(0, min(81, math.Floor(v*10)+41)))]++
		for j := range tails {
			if math.Abs(v) > float64(j+3) {
				tails[j]++
			}
		}
		if i+16 < n { // the other half of its Box-Muller pair, or a stranger
			sqPair += (v*v - 1) * (z[i+16]*z[i+16] - 1)
		}
	}
	checkMean(t, "mean", m1, n, 0, 1)
	checkMean(t, "variance", m2, n, 1, 2)
	checkMean(t, "third moment", m3, n, 0, 15)
	checkMean(t, "fourth moment", m4, n, 3, 96)
	checkMean(t, "squares of pairs", sqPair, n-16, 0, 4)
	checkChi(t, "density", counts, func(i int) float64 {
		lo, hi := float64(i-41)/10, float64(i-40)/10
		switch i {
		case 0:
			return cdf(-4)
		case 81:
			return cdf(-4)
		}
		return cdf(hi) - cdf(lo)
	})
	for j, c := range tails {
		p := 2 * cdf(-float64(j+3))
		// Bernstein's bound covers the rare tails too.
		e := float64(n) * p
		if d := math.Abs(c - e); d > sigmas*math.Sqrt(e)+sigmas*sigmas/3 {
			t.Errorf("beyond %d: %g values, want %g", j+3, c, e)
		}
	}
	for _, lag := range []int{1, 2, 15, 16, 17, 32, 48, 64} {
		c := 0.0
		for i := lag; i < n; i++ {
			c += z[i] * z[i-lag]
		}
		checkMean(t, "correlation", c, n-lag, 0, 1)
	}
}

func TestNormalsAreNormal(t *testing.T) {
	const n = 1 << 20
	defer func(old simd) { active = old }(active)
	for _, k := range paths() {
		active = k
		t.Run(k.String(), func(t *testing.T) {
			z := make([]float32, n)
			s := Seed(11).Stream("normal")
			s.Normals32(z)
			checkNormals(t, widen(z))
		})
	}
	t.Run("double", func(t *testing.T) {
		z := make([]float64, n)
		s := Seed(12).Stream("normal")
		s.Normals64(z)
		checkNormals(t, z)
	})
	t.Run("one by one", func(t *testing.T) {
		z := make([]float64, n/4)
		s := Seed(13).Stream("normal")
		for i := range z {
			z[i] = s.NormFloat64()
		}
		checkNormals(t, z)
	})
}

// Rows of neighbouring streams, as noise is keyed: read down the rows, across
// them, and with names, seeds or steps that differ by one.
func TestNeighbouringStreamsAreIndependent(t *testing.T) {
	const rows, cols = 4096, 150
	parent := Seed(21).Stream("aggregate", 7)
	down := make([]float64, 0, rows*cols)
	m := make([][]float32, rows)
	for i := range m {
		m[i] = make([]float32, cols)
		r := parent.Sub(uint64(i))
		r.Normals32(m[i])
	}
	for j := range cols {
		for i := range m {
			down = append(down, float64(m[i][j]))
		}
	}
	checkNormals(t, down)
	for name, other := range map[string]Stream{
		"next seed": Seed(22).Stream("aggregate", 7), "next step": Seed(21).Stream("aggregate", 8),
		"other name": Seed(21).Stream("aggregatf", 7), "child": parent.Sub(0),
	} {
		c, z := 0.0, make([]float32, cols)
		for i := range m {
			r := other.Sub(uint64(i))
			r.Normals32(z)
			for j := range z {
				c += float64(z[j]) * float64(m[i][j])
			}
		}
		checkMean(t, name, c, rows*cols, 0, 1)
	}
}

func TestUniforms(t *testing.T) {
	const n = 1 << 20
	s := Seed(31).Stream("uniform")
	bytes := [8][]int{}
	for i := range bytes {
		bytes[i] = make([]int, 256)
	}
	for range n {
		w := s.Uint64()
		for i := range bytes {
			bytes[i][w>>(8*i)&255]++
		}
	}
	for i := range bytes {
		checkChi(t, "byte of a word", bytes[i], func(int) float64 { return 1.0 / 256 })
	}
	u := make([]float32, n)
	s.Uniforms(u)
	var sum, sq float64
	bins := make([]int, 100)
	for _, v := range u {
		sum += float64(v)
		bins[int(v*100)]++
	}
	for range n {
		f := s.Float64()
		sq += f
	}
	checkMean(t, "uniform float32", sum, n, 0.5, 1.0/12)
	checkMean(t, "uniform float64", sq, n, 0.5, 1.0/12)
	checkChi(t, "uniform", bins, func(int) float64 { return 0.01 })
	// A bound where a remainder would be biased: 3 * 2^61 takes thirds of 2^64
	// unevenly unless values are rejected.
	thirds := make([]int, 3)
	for range n / 4 {
		thirds[s.IntN(3<<61)>>61]++
	}
	checkChi(t, "integers", thirds, func(int) float64 { return 1.0 / 3 })
	perms := map[[4]int32]int{}
	for range n / 16 {
		p := s.Perm(4)
		perms[[4]int32(p)]++
	}
	counts := make([]int, 0, 24)
	for _, c := range perms {
		counts = append(counts, c)
	}
	if len(counts) != 24 {
		t.Fatalf("%d of 24 permutations", len(counts))
	}
	checkChi(t, "permutations", counts, func(int) float64 { return 1.0 / 24 })
}

func widen(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}
