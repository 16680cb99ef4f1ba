package tensor

import (
	"fmt"

	"privrec/internal/tensor/kernel"
)

// sameLen panics unless the slices of op have equal lengths.
func sameLen(op string, n int, others ...int) {
	for _, o := range others {
		if o != n {
			panic(fmt.Sprintf("tensor: %s: slices of %d and %d elements", op, n, o))
		}
	}
}

// Axpy adds alpha x to y.
func Axpy(alpha Float, x, y []Float) {
	sameLen("axpy", len(x), len(y))
	kernel.Axpy(alpha, x, y)
}

// Dot returns the inner product of x and y.
func Dot(x, y []Float) Float {
	sameLen("dot", len(x), len(y))
	return kernel.Dot(x, y)
}

// Scale multiplies x by alpha.
func Scale(alpha Float, x []Float) { kernel.ScaleTo(alpha, x, x) }

// ScaleTo sets dst = alpha x; the two may be the same slice.
func ScaleTo(alpha Float, dst, x []Float) {
	sameLen("scale", len(x), len(dst))
	kernel.ScaleTo(alpha, x, dst)
}

// ScaleAdd sets y = alpha x + beta y. With beta = 0 the old y is not read.
func ScaleAdd(alpha Float, x []Float, beta Float, y []Float) {
	sameLen("scale-add", len(x), len(y))
	if beta == 0 {
		kernel.ScaleTo(alpha, x, y)
		return
	}
	kernel.ScaleAdd(alpha, x, beta, y)
}

// Add adds x to dst.
func Add(dst, x []Float) {
	sameLen("add", len(x), len(dst))
	kernel.Add(x, dst)
}

// SumTo sets dst = x + y element by element; dst may be x or y.
func SumTo(dst, x, y []Float) {
	sameLen("sum-to", len(x), len(y), len(dst))
	kernel.SumTo(x, y, dst)
}

// Shift sets dst = x - c; dst may be x.
func Shift(dst, x []Float, c Float) {
	sameLen("shift", len(x), len(dst))
	kernel.Shift(c, x, dst)
}

// NormBack sets dx = inv (dx - mean - proj x): the backward pass of the normalisation of a row to x, where inv is the
// inverse of the deviation.
func NormBack(inv, mean, proj Float, x, dx []Float) {
	sameLen("norm-back", len(x), len(dx))
	kernel.NormBack(inv, mean, proj, x, dx)
}

// Mul sets dst = x y element by element; dst may be x or y.
func Mul(dst, x, y []Float) {
	sameLen("mul", len(x), len(y), len(dst))
	kernel.Mul(x, y, dst)
}

// Gate sets dst = x where y > 0, else 0, element by element; dst may be x or y.
func Gate(dst, x, y []Float) {
	sameLen("gate", len(x), len(y), len(dst))
	kernel.Gate(x, y, dst)
}

// Positive sets dst = max(src, 0), or NaN if src is NaN; dst may be src.
func Positive(dst, src []Float) {
	sameLen("positive", len(src), len(dst))
	kernel.Positive(src, dst)
}

// Rational sets dst = r/(1+r), computed as r times 1/(1+r), where r is src if src > 0, else 0; dst may be src.
func Rational(dst, src []Float) {
	sameLen("rational", len(src), len(dst))
	kernel.Rational(src, dst)
}

// Exp sets dst = exp(src), within two units in the last place over the whole
// range, subnormal numbers included; dst may be src.
func Exp(dst, src []Float) {
	sameLen("exp", len(src), len(dst))
	kernel.ExpSum(0, src, dst)
}

// expBlock is the number of exponentials summed in Float before their sum is added in float64. So rounding stays near
// one unit whatever the length.
const expBlock = 1024

