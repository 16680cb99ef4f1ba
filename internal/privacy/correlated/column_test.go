package correlated

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// fittedColumn returns the strategy of the column of FitColumn, which must be one whose sensitivity is exact.
func fittedColumn(t interface {
	Helper()
	Fatal(...any)
}, n, bands int, p Participation) Strategy {
	t.Helper()
	column, err := FitColumn(n, bands, p)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Toeplitz(n, column)
	if err != nil || s.mixed || len(column) > bands || column[0] != 1 || column[len(column)-1] == 0 {
		t.Fatal(n, bands, p, column, err)
	}
	return s
}

// denseLoss returns the product of sensitivity and mean error by matrices and every pattern of a unit.
func denseLoss(t interface {
	Helper()
	Fatal(...any)
}, s Strategy, p Participation) float64 {
	t.Helper()
	var inverse, b mat.Dense
	if err := inverse.Inverse(s.dense()); err != nil {
		t.Fatal(err)
	}
	b.Mul(triangle(s.steps), &inverse)
	return largest(s, p.Times, p.Apart) * mat.Norm(&b, 2) / math.Sqrt(float64(s.steps))
}

// TestLossesOfColumns holds the loss of a thousand columns that do not increase against matrices and every pattern, and
// demands that none has less loss than the fitted one of as many bands.
func TestLossesOfColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			n := rapid.IntRange(1, 7).Draw(t, "steps")
			column := rapid.SliceOfN(rapid.Float64Range(0, 1), 1, n).Draw(t, "column")
			column[0] = 1
			slices.Sort(column)
			slices.Reverse(column)
			s, err := Toeplitz(n, column)
			if err != nil {
				t.Fatal(err)
			}
			p := Participation{rapid.IntRange(1, n+1).Draw(t, "times"), rapid.IntRange(1, n+1).Draw(t, "apart")}
			got, err := s.Sensitivity(p)
			if err != nil {
				t.Fatal(err)
			}
			want := denseLoss(t, s, p)
			if got *= errorsOf(t, s).Mean; math.Abs(got-want) > 1e-9*want {
				t.Errorf("%v, %d steps, %v: loss %v, want %v", column, n, p, got, want)
			}
			p.Apart = min(p.Apart, n)
			if square, _ := lossOf(column, n, p); math.Abs(square-want*want) > 1e-9*want*want {
				t.Errorf("%v, %d steps, %v: square of the loss %v, want that of %v", column, n, p, square, want)
			}
			if best := fittedColumn(t, n, len(column), p).loss(p); best > want*(1+1e-6) {
				t.Errorf("%d steps, %v: loss %v, that of %v is %v", n, p, best, column, want)
			}
		}
	})
}

// TestSlopeOfLoss holds each part of the slope against a small difference.
func TestSlopeOfLoss(t *testing.T) {
	for _, p := range []Participation{{1, 1}, {2, 1}, {3, 4}, {30, 7}, {30, 1}, {1, 30}} {
		for _, bands := range []int{1, 2, 9, 30} {
			c := squareRoot(bands)
			_, slope := lossOf(c, 30, p)
			for k := range c {
				above, below := slices.Clone(c), slices.Clone(c)
				above[k] += 1e-5
				below[k] -= 1e-5
				up, _ := lossOf(above, 30, p)
				down, _ := lossOf(below, 30, p)
				if want := (up - down) / 2e-5; math.Abs(slope[k]-want) > 1e-6*up {
					t.Errorf("%v, %d bands: slope %v at entry %d, want %v", p, bands, slope[k], k, want)
				}
			}
		}
	}
}

