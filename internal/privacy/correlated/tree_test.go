package correlated

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// treeOf returns the tree of n steps.
func treeOf(t *testing.T, n int) Strategy {
	t.Helper()
	s, err := Tree(n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTreeSensitivity holds the sensitivity against every pattern: it is equal where Tree says so, and never below.
func TestTreeSensitivity(t *testing.T) {
	bounds, loosest := 0, 0.0
	for n := 1; n <= 8; n++ {
		s := treeOf(t, n)
		for times := 1; times <= n+1; times++ {
			for apart := 1; apart <= n+1; apart++ {
				got, err := s.Sensitivity(Participation{times, apart})
				if err != nil {
					t.Fatal(err)
				}
				want := largest(s, times, apart)
				exact := times == 1 || apart&(apart-1) == 0
				if got < want-1e-12 || exact && got > want+1e-12 {
					t.Errorf("%d steps, %d times, %d apart: sensitivity %v, the largest is %v", n, times, apart, got,
						want)
				}
				if !exact {
					bounds++
					loosest = math.Max(loosest, got/want)
				}
			}
		}
	}
	if bounds == 0 || loosest > 1.2 {
		t.Errorf("%d patterns with a bound, up to %v times the exact number, want at most 1.2", bounds, loosest)
	}
}

// TestTreeErrors holds both errors against dense matrices: the fewest nodes that make up each sum, and the least
// variance of an unbiased linear estimate of it from the nodes that are released by then.
func TestTreeErrors(t *testing.T) {
	for _, n := range []int{1, 2, 3, 6, 7, 8, 13, 16, 21} {
		s := treeOf(t, n)
		c := s.dense()
		rows, _ := c.Dims()
		best, plain, last := 0.0, 0.0, 0.0
		for step := 1; step <= n; step++ {
			fewest := 0
			for rest := step; rest > 0; rest /= 2 {
				fewest += rest % 2
			}
			plain += float64(fewest)
			released := mat.NewDense(rows, step, nil)
			for i := range rows {
				done := true
				for j := step; j < n; j++ {
					done = done && c.At(i, j) == 0
				}
				for j := 0; j < step && done; j++ {
					released.Set(i, j, c.At(i, j))
				}
			}
			var gram mat.Dense
			gram.Mul(released.T(), released)
			ones := mat.NewVecDense(step, nil)
			for j := range step {
				ones.SetVec(j, 1)
			}
			var x mat.VecDense
			if err := x.SolveVec(&gram, ones); err != nil {
				t.Fatal(err)
			}
			last = mat.Dot(ones, &x)
			best += last
		}
		plainOf, err := s.PlainErrors()
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string][2]float64{
			"mean": {errorsOf(t, s).Mean, math.Sqrt(best / float64(n))}, "last": {errorsOf(t, s).Last, math.Sqrt(last)},
			"plain mean": {plainOf.Mean, math.Sqrt(plain / float64(n))},
		} {
			if math.Abs(c[0]-c[1]) > 1e-9*c[1] {
				t.Errorf("%d steps: %s error %v, want %v", n, name, c[0], c[1])
			}
		}
	}
}
