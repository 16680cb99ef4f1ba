package correlated

import (
	"fmt"
	"math"
)

// MaxMixed is the largest number of steps of a strategy whose column has negative entries or increases.
const MaxMixed = 512

// Toeplitz returns the strategy of n steps with any first column: its entries from the diagonal down, and 0 below them.
// The first must be above 0.
//
// Where no entry is negative and none is larger than the one above it, Sensitivity is exact. Any other column may have
// at most MaxMixed steps, and Sensitivity is a bound for it: the square of the norm of C u is the sum of (C'C)[i,j]
// u[i] u[j] over the steps that a unit is in, at most that of the absolute values of C'C. For each step i the worst
// steps j that go with it are found exactly, and then the worst steps i with these sums. The bound is exact for a unit
// that takes part once (Choquette-Choo, Ganesh, McKenna, McMahan, Rush, Thakurta, Xu, "(Amplified) banded matrix
// factorization", NeurIPS 2023, algorithm 4, where the steps j need not go with i).
func Toeplitz(n int, column []float64) (Strategy, error) {
	if err := checkSteps(n); err != nil {
		return Strategy{}, err
	}
	if len(column) < 1 || len(column) > n {
		return Strategy{}, fmt.Errorf("a column of %d entries, want 1 to %d, the number of steps", len(column), n)
	}
	s := Strategy{column: append([]float64(nil), column...), steps: n}
	for k, v := range column {
		if math.Abs(v) > 1e100 || math.IsNaN(v) {
			return Strategy{}, fmt.Errorf("entry %d of the column is %v, want -1e100 to 1e100", k+1, v)
		}
		s.mixed = s.mixed || v < 0 || k > 0 && v > column[k-1]
	}
	if !(column[0] >= 1e-100) {
		return Strategy{}, fmt.Errorf("the first entry of the column is %v, want 1e-100 to 1e100", column[0])
	}
	if s.mixed && n > MaxMixed {
		return Strategy{}, fmt.Errorf("%d steps, want at most %d for a column with negative entries or one that "+
			"increases", n, MaxMixed)
	}
	return s, nil
}

// bound returns the bound of Toeplitz.
func (s Strategy) bound(p Participation) float64 {
	n := s.steps
	c := make([]float64, n)
	copy(c, s.column)
	gram := make([][]float64, n) // of rows i and columns j, absolute
	for i := range gram {
		gram[i] = make([]float64, n)
	}
	for apart := range n {
		sum := 0.0
		for last := n - 1; last >= apart; last-- { // columns last-apart and last, from those that end soonest
			k := n - 1 - last
			sum += c[k] * c[k+apart]
			gram[last-apart][last], gram[last][last-apart] = math.Abs(sum), math.Abs(sum)
		}
	}
	worst := make([]float64, n)
	for i, row := range gram {
		own := row[i]
		for j := max(0, i-p.Apart+1); j < min(n, i+p.Apart); j++ {
			row[j] = 0 // does not go with i
		}
		worst[i] = own + p.largest(row, p.Times-1)
	}
	return math.Sqrt(p.largest(worst, p.Times))
}

// largest returns the largest sum of values that are at least 0, of at most times steps that are Apart from each other.
func (p Participation) largest(values []float64, times int) float64 {
	n := len(values)
	fewer, most := make([]float64, n), make([]float64, n) // up to each step
	for range min(times, (n-1)/p.Apart+1) {
		fewer, most = most, fewer
		for t, v := range values {
			if t >= p.Apart {
				v += fewer[t-p.Apart]
			}
			if t > 0 {
				v = max(v, most[t-1])
			}
			most[t] = v
		}
	}
	return most[n-1]
}
