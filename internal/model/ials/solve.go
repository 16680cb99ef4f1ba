package ials

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"privrec/internal/tensor"
)

// side holds the users or the items: their vectors, those of the other side, and the pairs.
type side struct {
	name  string
	x     tensor.Matrix       // (n, d), what is solved for
	other tensor.Matrix       // (the other side's number, d)
	of    func(k int) []int32 // rows of other that row k has
	order []int32             // rows of x, those with most pairs first
}

// newSide returns a side with its order.
func newSide(name string, x, other tensor.Matrix, of func(k int) []int32) side {
	s := side{name, x, other, of, make([]int32, x.Rows)}
	for k := range s.order {
		s.order[k] = int32(k)
	}
	slices.SortStableFunc(s.order, func(a, b int32) int { return cmp.Compare(len(of(int(b))), len(of(int(a)))) })
	return s
}

const (
	solveGrain = 16   // rows that a core solves at a time
	solveBlock = 4096 // rows between two looks at the context
)

// solve replaces every vector of s by the minimiser for the other side's vectors. It works in the base of the
// eigenvectors of alpha0 H'H, where that matrix plus any penalty is diagonal.
func (o Options) solve(ctx context.Context, s side) error {
	d := o.Dim
	base, values, err := o.base(ctx, s.other)
	if err != nil {
		return err
	}
	turned, x := tensor.NewTable(s.other.Rows, d), tensor.NewTable(s.x.Rows, d)
	defer tensor.Free(turned)
	defer tensor.Free(x)
	tensor.Gemm(false, true, 1, s.other, base, 0, turned)
	spaces := make(chan *workspace, tensor.Workers())
	for from := 0; from < s.x.Rows; from += solveBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		rows := s.order[from:min(from+solveBlock, s.x.Rows)]
		failed := make([]error, (len(rows)+solveGrain-1)/solveGrain)
		tensor.Parallel(len(rows), solveGrain, func(chunk, lo, hi int) {
			w := takeWorkspace(spaces, d)
			for _, k := range rows[lo:hi] {
				if failed[chunk] = o.row(w, s, turned, values, int(k), tensor.Row(x, int(k))); failed[chunk] != nil {
					break
				}
			}
			spaces <- w
		})
		for _, err := range failed {
			if err != nil {
				return err
			}
		}
	}
	tensor.Gemm(false, false, 1, x, base, 0, s.x)
	return nil
}

// base returns the eigenvectors of alpha0 H'H as rows (d, d), and its eigenvalues, none below 0.
func (o Options) base(ctx context.Context, h tensor.Matrix) (vectors tensor.Matrix, values []float64, err error) {
	d := o.Dim
	vectors = tensor.New(d, d)
	tensor.Gemm(true, false, tensor.Float(o.Unobserved), h, h, 0, vectors)
	common := make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := float64(vectors.Data[i*vectors.Stride+j])
			common[i*d+j], common[j*d+i] = v, v
		}
	}
	values, rows, err := tensor.Eigen(ctx, d, common)
	if err != nil {
		return tensor.Matrix{}, nil, fmt.Errorf("ials: %w", err)
	}
	for i := range d {
		values[i] = max(values[i], 0) // below it only by rounding
		for j, v := range rows[i*d : (i+1)*d] {
			vectors.Data[i*vectors.Stride+j] = tensor.Float(v)
		}
	}
	return vectors, values, nil
}

// workspace holds the memory that a core needs to solve rows.
type workspace struct {
	pairs   int            // of the row that diagonal and scale are of; -1: none yet
	scale   []tensor.Float // (d), diagonal to the power -1/2
	diag    []tensor.Float // (d), eigenvalues and penalty
	gather  []tensor.Float // vectors of the other side that a row has
	system  []tensor.Float // (m+1, m), the equations of a row, with their right side below
	inverse []tensor.Float // (m), of the factor's diagonal
}

