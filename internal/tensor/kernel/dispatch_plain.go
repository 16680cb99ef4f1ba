package kernel

import "unsafe"

func sliceAt(p *Float, off, n int) []Float { return unsafe.Slice(at(p, off), n) }

// Tile returns the largest strip height and the panel width of the level in use.
func Tile() (mr, nr int) { return plainMR, plainNR }

// Strip computes C (+)= alpha A B for one strip of up to mr rows (see Tile): A
// element (i, l) lies at a[i*ars+l*acs], B is k x n packed by PackB, C has rows
// ldc apart. acc selects += over =; with = the old C is not read. k >= 1.
func Strip(mr, k int, a *Float, ars, acs int, b, c *Float, ldc, n int, alpha Float, acc bool) {
	stripPlain(mr, k, a, ars, acs, b, c, ldc, n, alpha, acc)
}

// PackB copies a k x n block into panels of nr columns, each panel k rows of nr,
// the last one padded with zeros. With trans, src holds the block transposed.
// dst takes k * roundup(n, nr) elements.
func PackB(trans bool, k, n int, src *Float, lds int, dst *Float) {
	for j := 0; j < n; j += plainNR {
		off := j
		if trans {
			off = j * lds
		}
		packPlain(trans, k, min(plainNR, n-j), at(src, off), lds, at(dst, j*k), plainNR)
	}
}

// Axpy adds alpha x to y.
func Axpy(alpha Float, x, y []Float) { axpyPlain(alpha, x, y[:len(x)]) }

// ScaleAdd sets y = alpha x + beta y.
func ScaleAdd(alpha Float, x []Float, beta Float, y []Float) {
	scaleAddPlain(alpha, x, beta, y[:len(x)])
}

// ScaleTo sets y = alpha x; x and y may be the same.
func ScaleTo(alpha Float, x, y []Float) { scaleToPlain(alpha, x, y[:len(x)]) }

// Add adds x to y.
func Add(x, y []Float) { addPlain(x, y[:len(x)]) }

// Mul sets z = x y element by element.
func Mul(x, y, z []Float) { mulPlain(x, y[:len(x)], z[:len(x)]) }

// Dot returns the inner product.
func Dot(x, y []Float) Float { return dotPlain(x, y[:len(x)]) }

// Sum returns the sum, accumulated in float64.
func Sum(x []Float) float64 { return sumPlain(x) }

// SumSq returns the sum of squares, accumulated in float64.
func SumSq(x []Float) float64 { return sumSqPlain(x) }

// Max returns the largest element that is not NaN, -Inf if there is none.
func Max(x []Float) Float { return maxPlain(x) }

// ExpSum sets y = exp(x - shift) and returns the sum of y.
func ExpSum(shift Float, x, y []Float) Float { return expSumPlain(shift, x, y[:len(x)]) }

// Sigmoid sets y = 1/(1+exp(-x)).
func Sigmoid(x, y []Float) { sigmoidPlain(x, y[:len(x)]) }

// Tanh sets y = tanh(x).
func Tanh(x, y []Float) { tanhPlain(x, y[:len(x)]) }

// Finite reports whether x has neither NaN nor infinity.
func Finite(x []Float) bool { return finitePlain(x) }

// Adam does one fused step over four equally long slices.
func Adam(w, g, m, v []Float, c *AdamCoef) { adamPlain(w[:len(g)], g, m[:len(g)], v[:len(g)], c) }

// SpMMRow sets y = sum over e of val[e] times row idx[e] of x, whose rows are ldx apart.
func SpMMRow(idx []int32, val []Float, x *Float, ldx int, y []Float) {
	spmmRowPlain(idx, val, x, ldx, y)
}
