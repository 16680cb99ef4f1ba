package gram

import (
	"math"
	"slices"
	"testing"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// symmetric makes a symmetric matrix of entries from at.
func symmetric(n int, at func(i, j int) float64) square {
	a := newSquare(n)
	for i := range n {
		for j := i; j < n; j++ {
			v := at(i, j)
			a.row(i)[j], a.row(j)[i] = v, v
		}
	}
	return a
}

func clone(a square) square { return square{a.n, slices.Clone(a.x)} }

// noise makes a symmetric matrix of normal noise.
func noise(n int, deviation float64) square {
	s := rng.Seed(6).Stream("noise")
	return symmetric(n, func(int, int) float64 { return deviation * s.NormFloat64() })
}

// The number of workers changes no bit.
func TestDenoiseWorkers(t *testing.T) {
	c := Default().Model
	c.Diagonal = DiagonalKept
	var want square
	defer tensor.SetWorkers(tensor.Workers())
	for _, n := range []int{1, 2, 5} {
		tensor.SetWorkers(n)
		g := noise(150, 1)
		for i := range g.x {
			g.x[i] += 3
		}
		d, err := c.denoise(t.Context(), g, 1)
		if err != nil {
			t.Fatal(err)
		}
		if want.n == 0 {
			want = d.square
		} else if !slices.Equal(d.x, want.x) {
			t.Errorf("%d workers: other bits", n)
		}
	}
}

// Of two spikes in noise the shrinkers leave what the theory says, and of noise alone next to nothing. The
// tolerance is 3 sigma at m = 400, where fluctuations of a spike are of the order of sigma.
func TestShrinkersOnSpikes(t *testing.T) {
	const m, sigma = 400, 0.5
	edge := 2 * sigma * math.Sqrt(m)
	spikes := []float64{60, 25}
	spiked := func() square {
		g := noise(m, sigma)
		for i := range m {
			for j := range m {
				sign := 1.0
				if (i+j)%2 == 1 {
					sign = -1
				}
				g.row(i)[j] += spikes[0]/m + sign*spikes[1]/m // two vectors of length 1 that stand on each other
			}
		}
		return g
	}
	for how, want := range map[string]func(x float64) float64{
		ShrinkOperator:  func(x float64) float64 { return x },
		ShrinkFrobenius: func(x float64) float64 { return x - m*sigma*sigma/x },
		ShrinkCut:       func(x float64) float64 { return x + m*sigma*sigma/x },
	} {
		d, err := low(t.Context(), how, spiked(), edge)
		if err != nil {
			t.Fatal(err)
		}
		values, _, err := eigen(t.Context(), clone(d.square))
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(values)
		for k, x := range spikes {
			if got := values[m-1-k]; math.Abs(got-want(x)) > 3*sigma {
				t.Errorf("%s: spike %g is left as %g, want %g", how, x, got, want(x))
			}
		}
		if how != ShrinkCut && values[m-3] > 4*sigma {
			t.Errorf("%s: noise is left as %g", how, values[m-3])
		}
	}
	// The mean squared error of the shrinker that is named for it is the least.
	least, by := math.Inf(1), ""
	for _, how := range []string{ShrinkPositive, ShrinkCut, ShrinkOperator, ShrinkFrobenius} {
		d, err := low(t.Context(), how, spiked(), edge)
		if err != nil {
			t.Fatal(err)
		}
		truth, off := spiked(), 0.0
		for e, v := range noise(m, sigma).x {
			off += (truth.x[e] - v - d.x[e]) * (truth.x[e] - v - d.x[e])
		}
		if off < least {
			least, by = off, how
		}
	}
	if by != ShrinkFrobenius {
		t.Errorf("the least squared error is that of %s", by)
	}
}

func TestDenoiseSettings(t *testing.T) {
	g := symmetric(3, func(i, j int) float64 { return []float64{9, 3, 0.4}[j-i] })
	c := MatrixConfig{Shrink: ShrinkNone, Threshold: 1}
	d, err := c.denoise(t.Context(), clone(g), 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := []float64{9, 3, 0, 3, 9, 3, 0, 3, 9}; !slices.Equal(d.x, want) {
		t.Errorf("threshold: %v, want %v", d.x, want)
	}
	c = MatrixConfig{Shrink: ShrinkFrobenius, Diagonal: DiagonalKept}
	if d, err = c.denoise(t.Context(), clone(g), 0.01); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if d.row(i)[i] < 9-1e-9 {
			t.Errorf("the kept diagonal has %g", d.row(i)[i])
		}
	}
	c = MatrixConfig{Shrink: ShrinkPositive, Diagonal: DiagonalShrunk}
	if d, err = c.denoise(t.Context(), clone(g), 1); err != nil {
		t.Fatal(err)
	}
	for e, v := range g.x { // positive definite already
		if math.Abs(v-d.x[e]) > 1e-12 {
			t.Errorf("positive: entry %d is %g, want %g", e, d.x[e], v)
		}
	}
}