// takeWorkspace returns a workspace that no core uses, a new one if there is none.
func takeWorkspace(spaces chan *workspace, d int) *workspace {
	select {
	case w := <-spaces:
		return w
	default:
		return &workspace{pairs: -1, scale: make([]tensor.Float, d), diag: make([]tensor.Float, d),
			system: make([]tensor.Float, (d+1)*d), inverse: make([]tensor.Float, d)}
	}
}

// row writes the solution of the normal equations of row k into x, all in the base of the eigenvectors.
func (o Options) row(w *workspace, s side, turned tensor.Matrix, values []float64, k int, x []tensor.Float) error {
	has := s.of(k)
	if clear(x); len(has) == 0 {
		return nil
	}
	wrong := func(i int) error {
		return fmt.Errorf("ials: the equations of %s %d are not positive definite at row %d: lambda %g is too small "+
			"for this precision", s.name, k, i, o.Lambda)
	}
	if len(has) != w.pairs {
		w.pairs = len(has)
		penalty := o.Lambda * math.Pow(float64(len(has))+o.Unobserved*float64(s.other.Rows), o.Exponent)
		if i := w.weigh(values, penalty); i >= 0 {
			w.pairs = -1
			return wrong(i)
		}
	}
	if n := len(has) * o.Dim; cap(w.gather) < n {
		w.gather = make([]tensor.Float, n+n/4)
	}
	h := tensor.From(len(has), o.Dim, w.gather[:len(has)*o.Dim])
	i, ok := 0, false
	if len(has) < o.Dim {
		i, ok = w.few(has, turned, h, x)
	} else {
		i, ok = w.many(has, turned, h, x)
	}
	if !ok {
		return wrong(i)
	}
	return nil
}

// weigh sets diag and scale from eigenvalues and a penalty. It returns the first row whose diagonal is only rounding
// error beside the mean one, -1 if there is none.
func (w *workspace) weigh(values []float64, penalty float64) int {
	sum := 0.0
	for _, v := range values {
		sum += v + penalty
	}
	for i, v := range values {
		v += penalty
		if !(v > 0 && v > tensor.LeastPivot*sum/float64(len(values))) || math.IsInf(v, 1) {
			return i
		}
		w.diag[i], w.scale[i] = tensor.Float(v), tensor.Float(1/math.Sqrt(v))
	}
	return -1
}

// many solves (D + H'H) x = H'1 for the rows H of turned that has names, as many as x is long or more.
func (w *workspace) many(has []int32, turned, h tensor.Matrix, x []tensor.Float) (row int, ok bool) {
	d := len(x)
	a := tensor.From(d, d, w.system[:d*d])
	clear(a.Data)
	for i, v := range w.diag {
		a.Data[i*d+i] = v
	}
	for r, j := range has {
		from := tensor.Row(turned, int(j))
		copy(tensor.Row(h, r), from)
		tensor.Add(x, from)
	}
	tensor.Gemm(true, false, 1, h, h, 1, a)
	copy(w.system[d*d:], x)
	row, ok = solveSystem(w.system[:(d+1)*d], w.inverse[:d])
	copy(x, w.system[d*d:])
	return row, ok
}

// few solves (D + H'H) x = H'1 for fewer rows H than x is long. With P = H D^-1/2 the solution is
// D^-1/2 P' (I + P P')^-1 1, which takes a system as wide as H has rows.
func (w *workspace) few(has []int32, turned, p tensor.Matrix, x []tensor.Float) (row int, ok bool) {
	n := len(has)
	a := tensor.From(n, n, w.system[:n*n])
	for r, j := range has {
		tensor.Mul(tensor.Row(p, r), tensor.Row(turned, int(j)), w.scale)
	}
	tensor.Gemm(false, true, 1, p, p, 0, a)
	y := w.system[n*n : (n+1)*n]
	for i := range n {
		a.Data[i*n+i]++
		y[i] = 1
	}
	if row, ok = solveSystem(w.system[:(n+1)*n], w.inverse[:n]); !ok {
		return row, false
	}
	for r, v := range y {
		tensor.Axpy(v, tensor.Row(p, r), x)
	}
	tensor.Mul(x, x, w.scale)
	return 0, true
}
