package perexample

import (
	"math"
	"slices"
	"sync"

	"privrec/internal/tensor"
)

// scratch is the memory of one worker.
type scratch struct {
	left, right, formed []tensor.Float
	order               []entry
	sums                []tensor.Float
}

// entry is one row of a look-up.
type entry struct {
	row int // of the parameter
	use int
	at  int32 // row of the use
}

var scratches = sync.Pool{New: func() any { return &scratch{} }}

// take returns a matrix over *s, which grows as needed. Its content is undefined.
func take(s *[]tensor.Float, rows, cols int) tensor.Matrix {
	if cap(*s) < rows*cols {
		*s = make([]tensor.Float, rows*cols)
	}
	return tensor.From(rows, cols, (*s)[:rows*cols])
}

// rounding bounds, relative to the sum of the lengths of all products, how much too small a length may become in single
// precision if products cancel.
const rounding = 1e-6

// Norms writes to dst an upper bound of the length of every example's gradient over all parameters, as close as
// rounding allows. It does not depend on the number of workers.
func (g *Gradients) Norms(dst []float64) {
	tensor.Parallel(g.n, 1, func(_, lo, hi int) {
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		for k := lo; k < hi; k++ {
			total := 0.0
			for _, p := range g.params {
				total += max(0, p.squared(k, s))
			}
			dst[k] = math.Sqrt(total) * (1 + rounding)
		}
	})
}

// squared returns the squared length of the gradient of example k.
func (p *param) squared(k int, s *scratch) float64 {
	total := 0.0
	for i := range p.blocks {
		total += p.blocks[i].squared(k, s)
	}
	if len(p.rows) == 0 {
		return total
	}
	s.order = s.order[:0]
	for n := range p.rows {
		u := &p.rows[n]
		for i := u.off[k]; i < u.off[k+1]; i++ {
			s.order = append(s.order, entry{u.row(i), n, i})
		}
	}
	slices.SortStableFunc(s.order, func(a, b entry) int { return a.row - b.row })
	width := p.Value.Cols
	sum := take(&s.sums, 1, width).Data
	for from := 0; from < len(s.order); {
		to := from
		clear(sum)
		for ; to < len(s.order) && s.order[to].row == s.order[from].row; to++ {
			e := s.order[to]
			tensor.Add(sum, tensor.Row(p.rows[e.use].Right, int(e.at)))
		}
		total += tensor.SumSq(sum) + 2*p.meet(k, s.order[from].row, sum)
		from = to
	}
	return total
}

// meet returns the inner product of v with the products' gradient of a row of the parameter.
func (p *param) meet(k, row int, v []tensor.Float) float64 {
	total := 0.0
	for i := range p.blocks {
		b := &p.blocks[i]
		if row < b.first || row >= b.first+b.rows {
			continue
		}
		for n := range b.uses {
			u := &b.uses[n]
			for i := int(u.off[k]); i < int(u.off[k+1]); i++ {
				if l := tensor.Row(u.Left, i)[row-b.first]; l != 0 {
					total += float64(l) * float64(tensor.Dot(tensor.Row(u.Right, i), v))
				}
			}
		}
	}
	return total
}

// squared returns the squared length of the block's part of the gradient of example k.
func (b *block) squared(k int, s *scratch) float64 {
	if len(b.uses) == 1 {
		u := &b.uses[0]
		n := int(u.off[k+1] - u.off[k])
		if wide := b.rows + u.Right.Cols; n == 0 || n*wide < b.rows*u.Right.Cols {
			return u.products(k, s)
		}
	}
	formed := take(&s.formed, b.rows, b.uses[0].Right.Cols)
	beta := tensor.Float(0)
	for i := range b.uses {
		left, right := b.uses[i].of(k)
		if left.Rows > 0 {
			tensor.Gemm(true, false, 1, left, right, beta, formed)
			beta = 1
		}
	}
	if beta == 0 {
		return 0
	}
	return tensor.SumSq(formed.Data)
}

// of returns the rows of example k.
func (u *use) of(k int) (left, right tensor.Matrix) {
	lo, hi := int(u.off[k]), int(u.off[k+1])
	return tensor.RowsView(u.Left, lo, hi), tensor.RowsView(u.Right, lo, hi)
}

// products returns the squared length as a sum over pairs of rows, plus a bound on the loss by rounding.
func (u *use) products(k int, s *scratch) float64 {
	left, right := u.of(k)
	n := left.Rows
	switch n {
	case 0:
		return 0
	case 1:
		return tensor.SumSq(tensor.Row(left, 0)) * tensor.SumSq(tensor.Row(right, 0))
	}
	a, b := take(&s.left, n, n), take(&s.right, n, n)
	tensor.Gemm(false, true, 1, left, left, 0, a)
	tensor.Gemm(false, true, 1, right, right, 0, b)
	total, lengths := 0.0, 0.0
	for i := range n {
		x, y := tensor.Row(a, i), tensor.Row(b, i)
		total += float64(tensor.Dot(x, y))
		lengths += math.Sqrt(max(0, float64(x[i])*float64(y[i])))
	}
	return max(0, total) + rounding*lengths*lengths
}
