package sgdmf

import (
	"math"

	"privrec/internal/private/release"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// factors holds the items' vectors w_j = (p_j, v_j). All of it is public once released.
type factors struct {
	c     ModelConfig
	items []int32        // of the data, the m of the largest released counts, the largest first
	place []int32        // of an item of the data: its row, or -1
	p     []tensor.Float // (m), the column of the counts
	v     tensor.Matrix  // (m, d), what is learned
	w     tensor.Matrix  // (m, 1+d), both
	gram  tensor.Matrix  // (1+d, 1+d), w0 w'w + lambda I over all rows, or over those that were drawn
	drawn *sampled       // nil: over all rows
}

// initial is the standard deviation of the vectors before the first step.
const initial = 0.1

// newFactors returns factors for the m items with the largest released counts. p_j is the square root of item j's count
// divided by the largest; no count is taken below floor, the deviation of the counts' noise. V is drawn without using
// the data.
func newFactors(c ModelConfig, counts []float64, floor float64, s rng.Stream) *factors {
	f := &factors{c: c, items: release.Top(counts, c.Items), place: make([]int32, len(counts))}
	m := len(f.items)
	for i := range f.place {
		f.place[i] = -1
	}
	f.p, f.v, f.w = make([]tensor.Float, m), tensor.New(m, c.Dim), tensor.New(m, 1+c.Dim)
	f.gram = tensor.New(1+c.Dim, 1+c.Dim)
	largest := math.Max(counts[f.items[0]], floor)
	for r, i := range f.items {
		f.place[i] = int32(r)
		f.p[r] = tensor.Float(math.Sqrt(math.Max(counts[i], floor) / largest))
	}
	for i := range f.v.Data {
		f.v.Data[i] = tensor.Float(initial * s.NormFloat64())
	}
	f.join()
	return f
}

// join computes from V the vectors w and the part of the users' equations that all users share.
func (f *factors) join() {
	for r := range f.p {
		f.refresh(int32(r))
	}
	f.drawn = nil
	f.common(tensor.Float(f.c.Unobserved), f.w)
}

// refresh computes from V the vector w of a row.
func (f *factors) refresh(r int32) {
	row := tensor.Row(f.w, int(r))
	row[0] = f.p[r]
	copy(row[1:], tensor.Row(f.v, int(r)))
}

// common computes the part of the users' equations that all users share, from some vectors w and their weight.
func (f *factors) common(weight tensor.Float, w tensor.Matrix) {
	tensor.Gemm(true, false, weight, w, w, 0, f.gram)
	for k := range f.gram.Rows {
		f.gram.Data[k*f.gram.Stride+k] += tensor.Float(f.c.Lambda)
	}
}

// rows maps items of the data to their rows in the table, and leaves out those without one.
func (f *factors) rows(items, to []int32) []int32 {
	to = to[:0]
	for _, i := range items {
		if r := f.place[i]; r >= 0 {
			to = append(to, r)
		}
	}
	return to
}

// solver computes users' vectors. It is for one goroutine.
type solver struct {
	f      *factors
	a      tensor.Matrix
	gather []tensor.Float
}

func newSolver(f *factors) *solver { return &solver{f: f, a: tensor.New(1+f.c.Dim, 1+f.c.Dim)} }

// solve writes the vector of a user with these rows of the table to u (1+d):
//
//	argmin sum_{j in own} (1 - u·w_j)² + w0 sum_{j not in own} (u·w_j)² + lambda |u - prior e_0|²
//
// Where rows were drawn (share), they stand for all rows in the second sum, with their weight. ok is false where the
// equations cannot be solved in this precision, because model.lambda is too small for them: u is then prior e_0, as for
// a user without items. It depends on the user's own row, so that no run may end with it.
func (s *solver) solve(own []int32, u []tensor.Float) (ok bool) {
	f, n := s.f, 1+s.f.c.Dim
	copy(s.a.Data, f.gram.Data)
	clear(u)
	u[0] = tensor.Float(f.c.Lambda * f.c.Prior)
	if len(own) > 0 {
		if cap(s.gather) < len(own)*n {
			s.gather = make([]tensor.Float, len(own)*n)
		}
		g := tensor.From(len(own), n, s.gather[:len(own)*n])
		for k, r := range own {
			row := tensor.Row(f.w, int(r))
			copy(tensor.Row(g, k), row)
			tensor.Add(u, row)
		}
		if f.drawn == nil {
			tensor.Gemm(true, false, tensor.Float(1-f.c.Unobserved), g, g, 1, s.a)
		} else {
			tensor.Gemm(true, false, 1, g, g, 1, s.a)
			s.without(own)
		}
	}
	if _, ok = tensor.Cholesky(s.a); ok {
		tensor.CholeskySolve(s.a, u)
		ok = tensor.Dot(u, u) <= math.MaxFloat32
	}
	if !ok {
		clear(u)
		u[0] = tensor.Float(f.c.Prior)
	}
	return ok
}

// below is the distance below all scores at which items without a vector are ranked, by their counts.
const below = 1e4

// vectors returns vectors of users and items (2+d) whose inner products rank: (u, 1) and (w_j, 0), and (0, -below -
// rank) for an item without a vector. rows holds every user's own items.
func (f *factors) vectors(rows [][]int32, counts []float64) (users, items tensor.Matrix) {
	n := 2 + f.c.Dim
	users, items = tensor.NewTable(len(rows), n), tensor.NewTable(len(f.place), n)
	for rank, i := range release.Top(counts, len(counts)) {
		row := tensor.Row(items, int(i))
		if r := f.place[i]; r >= 0 {
			copy(row, tensor.Row(f.w, int(r)))
		} else {
			row[n-1] = -tensor.Float(below + float64(rank))
		}
	}
	tensor.Parallel(len(rows), usersAtOnce, func(_, lo, hi int) {
		s, own := newSolver(f), []int32(nil)
		for u := lo; u < hi; u++ {
			row := tensor.Row(users, u)
			own = f.rows(rows[u], own)
			s.solve(own, row[:n-1])
			row[n-1] = 1
		}
	})
	return users, items
}

// usersAtOnce is the number of users that a goroutine takes at a time.
const usersAtOnce = 16
