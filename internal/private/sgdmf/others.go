package sgdmf

import (
	"slices"

	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// sampled holds the rows that stand for all rows of the table in a step's equations.
type sampled struct {
	rows   []int32 // ascending
	weight tensor.Float
}

// share computes the part of the users' equations that all users share from drawn rows alone, ascending, each of which
// stands for times rows of the table. Their vectors must be up to date. It holds until join.
func (f *factors) share(rows []int32, times float64) {
	f.drawn = &sampled{rows, tensor.Float(f.c.Unobserved * times)}
	w := tensor.New(len(rows), f.w.Cols)
	for k, r := range rows {
		copy(tensor.Row(w, k), tensor.Row(f.w, int(r)))
	}
	f.common(f.drawn.weight, w)
}

// without takes a user's own rows off the part that all users share.
func (s *solver) without(own []int32) {
	f, n, k := s.f, 1+s.f.c.Dim, 0
	for _, r := range own {
		if _, in := slices.BinarySearch(f.drawn.rows, r); in {
			copy(s.gather[k*n:(k+1)*n], tensor.Row(f.w, int(r)))
			k++
		}
	}
	if k > 0 {
		g := tensor.From(k, n, s.gather[:k*n])
		tensor.Gemm(true, false, -f.drawn.weight, g, g, 1, s.a)
	}
}

// read gives the rows that a step of these users reads all noise that they missed, where noise is deferred, and makes
// the step's equations of its negatives.
func (t *training) read(users, negatives []int32, times float64) error {
	if t.late != nil {
		t.reads = append(t.reads[:0], negatives...)
		for _, u := range users {
			t.own = t.f.rows(t.train[u], t.own)
			t.reads = append(t.reads, t.own...)
		}
		if err := t.late.Read(tensor.Parallel, t.reads); err != nil {
			return err
		}
		for _, r := range t.reads {
			t.f.refresh(r)
		}
	}
	t.f.share(negatives, times)
	return nil
}

// subset returns n of the rows 0..m-1, ascending, each subset alike, in time that does not depend on m (Floyd's
// algorithm: Bentley, "A sample of brilliance", CACM 1987).
func subset(s rng.Stream, m, n int) []int32 {
	rows, taken := make([]int32, 0, n), make(map[int32]bool, n)
	for j := m - n; j < m; j++ {
		r := int32(s.IntN(j + 1))
		if taken[r] {
			r = int32(j)
		}
		rows, taken[r] = append(rows, r), true
	}
	slices.Sort(rows)
	return rows
}