// ExpSum sets dst = exp(src - shift) and returns the sum of dst; dst may be src.
func ExpSum(dst, src []Float, shift Float) float64 {
	sameLen("exp-sum", len(src), len(dst))
	var s float64
	for len(src) > expBlock {
		s += float64(kernel.ExpSum(shift, src[:expBlock], dst[:expBlock]))
		src, dst = src[expBlock:], dst[expBlock:]
	}
	return s + float64(kernel.ExpSum(shift, src, dst))
}

// Sigmoid sets dst = 1/(1+exp(-src)); dst may be src.
func Sigmoid(dst, src []Float) {
	sameLen("sigmoid", len(src), len(dst))
	kernel.Sigmoid(src, dst)
}

// SigmoidDot returns the inner product of w and 1/(1+exp(-x-y)).
func SigmoidDot(x, y, w []Float) Float {
	sameLen("sigmoid-dot", len(x), len(y), len(w))
	return kernel.SigmoidDot(x, y, w)
}

// SigmoidBack adds the gradients of SigmoidDot's operands for its gradient g. With s = 1/(1+exp(-x-y)) it adds g s to
// dw, and g s (1-s), which lacks the factor w, to dx and dy.
func SigmoidBack(g Float, x, y, dx, dy, dw []Float) {
	sameLen("sigmoid-back", len(x), len(y), len(dx), len(dy), len(dw))
	kernel.SigmoidBack(g, x, y, dx, dy, dw)
}

// DotRows sets dst[e] to Dot of x and row rows[e] of m, to the bit, with one kernel call.
func DotRows(dst, x []Float, m Matrix, rows []int32) {
	sameLen("dot-rows", len(rows), len(dst))
	checkRows("dot-rows", m, rows, len(x))
	if m.Cols > 0 {
		kernel.DotRows(x, firstOf(m), m.Stride, rows, dst)
	} else {
		clear(dst)
	}
}

// RatioDotRows sets dst[e] to RatioDot of x, row rows[e] of m and w, to the bit.
func RatioDotRows(dst, x []Float, m Matrix, rows []int32, w []Float) {
	sameLen("ratio-dot-rows", len(rows), len(dst))
	sameLen("ratio-dot-rows", len(x), len(w))
	checkRows("ratio-dot-rows", m, rows, len(x))
	if m.Cols > 0 {
		kernel.RatioDotRows(x, firstOf(m), m.Stride, rows, w, dst)
	} else {
		clear(dst)
	}
}

// RatioBackRows calls RatioBack with g[e] and row rows[e] of m and of dm, for all e in order, to the bit.
func RatioBackRows(g, x []Float, m Matrix, rows []int32, dx []Float, dm Matrix, dw []Float) {
	sameLen("ratio-back-rows", len(rows), len(g))
	sameLen("ratio-back-rows", len(x), len(dx), len(dw))
	checkRows("ratio-back-rows", m, rows, len(x))
	checkRows("ratio-back-rows", dm, rows, len(x))
	if m.Cols > 0 {
		kernel.RatioBackRows(g, x, firstOf(m), m.Stride, dx, firstOf(dm), dm.Stride, dw, rows)
	}
}

// checkRows panics unless m has all the rows and the given width.
func checkRows(op string, m Matrix, rows []int32, width int) {
	sameLen(op, width, m.Cols)
	for _, r := range rows {
		if uint(r) >= uint(m.Rows) {
			panic(fmt.Sprintf("tensor: %s: row %d of %d x %d", op, r, m.Rows, m.Cols))
		}
	}
}

// firstOf returns the address of the first row of m; nil if it has none.
func firstOf(m Matrix) *Float {
	if len(m.Data) == 0 {
		return nil
	}
	return &m.Data[0]
}

// Tanh sets dst = tanh(src); dst may be src.
func Tanh(dst, src []Float) {
	sameLen("tanh", len(src), len(dst))
	kernel.Tanh(src, dst)
}

// GRUBack computes the gradients of a row of a GRU's gates, see kernel.GRUBack. The slices are as long as dy, or three
// times as long.
func GRUBack(swap bool, dy, h, s, gh, dgi, dgh, dh []Float) {
	sameLen("gru-back", len(dy), len(h), len(dh))
	sameLen("gru-back", 3*len(dy), len(s), len(gh), len(dgi), len(dgh))
	kernel.GRUBack(swap, dy, h, s, gh, dgi, dgh, dh)
}

