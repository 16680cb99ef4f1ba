package correlated

import (
	"errors"
	"fmt"
	"math"
)

// MaxHorizon is the largest number of steps of a strategy.
const MaxHorizon = 10_000

// Strategy is a matrix C with a column for each step. It is lower triangular and Toeplitz, so that every column is the
// first one, moved down to its diagonal, or it is the tree (see Tree).
type Strategy struct {
	column []float64 // the first one, as far as it is not 0
	steps  int
	tree   bool
}

// Banded returns the first bands entries of the square root of the lower triangle of ones, for n steps, and 0 below
// them. Entry k of the root is binomial(2k, k) / 4^k. The noise of a step is correlated with that of the bands-1 steps
// before it (Kalinin, Lampert, "Banded square root matrix factorization for differentially private model training",
// NeurIPS 2024). With n bands it is the whole root, and the error of the sums grows like the logarithm of n
// (Fichtenberger, Henzinger, Upadhyay, "Constant matters: fine-grained error bound on differentially private continual
// observation", ICML 2023). With 1 band it is independent noise on what each step adds.
func Banded(n, bands int) (Strategy, error) {
	if err := checkSteps(n); err != nil {
		return Strategy{}, err
	}
	if bands < 1 || bands > n {
		return Strategy{}, fmt.Errorf("%d bands, want 1 to %d, the number of steps", bands, n)
	}
	c := make([]float64, bands)
	c[0] = 1
	for k := 1; k < bands; k++ {
		c[k] = c[k-1] * (2*float64(k) - 1) / (2 * float64(k))
	}
	return Strategy{column: c, steps: n}, nil
}

// Composed returns independent noise on each of the n sums, as single releases have it: C is the triangle of ones.
func Composed(n int) (Strategy, error) {
	if err := checkSteps(n); err != nil {
		return Strategy{}, err
	}
	c := make([]float64, n)
	for k := range c {
		c[k] = 1
	}
	return Strategy{column: c, steps: n}, nil
}

func checkSteps(n int) error {
	if n < 1 || n > MaxHorizon {
		return fmt.Errorf("%d steps, want 1 to %d", n, MaxHorizon)
	}
	return nil
}

// Steps returns the number of steps.
func (s Strategy) Steps() int { return s.steps }

// Participation says in which steps the data of one unit may be: in at most Times of them, two of which are at least
// Apart steps from each other. What a unit adds to a step has a norm of at most 1.
type Participation struct{ Times, Apart int }

// ErrParticipation is returned for a participation that is none.
var ErrParticipation = errors.New("a unit takes part at least once, in steps that are at least 1 apart")

// Sensitivity returns the norm of the longest C (x - x') if one unit is added or removed. It is exact for a Toeplitz
// matrix: its columns are not negative, so the worst unit adds the same vector to every step that it is in, and since
// they do not increase, the worst steps are the earliest ones, 1, 1+Apart, 1+2 Apart and so on (Kalinin, Lampert 2024;
// tests try every pattern). That of a tree is exact or a bound; see Tree.
func (s Strategy) Sensitivity(p Participation) (float64, error) {
	if p.Times < 1 || p.Apart < 1 {
		return 0, ErrParticipation
	}
	p.Apart = min(p.Apart, s.steps) // further apart than that there is no second time
	if s.tree {
		return s.nodes(p), nil
	}
	return s.earliest(p), nil
}

// earliest returns the sensitivity to a unit in the earliest steps that p allows.
func (s Strategy) earliest(p Participation) float64 {
	all := make([]float64, s.steps) // row t of the sum of the columns 1, 1+Apart and so on, up to t
	sum := 0.0
	for t := range all {
		if t < len(s.column) {
			all[t] = s.column[t]
		}
		if t >= p.Apart {
			all[t] += all[t-p.Apart]
		}
		row := all[t]
		if late := p.Times * p.Apart; p.Times <= s.steps && t >= late {
			row -= all[t-late] // of the columns after the last one
		}
		sum += row * row
	}
	return math.Sqrt(sum)
}

// Errors holds the standard deviation of the noise in the released sums, for z of standard deviation 1.
type Errors struct {
	Mean float64 // root of the mean square over the steps
	Last float64 // of the last sum; the largest, but for a tree
}

// Errors returns the error of the sums: the lengths of the rows of B.
func (s Strategy) Errors() Errors {
	if s.tree {
		return s.sumsOfNodes(fromBelow)
	}
	b := s.sums()
	total, row := 0.0, 0.0
	for _, v := range b {
		row += v * v
		total += row
	}
	return Errors{math.Sqrt(total / float64(s.steps)), math.Sqrt(row)}
}

// sums returns the first column of B, the lower triangle of ones times the inverse of C.
func (s Strategy) sums() []float64 {
	b := make([]float64, s.steps)
	for t := range b { // C b = 1, row by row
		v := 1.0
		for k := 1; k < len(s.column) && k <= t; k++ {
			v -= s.column[k] * b[t-k]
		}
		b[t] = v
	}
	return b
}
