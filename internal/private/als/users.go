package als

import (
	"math"

	"privrec/internal/tensor"
)

// userStep computes a user's vector from public values and that user's own row alone: it gets no other row. The result
// is clipped.
type userStep struct {
	m      ModelConfig
	clip   float64 // G of this round
	items  table   // V (m, d)
	common table   // of "observed": w0 V'V + lambda I (d, d)
}

// newUserStep returns the step of a round.
func newUserStep(m ModelConfig, clip float64, items table) userStep {
	s := userStep{m: m, clip: clip, items: items}
	if m.Cells == CellsObserved {
		s.common = items.gram(m.Unobserved)
		for k := range s.common.rows {
			s.common.row(k)[k] += m.Lambda
		}
	}
	return s
}

// vector writes the vector of a user with these cells to u (d), clipped to |u| <= G.
func (s userStep) vector(cells []cell, u []float64) {
	clear(u)
	if len(cells) == 0 {
		return
	}
	if s.m.Cells == CellsAll {
		for _, c := range cells {
			axpy(c.weight, s.items.row(int(c.item)), u)
		}
	} else {
		a := newTable(len(u), len(u))
		copy(a.x, s.common.x)
		for _, c := range cells {
			v := s.items.row(int(c.item))
			a.addOuter(1, v)
			axpy(c.value, v, u)
		}
		a.mirror()
		a.solve(u)
	}
	clip(u, s.clip)
}

// all computes the vectors of all users (users, d).
func (s userStep) all(rows [][]cell) table {
	u := newTable(len(rows), s.items.cols)
	tensor.Parallel(len(rows), 16, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			s.vector(rows[k], u.row(k))
		}
	})
	return u
}

// clip scales x to length at most g, also after rounding.
func clip(x []float64, g float64) {
	if n := math.Sqrt(dot(x, x)); !(n <= g*below) {
		if math.IsInf(n, 1) || math.IsNaN(n) || math.IsNaN(g*below/n) {
			clear(x) // of a row whose equations overflow: the guarantee must not depend on it
			return
		}
		for k := range x {
			x[k] *= g * below * below / n
		}
	}
}
