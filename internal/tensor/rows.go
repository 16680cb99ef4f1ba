package tensor

import (
	"fmt"
	"math"
)

// NormalizeRows sets row i of dst to row i of src times c / max(|row|, eps), and
// factor[i] to that multiplier unless factor is nil. Norms are taken in float64.
// dst may be src.
func NormalizeRows(dst, src Matrix, c, eps Float, factor []Float) {
	rescaleRows("normalise rows", dst, src, factor, func(norm float64) float64 {
		return float64(c) / max(norm, float64(eps))
	})
}

// ClipRows sets row i of dst to row i of src times min(1, c / |row|), and
// factor[i] to that multiplier unless factor is nil. dst may be src.
func ClipRows(dst, src Matrix, c Float, factor []Float) {
	rescaleRows("clip rows", dst, src, factor, func(norm float64) float64 {
		if norm <= float64(c) {
			return 1
		}
		return float64(c) / norm
	})
}

// rescaleRows scales each row by a function of its norm.
func rescaleRows(op string, dst, src Matrix, factor []Float, scale func(norm float64) float64) {
	check(op, src)
	check(op, dst)
	if dst.Rows != src.Rows || dst.Cols != src.Cols || factor != nil && len(factor) != src.Rows {
		panic(fmt.Sprintf("tensor: %s: %d x %d into %d x %d, %d factors",
			op, src.Rows, src.Cols, dst.Rows, dst.Cols, len(factor)))
	}
	grain := max(1, 4096/max(1, src.Cols))
	Parallel(src.Rows, grain, func(_, lo, hi int) {
		for i := lo; i < hi; i++ {
			x := Row(src, i)
			f := Float(scale(math.Sqrt(SumSq(x))))
			ScaleTo(f, Row(dst, i), x)
			if factor != nil {
				factor[i] = f
			}
		}
	})
}
