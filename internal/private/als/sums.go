package als

import (
	"fmt"
	"math"

	"privrec/internal/private/release"
	"privrec/internal/tensor"
)

// gridBits sets the grid of the terms: sensitivity times 2^-30, rounded to a power of two.
const gridBits = 30

// gridOf returns the power of two that all terms of a sum with this sensitivity are multiples of.
func gridOf(sensitivity float64) float64 {
	_, e := math.Frexp(sensitivity)
	return math.Ldexp(1, e-gridBits)
}

// cut rounds a term towards 0 to a multiple of the grid, so that no norm grows.
func cut(v, grid float64) float64 { return math.Trunc(v/grid) * grid }

// mostUsers is the largest number of users with exact sums: each term is at most 2^30 steps of its grid.
const mostUsers = 1 << (53 - gridBits)

// checkUsers refuses data whose sums would be rounded.
func checkUsers(n int) error {
	if n > mostUsers {
		return fmt.Errorf("dp-als: %d users, want at most %d: sums of more would be rounded", n, mostUsers)
	}
	return nil
}

// vectorSum describes the release of b. A user's term has the norm |b_u| = |u| sqrt(sum of w² r²) <= G G_r.
func vectorSum(round int, clip, most float64, k, d int) release.Sum {
	s := clip * most
	return release.Sum{Purpose: fmt.Sprintf("round %d: vectors of items", round), Sensitivity: s, Dimension: k * d,
		Grid: gridOf(s)}
}

// matrixSum describes the release of A. A user's term has the norm |A_u| = |u|² sqrt(sum of w²) <= G².
func matrixSum(round int, clip float64, k, d int) release.Sum {
	s := clip * clip
	return release.Sum{Purpose: fmt.Sprintf("round %d: matrices of items", round), Sensitivity: s,
		Dimension: k * d * (d + 1) / 2, Grid: gridOf(s)}
}

// commonSum describes the release of K. A user's term has the norm |u u'| = |u|² <= G².
func commonSum(round int, clip float64, d int) release.Sum {
	s := clip * clip
	return release.Sum{Purpose: fmt.Sprintf("round %d: matrix of all users", round), Sensitivity: s,
		Dimension: d * (d + 1) / 2, Grid: gridOf(s)}
}

// vectors returns b (m, d), b_j = sum over users who contribute j of w_uj r_uj u.
func (x *rows) vectors(users table, grid float64) table {
	b := newTable(len(x.of), users.cols)
	tensor.Parallel(len(x.of), 4, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			row := b.row(j)
			for _, e := range x.of[j] {
				for k, v := range users.row(int(e.user)) {
					row[k] += cut(e.weight*e.value*v, grid)
				}
			}
		}
	})
	return b
}

// triangle returns the number of entries in the lower triangle of a (d, d) matrix.
func triangle(d int) int { return d * (d + 1) / 2 }

// matrices returns the lower triangles of A (m, d(d+1)/2), A_j = sum over users who contribute j
// of w_uj u u'.
func (x *rows) matrices(users table, grid float64) table {
	a := newTable(len(x.of), triangle(users.cols))
	tensor.Parallel(len(x.of), 4, func(_, lo, hi int) {
		for j := lo; j < hi; j++ {
			for _, e := range x.of[j] {
				addTriangle(a.row(j), e.weight, users.row(int(e.user)), grid)
			}
		}
	})
	return a
}

// common returns the lower triangle of K = sum of u u' over all users, as a table of one row.
func common(users table, grid float64) table {
	k := newTable(1, triangle(users.cols))
	for u := range users.rows {
		addTriangle(k.x, 1, users.row(u), grid)
	}
	return k
}

// addTriangle adds the lower triangle of by u u', each number cut to the grid.
func addTriangle(dst []float64, by float64, u []float64, grid float64) {
	at := 0
	for i, v := range u {
		for _, w := range u[:i+1] {
			dst[at] += cut(by*v*w, grid)
			at++
		}
	}
}

// square returns the symmetric matrix with a given lower triangle.
func square(lower []float64, d int) table {
	t := newTable(d, d)
	at := 0
	for i := range d {
		at += copy(t.row(i)[:i+1], lower[at:])
	}
	t.mirror()
	return t
}
