package correlated

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// MaxHorizon is the largest number of steps of a strategy.
const MaxHorizon = 10_000

// Strategy is a matrix C with a column for each step. It is lower triangular and Toeplitz, so that every column is the
// first one, moved down to its diagonal, or it is the tree (see Tree).
type Strategy struct {
	column []float64 // the first one, as far as it is not 0
	steps  int
	tree   bool
	mixed  bool // the column has negative entries, or some that are larger than those above them
	// buffers makes up the column of a buffered strategy. Nil: it is another one.
	buffers []Buffer
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
	return Strategy{column: squareRoot(bands), steps: n}, nil
}

// squareRoot returns the first entries of the column of the square root of the lower triangle of ones.
func squareRoot(entries int) []float64 {
	c := make([]float64, entries)
	c[0] = 1
	for k := 1; k < entries; k++ {
		c[k] = c[k-1] * (2*float64(k) - 1) / (2 * float64(k))
	}
	return c
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

// Participation says in which steps the data of one unit may be: in at most Times of them, two of which are at least
// Apart steps from each other. What a unit adds to a step has a norm of at most 1.
type Participation struct {
	Times int `json:"times"`
	Apart int `json:"apart"`
}

// ErrParticipation is returned for a participation that is none.
var ErrParticipation = errors.New("a unit takes part at least once, in steps that are at least 1 apart")

// Sensitivity returns the norm of the longest C (x - x') if one unit is added or removed. It is exact where the entries
// of the columns are not negative and do not increase: the worst unit adds the same vector to every step that it is in,
// and the worst steps are the earliest ones, 1, 1+Apart, 1+2 Apart and so on (Kalinin, Lampert 2024; tests try every
// pattern). That of a tree or of other columns is a bound, in some cases exact; see Tree and Toeplitz.
func (s Strategy) Sensitivity(p Participation) (float64, error) {
	if p.Times < 1 || p.Apart < 1 {
		return 0, ErrParticipation
	}
	p.Apart = min(p.Apart, s.steps) // further apart than that there is no second time
	switch {
	case s.tree:
		return s.nodes(p), nil
	case s.mixed:
		return s.bound(p), nil
	}
	return s.earliest(p), nil
}

// earliest returns the sensitivity to a unit in the earliest steps that p allows.
func (s Strategy) earliest(p Participation) float64 {
	sum := 0.0
	for _, row := range s.rows(p) {
		sum += row * row
	}
	return math.Sqrt(sum)
}

// rows returns C u for a unit that adds 1 to the earliest steps that p allows.
func (s Strategy) rows(p Participation) []float64 {
	all := make([]float64, s.steps) // row t of the sum of the columns 1, 1+Apart and so on, up to t
	rows := make([]float64, s.steps)
	late := s.late(p)
	copy(all, s.column)
	for t := range all {
		if t >= p.Apart {
			all[t] += all[t-p.Apart]
		}
		rows[t] = all[t]
		if t >= late {
			rows[t] -= all[t-late] // of the columns after the last one
		}
	}
	return rows
}

// late returns the number of steps before the first one that p allows no more, or all steps.
func (s Strategy) late(p Participation) int {
	if p.Times > (s.steps-1)/p.Apart {
		return s.steps
	}
	return p.Times * p.Apart
}

// Errors holds the standard deviation of the noise in the released sums, for z of standard deviation 1.
type Errors struct {
	Mean float64 // root of the mean square over the steps
	Last float64 // of the last sum; the largest, but for a tree
}

// Errors returns the error of the sums: the lengths of the rows of B. It fails if they are too large for a number.
func (s Strategy) Errors() (Errors, error) {
	if s.tree {
		return s.sumsOfNodes(fromBelow), nil
	}
	b, err := s.sums()
	if err != nil {
		return Errors{}, err
	}
	total, row := 0.0, 0.0
	for _, v := range b {
		row += v * v
		total += row
	}
	if !(total <= math.MaxFloat64) {
		return Errors{}, errors.New("the errors of the sums are too large for a number")
	}
	return Errors{math.Sqrt(total / float64(s.steps)), math.Sqrt(row)}, nil
}

// sums returns the first column of B, the lower triangle of ones times the inverse of C. Both are Toeplitz, so it is
// also the inverse of C times a column of ones.
func (s Strategy) sums() ([]float64, error) {
	b := make([]float64, s.steps)
	if s.buffers == nil {
		for t := range b { // what a generator does, with all that is done as its memory
			v := 1.0
			for k := 1; k < len(s.column) && k <= t; k++ {
				v -= s.column[k] * b[t-k]
			}
			b[t] = v / s.column[0]
		}
		return b, nil
	}
	g, err := s.Generator(State{Width: 1})
	for t := 0; t < len(b) && err == nil; t++ {
		b[t] = 1
		err = g.Next(b[t : t+1])
	}
	return b, err
}

// Column returns the first column of a strategy from its diagonal down, without the zeros at its end; nil for a tree.
func (s Strategy) Column() []float64 { return slices.Clone(s.column) }
