package ials

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/tensor"
)

// side holds the users or the items: their vectors, those of the other side, and the pairs.
type side struct {
	name  string
	x     tensor.Matrix       // (n, d), what is solved for
	other tensor.Matrix       // (the other side's number, d)
	of    func(k int) []int32 // rows of other that row k has
}

const (
	solveGrain = 16   // rows that a core solves at a time
	solveBlock = 4096 // rows between two looks at the context
)

// solve replaces every vector of s by the minimiser for the other side's vectors.
func (o Options) solve(ctx context.Context, s side) error {
	d := o.Dim
	common := tensor.New(d, d) // alpha0 H'H
	tensor.Gemm(true, false, tensor.Float(o.Unobserved), s.other, s.other, 0, common)
	for from := 0; from < s.x.Rows; from += solveBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(solveBlock, s.x.Rows-from)
		failed := make([]error, (n+solveGrain-1)/solveGrain)
		tensor.Parallel(n, solveGrain, func(chunk, lo, hi int) {
			w := workspace{a: tensor.New(d, d)}
			for k := from + lo; k < from+hi && failed[chunk] == nil; k++ {
				failed[chunk] = o.row(&w, s, common, k)
			}
		})
		for _, err := range failed {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// workspace holds the memory that a core needs to solve rows.
type workspace struct {
	a      tensor.Matrix  // (d, d), the equations of a row, then their factor
	gather []tensor.Float // vectors of the other side that a row has
}

// row solves the normal equations of row k. It builds sum h h' as one product of the gathered
// rows with themselves.
func (o Options) row(w *workspace, s side, common tensor.Matrix, k int) error {
	has, x := s.of(k), tensor.Row(s.x, k)
	clear(x)
	copy(w.a.Data, common.Data)
	if len(has) > 0 {
		if cap(w.gather) < len(has)*o.Dim {
			w.gather = make([]tensor.Float, len(has)*o.Dim)
		}
		h := tensor.From(len(has), o.Dim, w.gather[:len(has)*o.Dim])
		for r, j := range has {
			row := tensor.Row(s.other, int(j))
			copy(tensor.Row(h, r), row)
			tensor.Add(x, row)
		}
		tensor.Gemm(true, false, 1, h, h, 1, w.a)
	}
	penalty := o.Lambda * math.Pow(float64(len(has))+o.Unobserved*float64(s.other.Rows), o.Exponent)
	for i := range o.Dim {
		w.a.Data[i*w.a.Stride+i] += tensor.Float(penalty)
	}
	if i, ok := tensor.Cholesky(w.a); !ok {
		return fmt.Errorf("ials: the equations of %s %d are not positive definite at row %d: lambda %g is too small "+
			"for this precision", s.name, k, i, o.Lambda)
	}
	tensor.CholeskySolve(w.a, x)
	return nil
}
