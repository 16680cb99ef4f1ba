package forgetting

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/tensor"
)

// folder fits vectors of users to their rows, with the vectors of items fixed. The vector of a user with rows S
// minimises
//
//	sum over i in S of (1 - w·z_i)² + unobserved sum over all items of (w·z_i)² + ridge |w|²
//
// where z are the items' vectors over their root mean square length, so that ridge means the same for every model
// (Hu, Koren, Volinsky 2008, for one user).
type folder struct {
	items      tensor.Matrix // z (items, d)
	common     tensor.Matrix // unobserved Z'Z + ridge I (d, d)
	unobserved float64
}

// newFolder returns a folder for the vectors of items (items, d), which it copies.
func newFolder(items tensor.Matrix, a AttackConfig) (*folder, error) {
	size := 0.0
	f := &folder{items: tensor.New(items.Rows, items.Cols), common: tensor.New(items.Cols, items.Cols),
		unobserved: a.Unobserved}
	for i := range items.Rows {
		size += tensor.SumSq(tensor.Row(items, i))
	}
	if !(size > 0) || math.IsInf(size, 0) {
		return nil, fmt.Errorf("forgetting: the squares of the items' vectors add up to %v", size)
	}
	scale := tensor.Float(1 / math.Sqrt(size/float64(items.Rows)))
	for i := range items.Rows {
		tensor.ScaleTo(scale, tensor.Row(f.items, i), tensor.Row(items, i))
	}
	tensor.Gemm(true, false, tensor.Float(a.Unobserved), f.items, f.items, 0, f.common)
	for i := range items.Cols {
		f.common.Data[i*f.common.Stride+i] += tensor.Float(a.Ridge)
	}
	return f, nil
}

// fit fits w (d) to some items. a (d, d) is working memory.
func (f *folder) fit(items []int32, a tensor.Matrix, w []tensor.Float) error {
	clear(w)
	copy(a.Data, f.common.Data)
	if len(items) == 0 {
		return nil
	}
	h := tensor.New(len(items), f.items.Cols)
	for r, i := range items {
		copy(tensor.Row(h, r), tensor.Row(f.items, int(i)))
		tensor.Add(w, tensor.Row(h, r))
	}
	tensor.Gemm(true, false, 1, h, h, 1, a)
	if i, ok := tensor.Cholesky(a); !ok {
		return fmt.Errorf("forgetting: the equations of a user with %d rows are not positive definite at row %d: "+
			"attack.ridge is too small for this precision", len(items), i)
	}
	tensor.CholeskySolve(a, w)
	return nil
}

// foldGrain is the number of users that a core fits at a time.
const foldGrain = 8

// each calls visit for every k below n, on all cores, with working memory of its own.
func (f *folder) each(n int, visit func(k int, m *memory) error) error {
	failed := make([]error, (n+foldGrain-1)/foldGrain)
	tensor.Parallel(n, foldGrain, func(chunk, lo, hi int) {
		m := &memory{a: tensor.New(f.items.Cols, f.items.Cols), w: make([]tensor.Float, f.items.Cols),
			scores: make([]tensor.Float, f.items.Rows)}
		for k := lo; k < hi && failed[chunk] == nil; k++ {
			failed[chunk] = visit(k, m)
		}
	})
	return cmp.Or(failed...)
}

// memory holds what a core works on while it fits one user.
type memory struct {
	a         tensor.Matrix
	w, scores []tensor.Float
}

// score fits a vector to some items and fills in m.scores, the inner products with all items.
func (f *folder) score(items []int32, m *memory) error {
	if err := f.fit(items, m.a, m.w); err != nil {
		return err
	}
	for i := range f.items.Rows {
		m.scores[i] = tensor.Dot(m.w, tensor.Row(f.items, i))
	}
	return nil
}

// halves splits a user's rows in two by draws about user and item. The first half has the odd one.
func halves(lots *dataset.Lots, user string, rows []int32, itemIDs []string) (a, b []int32) {
	numbers := slices.Clone(lots.Rows(user, len(rows), func(k int) string { return itemIDs[rows[k]] }))
	order := make([]int, len(rows))
	for k := range order {
		order[k] = k
	}
	slices.SortFunc(order, func(x, y int) int { return cmp.Or(cmp.Compare(numbers[x], numbers[y]), cmp.Compare(x, y)) })
	for n, k := range order {
		if n < (len(rows)+1)/2 {
			a = append(a, rows[k])
		} else {
			b = append(b, rows[k])
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return a, b
}
