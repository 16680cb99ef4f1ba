package tensor

import (
	"fmt"
	"math"
	"unsafe"
)

// New returns a zeroed rows x cols matrix with Stride = cols.
func New(rows, cols int) Matrix {
	if rows < 0 || cols < 0 {
		panic(fmt.Sprintf("tensor: new matrix of %d x %d", rows, cols))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]Float, rows*cols)}
}

// From returns a rows x cols matrix over data, which it does not copy.
func From(rows, cols int, data []Float) Matrix {
	if rows < 0 || cols < 0 || len(data) < rows*cols {
		panic(fmt.Sprintf("tensor: %d x %d matrix over %d elements", rows, cols, len(data)))
	}
	return Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: data[:rows*cols]}
}

// Row returns row i of m as a slice of Cols elements that shares m's data.
func Row(m Matrix, i int) []Float {
	if uint(i) >= uint(m.Rows) {
		panic(fmt.Sprintf("tensor: row %d of %d x %d", i, m.Rows, m.Cols))
	}
	if m.Cols == 0 {
		return nil
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols : i*m.Stride+m.Cols]
}

// RowsView returns rows lo..hi of m as a view.
func RowsView(m Matrix, lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Rows {
		panic(fmt.Sprintf("tensor: rows %d..%d of %d x %d", lo, hi, m.Rows, m.Cols))
	}
	return view(m, lo, hi, 0, m.Cols)
}

// ColsView returns columns lo..hi of m as a view with m's stride.
func ColsView(m Matrix, lo, hi int) Matrix {
	if lo < 0 || hi < lo || hi > m.Cols {
		panic(fmt.Sprintf("tensor: columns %d..%d of %d x %d", lo, hi, m.Rows, m.Cols))
	}
	return view(m, 0, m.Rows, lo, hi)
}

func view(m Matrix, i0, i1, j0, j1 int) Matrix {
	v := Matrix{Rows: i1 - i0, Cols: j1 - j0, Stride: m.Stride}
	if v.Rows > 0 && v.Cols > 0 {
		v.Data = m.Data[i0*m.Stride+j0 : (i1-1)*m.Stride+j1]
	}
	return v
}

// check panics unless m is a well-formed matrix. what names it in the message.
func check(what string, m Matrix) {
	if m.Rows < 0 || m.Cols < 0 || m.Stride < max(m.Cols, 1) ||
		m.Rows > 0 && m.Cols > 0 && len(m.Data) < (m.Rows-1)*m.Stride+m.Cols {
		panic(fmt.Sprintf("tensor: %s: malformed matrix: %d x %d, stride %d, %d elements",
			what, m.Rows, m.Cols, m.Stride, len(m.Data)))
	}
}

// ptr returns the address off elements after p.
func ptr(p *Float, off int) *Float {
	return (*Float)(unsafe.Add(unsafe.Pointer(p), off*int(unsafe.Sizeof(*p))))
}

// slice returns the n elements that start off elements after p.
func slice(p *Float, off, n int) []Float { return unsafe.Slice(ptr(p, off), n) }

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

// rescaleRows sets each row of dst to the row of src scaled by a function of its norm.
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

// ScaleWithin sets dst = f x and returns the factor that it used. f would make the norm of dst at most c without
// rounding; ScaleWithin lowers f until the rounded norm does not exceed c. dst may be x.
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
