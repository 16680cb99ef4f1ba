package correlated

import (
	"math"
	"slices"

	"privrec/internal/privacy/numeric"
)

// FitColumn returns the column of Toeplitz whose product of sensitivity and mean error is least for a participation, as
// far as a search finds it. It has at most a number of bands, and fewer where the last ones gain less than a part in
// 1e8. The first entry is 1, none is negative and none is larger than the one above it, so that Sensitivity is exact.
// The column is never worse than the first bands entries of the square root, where the search starts. For a unit that
// takes part once, or in steps at least bands apart, it is the optimal banded Toeplitz strategy of McKenna ("Scaling up
// the banded matrix factorization mechanism for differentially private ML", ICLR 2025), who follows the slope too.
//
// The search has no chance in it. It rounds each product before it adds it, and entries to a billionth in the end:
// every machine finds the same.
func FitColumn(n, bands int, p Participation) ([]float64, error) {
	root, err := Banded(n, bands)
	if err != nil {
		return nil, err
	}
	if p.Times < 1 || p.Apart < 1 {
		return nil, ErrParticipation
	}
	p.Apart = min(p.Apart, n)
	falls := make([]float64, bands) // roots of what each entry is above the next one
	for k, v := range root.column {
		if k+1 < bands {
			v -= root.column[k+1]
		}
		falls[k] = math.Sqrt(v)
	}
	falls = lbfgs(falls, func(falls []float64) (float64, []float64) {
		loss, slope := lossOf(fallen(falls), n, p)
		sum := 0.0
		for k, v := range slope {
			sum += v
			slope[k] = 2 * float64(falls[k]*sum)
		}
		return loss, slope
	})
	column := fallen(falls)
	first := column[0]
	for k, v := range column {
		column[k] = math.Round(v/first*1e9) / 1e9
	}
	loss := func(column []float64) float64 {
		v, _ := lossOf(column, n, p)
		return v
	}
	least := float64(loss(column) * (1 + 2e-8))
	few, _ := numeric.Bisect(bands, 0, func(few int) bool { return loss(column[:few]) <= least })
	if column = column[:few]; !(loss(column) < loss(root.column)) {
		return root.column, nil
	}
	return column, nil
}

// fallen returns the column whose entries fall by the squares of some numbers, the last one to 0.
func fallen(falls []float64) []float64 {
	c := make([]float64, len(falls))
	sum := 0.0
	for k := len(c) - 1; k >= 0; k-- {
		sum += float64(falls[k] * falls[k])
		c[k] = sum
	}
	return c
}

// lossOf returns the square of the loss of a column that does not increase, and how fast it grows with each entry. It
// takes three products for each entry and step, none of them fused with a sum.
func lossOf(c []float64, n int, p Participation) (float64, []float64) {
	moved, pull := movedBy(c, n, p)
	// b is the first column of B, from its end: C b is a column of ones.
	b := make([]float64, n)
	total := 0.0
	for t := range n {
		v := (1 - dot(c[1:], b[n-t:])) / c[0]
		b[n-1-t] = v
		total += float64(float64(n-t) * float64(v*v))
	}
	slices.Reverse(b)
	// By the rule of the chain: the slope of total for the right side of C b, and so for the entries of C.
	back := make([]float64, n)
	for t := n - 1; t >= 0; t-- {
		back[t] = (float64(2*float64(n-t)*b[t]) - dot(c[1:], back[t+1:])) / c[0]
	}
	slope := make([]float64, len(c))
	for k := range c {
		slope[k] = (float64(pull[k]*total) - float64(moved*dot(back[k:], b))) / float64(n)
	}
	return float64(moved*total) / float64(n), slope
}

// movedBy returns the square of earliest for a column, and how fast it grows with each entry.
func movedBy(c []float64, n int, p Participation) (float64, []float64) {
	s := Strategy{column: c, steps: n}
	rows, late := s.rows(p), s.late(p)
	pull := make([]float64, n) // each row pulls at the entries that are in it
	for t := n - 1; t >= 0; t-- {
		pull[t] = 2 * rows[t]
		if t+late < n {
			pull[t] -= 2 * rows[t+late]
		}
		if t+p.Apart < n {
			pull[t] += pull[t+p.Apart]
		}
	}
	return dot(rows, rows), pull[:len(c)]
}