// TestFitColumnIsTheLeast holds fitted columns against the least loss on ever finer grids of columns that do not
// increase, by matrices and every pattern.
func TestFitColumnIsTheLeast(t *testing.T) {
	for n := 2; n <= 5; n++ {
		for bands := 2; bands <= min(n, 3); bands++ {
			for _, p := range []Participation{{1, 1}, {2, 1}, {2, 2}, {n, 1}, {2, 3}} {
				want := leastOnGrids(t, n, bands, p)
				if got := denseLoss(t, fittedColumn(t, n, bands, p), p); math.Abs(got-want) > 1e-6*want {
					t.Errorf("%d steps, %d bands, %v: loss %v, the least is %v", n, bands, p, got, want)
				}
			}
		}
	}
}

// leastOnGrids returns the least loss of columns of a number of entries, each of them a share of the one above it. It
// looks at 13 values of each share, and again around the best.
func leastOnGrids(t *testing.T, n, bands int, p Participation) float64 {
	t.Helper()
	const steps = 12
	least, best := math.Inf(1), make([]float64, bands)
	shares := make([]float64, bands)
	for width := 1.0; width > 1e-4; width /= 4 {
		around := slices.Clone(best)
		var from func(k int)
		from = func(k int) {
			if k == bands {
				column := make([]float64, bands)
				column[0] = 1
				for i := 1; i < bands; i++ {
					column[i] = column[i-1] * shares[i]
				}
				s, err := Toeplitz(n, column)
				if err != nil {
					t.Fatal(err)
				}
				if loss := denseLoss(t, s, p); loss < least {
					least = loss
					copy(best, shares)
				}
				return
			}
			low := min(max(around[k]-width/2, 0), 1-width)
			for i := range steps + 1 {
				shares[k] = low + width*float64(i)/steps
				from(k + 1)
			}
		}
		from(1)
	}
	return least
}

// TestFitColumnAndRoots holds fitted columns against the square root and fitted ones of fewer bands: never more loss.
func TestFitColumnAndRoots(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 80).Draw(t, "steps")
		bands := rapid.IntRange(1, n).Draw(t, "bands")
		p := Participation{rapid.IntRange(1, n).Draw(t, "times"), rapid.IntRange(1, n).Draw(t, "apart")}
		got := fittedColumn(t, n, bands, p).loss(p)
		root, err := Banded(n, bands)
		if err != nil {
			t.Fatal(err)
		}
		if other := root.loss(p); got > other {
			t.Errorf("%d steps, %d bands, %v: loss %v, that of the root is %v", n, bands, p, got, other)
		}
		fewer := rapid.IntRange(1, bands).Draw(t, "fewer")
		if other := fittedColumn(t, n, fewer, p).loss(p); got > other*(1+1e-6) {
			t.Errorf("%d steps, %v: loss %v of %d bands, of %d it is %v", n, p, got, bands, fewer, other)
		}
	})
}

// TestFitColumnRepeats demands the same entries to the last digit, as any machine finds them, and no useless ones.
func TestFitColumnRepeats(t *testing.T) {
	for _, c := range []struct {
		n, bands int
		p        Participation
		want     []float64
	}{
		{1, 1, Participation{1, 1}, []float64{1}},
		{12, 4, Participation{1, 1}, []float64{1, 0.527165484, 0.382476961, 0.292057929}},
		{365, 14, Participation{52, 7}, []float64{1, 0.725439451, 0.64999076, 0.603987595, 0.566373159, 0.528742702,
			0.48106862}},
		{30, 30, Participation{30, 1}, []float64{1}},
	} {
		got, err := FitColumn(c.n, c.bands, c.p)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%d steps, %d bands, %v: %v, %v, want %v", c.n, c.bands, c.p, got, err, c.want)
		}
	}
}

func TestFitColumnRefused(t *testing.T) {
	once := Participation{1, 1}
	for name, err := range map[string]error{
		"steps": second(FitColumn(0, 1, once)), "none": second(FitColumn(5, 0, once)),
		"six":   second(FitColumn(5, 6, once)),
		"never": second(FitColumn(5, 2, Participation{})), "not apart": second(FitColumn(5, 2, Participation{1, 0})),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
