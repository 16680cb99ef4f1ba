package attribute

import "privrec/internal/tensor"

// sparse stores a matrix by its non-zeros: row i has the values val[ptr[i]:ptr[i+1]] in the columns idx of the same
// range, ascending. The rows of a transposed matrix are columns.
type sparse struct {
	rows, cols int
	ptr        []int
	idx        []int32
	val        []float64
}

// sparseOf returns the non-zeros of x.
func sparseOf(x tensor.Matrix) sparse {
	s := sparse{rows: x.Rows, cols: x.Cols, ptr: make([]int, 1, x.Rows+1)}
	for i := range x.Rows {
		for j, v := range tensor.Row(x, i) {
			if v != 0 {
				s.idx, s.val = append(s.idx, int32(j)), append(s.val, float64(v))
			}
		}
		s.ptr = append(s.ptr, len(s.idx))
	}
	return s
}

// row returns the columns and values of row i.
func (s sparse) row(i int) ([]int32, []float64) {
	lo, hi := s.ptr[i], s.ptr[i+1]
	return s.idx[lo:hi], s.val[lo:hi]
}

// transposed returns the transpose of s.
func (s sparse) transposed() sparse {
	t := sparse{rows: s.cols, cols: s.rows, ptr: make([]int, s.cols+1), idx: make([]int32, len(s.idx)),
		val: make([]float64, len(s.val))}
	for _, j := range s.idx {
		t.ptr[j+1]++
	}
	for j := range s.cols {
		t.ptr[j+1] += t.ptr[j]
	}
	next := append([]int(nil), t.ptr[:s.cols]...)
	for i := range s.rows {
		idx, val := s.row(i)
		for k, j := range idx {
			t.idx[next[j]], t.val[next[j]] = int32(i), val[k]
			next[j]++
		}
	}
	return t
}

// sumSq returns the sum of the squares of row i.
func (s sparse) sumSq(i int) float64 {
	_, val := s.row(i)
	sum := 0.0
	for _, v := range val {
		sum += v * v
	}
	return sum
}

// distances sets d[i] to the squared Euclidean distance between row i and the point with coordinates dense, whose sum
// of squares is sq. sumSq holds the sums of squares of the rows. Whole numbers give exact distances.
func (s sparse) distances(d, sumSq, dense []float64, sq float64) {
	for i := range s.rows {
		idx, val := s.row(i)
		dot := 0.0
		for k, j := range idx {
			dot += val[k] * dense[j]
		}
		d[i] = max(0, sumSq[i]+sq-2*dot)
	}
}

// nearness computes the distances from each row of x to all rows of s, and passes them to use by row of x. It works on
// several rows at once.
func (s sparse) nearness(x tensor.Matrix, use func(i int, d []float64)) {
	sums := make([]float64, s.rows)
	for i := range sums {
		sums[i] = s.sumSq(i)
	}
	tensor.Parallel(x.Rows, 16, func(_, lo, hi int) {
		d, dense := make([]float64, s.rows), make([]float64, s.cols)
		for i := lo; i < hi; i++ {
			sq := 0.0
			for j, v := range tensor.Row(x, i) {
				dense[j] = float64(v)
				sq += dense[j] * dense[j]
			}
			s.distances(d, sums, dense, sq)
			use(i, d)
		}
	})
}