// Blend sets dst = y + g (x - y) element by element; dst may be any of them.
func Blend(dst, x, y, g []Float) {
	sameLen("blend", len(x), len(y), len(g), len(dst))
	kernel.Blend(x, y, g, dst)
}

// KeepBack computes the gradients of a state that a gate keeps, see kernel.KeepBack.
func KeepBack(dy, dh, h, z, c, dz, dc, back []Float) {
	sameLen("keep-back", len(dy), len(dh), len(h), len(z), len(c), len(dz), len(dc), len(back))
	kernel.KeepBack(dy, dh, h, z, c, dz, dc, back)
}

// ResetBack computes the gradients of a state times its reset gate, see kernel.ResetBack.
func ResetBack(g, h, r, dr, back []Float) {
	sameLen("reset-back", len(g), len(h), len(r), len(dr), len(back))
	kernel.ResetBack(g, h, r, dr, back)
}

// CopyRows sets row e of dst (len(rows), m.Cols) to row rows[e] of m.
func CopyRows(dst []Float, m Matrix, rows []int32) {
	sameLen("copy-rows", len(rows)*m.Cols, len(dst))
	checkRows("copy-rows", m, rows, m.Cols)
	if m.Cols > 0 {
		kernel.CopyRows(dst, m.Cols, firstOf(m), m.Stride, rows)
	}
}

// Max returns the largest element that is not NaN, -Inf if there is none.
func Max(x []Float) Float { return kernel.Max(x) }

// Sum returns the sum of x, accumulated in float64.
func Sum(x []Float) float64 { return kernel.Sum(x) }

// SumSq returns the sum of squares of x, accumulated in float64.
func SumSq(x []Float) float64 { return kernel.SumSq(x) }

// finiteBlock is the length of the blocks in which a bad element is located.
const finiteBlock = 4096

// Finite reports whether every element of x is finite. If not, index is that of the first element that is NaN or
// infinite; otherwise it is -1.
func Finite(x []Float) (index int, ok bool) {
	for lo := 0; lo < len(x); lo += finiteBlock {
		b := x[lo:min(lo+finiteBlock, len(x))]
		if kernel.Finite(b) {
			continue
		}
		for i, v := range b {
			if v-v != 0 {
				return lo + i, false
			}
		}
	}
	return -1, true
}

// AdamCoef holds the factors of one Adam step; see NewAdamCoef.
type AdamCoef = kernel.AdamCoef

// NewAdamCoef returns the factors of Adam's step t = 1, 2, ... with learning
// rate lr and coupled weight decay l2 (added to the gradient as l2 w).
func NewAdamCoef(lr, beta1, beta2, eps, l2 float64, t int) AdamCoef {
	return kernel.NewAdamCoef(lr, beta1, beta2, eps, l2, t)
}

// AdamStep updates weights w and the moments m, v from the gradient g in one
// pass (Kingma & Ba 2015, algorithm 1). A first moment below 1e-30 in size becomes
// zero, as does a second moment below 1e-37. AdamStep does not change g.
func AdamStep(w, g, m, v []Float, c AdamCoef) {
	sameLen("adam", len(g), len(w), len(m), len(v))
	kernel.Adam(w, g, m, v, &c)
}

// AdamIdle changes weights and moments as the AdamSteps of c would with a zero gradient, to the bit. No step has weight
// decay and all have the same betas. If slack times the update of a step does not move a weight, the later updates may
// be skipped: the caller knows that they do not move it either. An infinite slack skips none.
func AdamIdle(w, m, v []Float, c []AdamCoef, slack Float) {
	sameLen("adam idle", len(w), len(m), len(v))
	if len(c) > 0 {
		kernel.AdamIdle(w, m, v, c, slack)
	}
}
