package correlated

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// TestBoundOfAnyColumn tries every pattern for a thousand columns with signs: the bound is never below, is equal for
// a unit that takes part once, and is no more than the sum over all pairs of steps.
func TestBoundOfAnyColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		for range 10 {
			n := rapid.IntRange(1, 7).Draw(t, "steps")
			column := rapid.SliceOfN(rapid.Float64Range(-2, 2), 1, n).Draw(t, "column")
			column[0] = math.Abs(column[0]) + 0.1
			s, err := Toeplitz(n, column)
			if err != nil {
				t.Fatal(err)
			}
			p := Participation{rapid.IntRange(1, n+1).Draw(t, "times"), rapid.IntRange(1, n+1).Draw(t, "apart")}
			got, err := s.Sensitivity(p)
			if err != nil {
				t.Fatal(err)
			}
			want := largest(s, p.Times, p.Apart)
			var gram mat.Dense
			gram.Mul(s.dense().T(), s.dense())
			all := 0.0
			for _, v := range gram.RawMatrix().Data {
				all += math.Abs(v)
			}
			if got < want*(1-1e-12) || p.Times == 1 && got > want*(1+1e-12) || got > math.Sqrt(all)*(1+1e-12) {
				t.Errorf("%v, %d steps, %v: bound %v, the largest is %v, all pairs have %v", column, n, p, got, want,
					math.Sqrt(all))
			}
		}
	})
}

// TestBoundIsExactHere has columns and participations whose bound no pattern is below: without overlap of the steps of
// a unit, and with entries that do not decrease where the unit is in every step.
func TestBoundIsExactHere(t *testing.T) {
	for _, c := range []struct {
		n      int
		column []float64
		p      Participation
	}{
		{6, []float64{1, -0.5}, Participation{3, 2}}, {6, []float64{1, 2}, Participation{2, 3}},
		{5, []float64{1, 2, 3}, Participation{5, 1}}, {7, []float64{2, -1, 1}, Participation{7, 3}},
	} {
		s, err := Toeplitz(c.n, c.column)
		if err != nil {
			t.Fatal(err)
		}
		if !s.mixed {
			t.Fatalf("%v has no bound", c.column)
		}
		got, err := s.Sensitivity(c.p)
		if want := largest(s, c.p.Times, c.p.Apart); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%v: bound %v, %v, want %v", c, got, err, want)
		}
	}
}

// TestOrderedColumnsAreExact demands that a column which does not increase has the exact sensitivity, as bands have it.
func TestOrderedColumnsAreExact(t *testing.T) {
	for n := 1; n <= 7; n++ {
		banded, err := Banded(n, n)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Toeplitz(n, banded.column)
		if err != nil || s.mixed {
			t.Fatal(s, err)
		}
		for times := 1; times <= n; times++ {
			p := Participation{times, 2}
			got, err := s.Sensitivity(p)
			want, bad := banded.Sensitivity(p)
			if err != nil || bad != nil || got != want {
				t.Errorf("%d steps, %v: %v, %v, want %v, %v", n, p, got, err, want, bad)
			}
			if bound := s.bound(p); bound < want*(1-1e-12) {
				t.Errorf("%d steps, %v: bound %v below %v", n, p, bound, want)
			}
		}
	}
}

// TestFarApart demands that a distance beyond the stream is one participation, however large the numbers are.
func TestFarApart(t *testing.T) {
	for _, s := range made(t, 9) {
		once, err := s.Sensitivity(Participation{1, 1})
		if err != nil {
			t.Fatal(err)
		}
		for _, apart := range []int{9, 10, math.MaxInt/2 + 1, math.MaxInt} {
			for _, times := range []int{1, 2, 4, 9, math.MaxInt} {
				if got, err := s.Sensitivity(Participation{times, apart}); err != nil || got != once {
					t.Errorf("%d times %d apart: %v, %v, want %v", times, apart, got, err, once)
				}
			}
		}
	}
}

func TestToeplitzRefused(t *testing.T) {
	long := make([]float64, 3)
	long[0], long[2] = 1, 1
	for name, err := range map[string]error{
		"no step": second(Toeplitz(0, long)), "no column": second(Toeplitz(3, nil)), "too long": second(Toeplitz(2, long)),
		"first 0": second(Toeplitz(3, []float64{0, 1})), "first below 0": second(Toeplitz(3, []float64{-1})),
		"NaN": second(Toeplitz(3, []float64{1, math.NaN()})), "infinite": second(Toeplitz(3, []float64{1, math.Inf(-1)})),
		"many steps": second(Toeplitz(MaxMixed+1, long)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Toeplitz(MaxHorizon, []float64{2, 1}); err != nil {
		t.Errorf("a column that decreases: %v", err)
	}
}
