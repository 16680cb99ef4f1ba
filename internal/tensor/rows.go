package tensor

import (
	"fmt"
	"math"
)

// NormalizeRows sets row i of dst to row i of src times c / max(|row|, eps), and
// factor[i] to that multiplier unless factor is nil. The float64 norm of a row of
// dst never exceeds c, rounding included. dst may be src.
func NormalizeRows(dst, src Matrix, c, eps Float, factor []Float) {
	rescaleRows("normalise rows", dst, src, c, factor, func(norm float64) float64 {
		return min(float64(c)/max(norm, float64(eps)), math.MaxFloat32)
	})
}

// ClipRows sets row i of dst to row i of src times min(1, c / |row|), and
// factor[i] to that multiplier unless factor is nil. The float64 norm of a row of
// dst never exceeds c, rounding included. dst may be src.
func ClipRows(dst, src Matrix, c Float, factor []Float) {
	rescaleRows("clip rows", dst, src, c, factor, func(norm float64) float64 {
		if norm <= float64(c) {
			return 1
		}
		return float64(c) / norm
	})
}

// rescaleRows scales each row by a function of its norm.
func rescaleRows(op string, dst, src Matrix, c Float, factor []Float, scale func(norm float64) float64) {
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
			y, f := Row(dst, i), Float(1)
			if s := scale(math.Sqrt(SumSq(x))); s != 1 {
				f = ScaleWithin(s, float64(c), y, x)
			} else {
				copy(y, x)
			}
			if factor != nil {
				factor[i] = f
			}
		}
	})
}

// ScaleWithin sets dst = f x, where f would make the norm of dst at most c without
// rounding. It lowers f by as many roundings as it takes, so that the norm of dst
// does not exceed c. It returns the factor that it used. dst may be x.
func ScaleWithin(f, c float64, dst, x []Float) Float {
	ScaleTo(Float(f), dst, x)
	for step := ulp; step <= 1 && longer(dst, c); step *= 2 {
		f *= 1 - step
		Scale(Float(1-step), dst)
	}
	return Float(f)
}

// longer reports whether the norm of x exceeds c. Close to c, where a sum in float64
// cannot decide, it adds up in twice the precision.
func longer(x []Float, c float64) bool {
	norm := math.Sqrt(SumSq(x))
	doubt := c * float64(len(x)+8) * 0x1p-52
	if !(math.Abs(norm-c) <= doubt) {
		return norm > c
	}
	sum, low := 0.0, 0.0
	add := func(v float64) {
		t := sum + v
		w := t - sum
		low += (sum - (t - w)) + (v - w)
		sum = t
	}
	square := func(v, sign float64) {
		add(sign * v * v)
		add(sign * math.FMA(v, v, -v*v))
	}
	square(c, -1)
	for _, v := range x {
		square(float64(v), 1)
	}
	return sum+low > 0
}

// ulp is the distance from 1 to the next Float.
var ulp = func() float64 {
	if third := 1.0 / 3; float64(Float(third)) == third {
		return 0x1p-52
	}
	return 0x1p-23
}()
