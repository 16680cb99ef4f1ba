//go:build !amd64 || f64

package kernel

// This build has no assembly: level is always Off and these are never reached.

func stripSIMD(_, _ int, _ *Float, _, _ int, _, _ *Float, _, _ int, _ Float, _ bool) { unreachable() }
func packBSIMD(_ bool, _, _ int, _ *Float, _ int, _ *Float)                          { unreachable() }
func packASIMD(_ bool, _, _, _ int, _ *Float, _ int, _ *Float, _ int)                { unreachable() }

func unreachable() { panic("kernel: assembly called in a build without it") }

// Axpy adds alpha x to y, which is at least as long.
func Axpy(alpha Float, x, y []Float) {
	axpyPlain(alpha, x, y[:len(x)])
}

// ScaleAdd sets y = alpha x + beta y.
func ScaleAdd(alpha Float, x []Float, beta Float, y []Float) {
	scaleAddPlain(alpha, x, beta, y[:len(x)])
}

// ScaleTo sets y = alpha x; x and y may be the same.
func ScaleTo(alpha Float, x, y []Float) {
	scaleToPlain(alpha, x, y[:len(x)])
}

// Add adds x to y.
func Add(x, y []Float) {
	addPlain(x, y[:len(x)])
}

// SumTo sets z = x + y element by element; z may be x or y.
func SumTo(x, y, z []Float) { sumToPlain(x, y[:len(x)], z[:len(x)]) }

// Shift sets y = x - c; y may be x.
func Shift(c Float, x, y []Float) { shiftPlain(c, x, y[:len(x)]) }

// NormBack sets y = inv (y - mean - proj x), the gradient of a normalised row.
func NormBack(inv, mean, proj Float, x, y []Float) { normBackPlain(inv, mean, proj, x, y[:len(x)]) }

// Mul sets z = x y element by element; z may be x or y.
func Mul(x, y, z []Float) {
	mulPlain(x, y[:len(x)], z[:len(x)])
}

// Gate sets z = x where y > 0, else 0; z may be x or y.
func Gate(x, y, z []Float) { gatePlain(x, y[:len(x)], z[:len(x)]) }

// Positive sets y = max(x, 0); y may be x.
func Positive(x, y []Float) { positivePlain(x, y[:len(x)]) }

// Rational sets y = r 1/(1+r), where r = x if x > 0, else 0; y may be x.
func Rational(x, y []Float) { rationalPlain(x, y[:len(x)]) }

// Dot returns the inner product.
func Dot(x, y []Float) Float {
	return dotPlain(x, y[:len(x)])
}

// Sum returns the sum, accumulated in float64.
func Sum(x []Float) float64 {
	return sumPlain(x)
}

// SumSq returns the sum of squares, accumulated in float64.
func SumSq(x []Float) float64 {
	return sumSqPlain(x)
}

// Max returns the largest element that is not NaN, -Inf if there is none.
func Max(x []Float) Float {
	return maxPlain(x)
}

// ExpSum sets y = exp(x - shift) and returns the sum of y; y may be x.
func ExpSum(shift Float, x, y []Float) Float {
	return expSumPlain(shift, x, y[:len(x)])
}

// Sigmoid sets y = 1/(1+exp(-x)); y may be x.
func Sigmoid(x, y []Float) {
	sigmoidPlain(x, y[:len(x)])
}

// SigmoidDot returns the inner product of w and 1/(1+exp(-x-y)).
func SigmoidDot(x, y, w []Float) Float {
	return sigmoidDotPlain(x, y[:len(x)], w[:len(x)])
}

// SigmoidBack adds g s to dw and g s (1-s) to dx and dy, where s = 1/(1+exp(-x-y)).
func SigmoidBack(g Float, x, y, dx, dy, dw []Float) {
	sigmoidBackPlain(g, x, y[:len(x)], dx[:len(x)], dy[:len(x)], dw[:len(x)])
}

// DotRows sets out[e] to the inner product of x and row idx[e] of y, whose rows are ldy elements
// apart and at least as long as x. Each is Dot's, to the bit.
func DotRows(x []Float, y *Float, ldy int, idx []int32, out []Float) {
	dotRowsPlain(x, y, ldy, idx, out)
}

// RatioDotRows sets out[e] to the inner product of w and 1/(1+x y), for row idx[e] of y. Rows are ldy
// elements apart and at least as long as x.
func RatioDotRows(x []Float, y *Float, ldy int, idx []int32, w, out []Float) {
	ratioDotRowsPlain(x, y, ldy, idx, w, out)
}

// RatioBackRows adds g[e] s to dw and g[e] s (1-s) to dx and to row idx[e] of dy, for all e in order. s is 1/(1+x y) of
// row idx[e] of y. Rows are ldy and lddy elements apart.
func RatioBackRows(g, x []Float, y *Float, ldy int, dx []Float, dy *Float, lddy int, dw []Float, idx []int32) {
	ratioBackRowsPlain(g, x, y, ldy, dx, dy, lddy, dw, idx)
}

// Tanh sets y = tanh(x); y may be x.
func Tanh(x, y []Float) {
	tanhPlain(x, y[:len(x)])
}

// GRUBack computes the gradients of a row of d gates, d the length of dy. The forward step is y = h + z (c - h), or
// with swap y = c + z (h - c). s (3, d) holds r, z and c = tanh(i + r n), where n is the last d of gh (3, d). GRUBack
// sets dgi and dgh (3, d) to the gradients of the gates' two operands. It sets dh (d) to that of h, without the part
// that flows through the gates.
func GRUBack(swap bool, dy, h, s, gh, dgi, dgh, dh []Float) {
	gruBackPlain(swap, dy, h, s, gh, dgi, dgh, dh)
}

// CopyRows sets row e of dst (len(idx), w) to the first w elements of row idx[e] of x, whose rows are ldx apart.
func CopyRows(dst []Float, w int, x *Float, ldx int, idx []int32) {
	copyRowsPlain(dst, w, x, ldx, idx)
}

// Finite reports whether x has neither NaN nor infinity.
func Finite(x []Float) bool { return finitePlain(x) }

// Adam applies one fused step to weights w and moments m, v, all as long as the
// gradient g.
func Adam(w, g, m, v []Float, c *AdamCoef) {
	adamPlain(w[:len(g)], g, m[:len(g)], v[:len(g)], c)
}

// AdamIdle applies the steps of c, one or more, with a zero gradient and without weight decay. Their betas are equal.
// If slack times the update of a step does not move a weight, it may skip this update and all later ones; the caller
// knows that they do not move it either.
func AdamIdle(w, m, v []Float, c []AdamCoef, slack Float) {
	adamIdlePlain(w, m[:len(w)], v[:len(w)], c, slack)
}

// Blend sets z = y + g (x - y) element by element; z may be any of them.
func Blend(x, y, g, z []Float) {
	blendPlain(x, y[:len(x)], g[:len(x)], z[:len(x)])
}

// KeepBack computes the gradients of y = c + z (h - c), where z is a sigmoid and c a tanh. The gradient of y is the sum
// of dy and dh. It sets dz and dc to the gradients of the arguments of the sigmoid and the tanh, and back to that of h.
func KeepBack(dy, dh, h, z, c, dz, dc, back []Float) {
	n := len(dy)
	keepBackPlain(dy, dh[:n], h[:n], z[:n], c[:n], dz[:n], dc[:n], back[:n])
}

// ResetBack computes the gradients of r h, where r is a sigmoid, from the gradient g. It sets dr to the gradient of the
// sigmoid's argument, and adds that of h to back.
func ResetBack(g, h, r, dr, back []Float) {
	n := len(g)
	resetBackPlain(g, h[:n], r[:n], dr[:n], back[:n])
}

// LeakyDrop sets y to LeakyReLU(y + b1 + (z + b2)), with the given slope below 0, times keep where kept has a bit, else
// to 0. It sets the bits of above where LeakyReLU's argument is above 0. y and z have rows rows of len(b1) elements.
// Bits of row i begin at word i*keptStep and i*aboveStep; whole words of above may change.
func LeakyDrop(b1, b2 []Float, rows int, y, z *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64,
	aboveStep int) {
	leakyDropPlain(b1, b2, rows, y, z, slope, keep, kept, keptStep, above, aboveStep)
}

// LeakyBack multiplies g by keep where kept has a bit, else sets it to 0, and then multiplies by slope where above has
// no bit. g has rows rows of d elements; bits lie as in LeakyDrop.
func LeakyBack(d, rows int, g *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64, aboveStep int) {
	leakyBackPlain(d, rows, g, slope, keep, kept, keptStep, above, aboveStep)
}

// AddScaled adds own[i] times row i of x to row i of s and sets p = x s. s, x and p have len(own) rows of the same
// length.
func AddScaled(own, s, x, p []Float) {
	addScaledPlain(own, s, x, p)
}

// ScaledBack computes the gradients of AddScaled from b, the gradient of x s, and a, that of s. It sets a' = a + b x, g
// = b s + own[i] a' and then s = a', with own[i] for row i. Matrices are as in AddScaled.
func ScaledBack(own, s, x, a, b, g []Float) {
	scaledBackPlain(own, s, x, a, b, g)
}

// GatherRows sets row r of y, r < len(left), to left[r] times the sum over e in ptr[r]..ptr[r+1] of right[idx[e]] times
// row idx[e] of x, the first cols elements of each. Rows of x are ldx elements apart, those of y ldy. Entries are added
// in order and scaled last. If to is not nil, the sum of row r goes to row to[r] of y instead.
func GatherRows(ptr []int64, idx []int32, left []Float, right, x *Float, ldx int, y *Float, ldy, cols int, to []int32) {
	gatherRowsPlain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
}

// SpMMRows sets row r of y, r < len(ptr)-1, to the sum over e in ptr[r]..ptr[r+1] of val[e] times row idx[e] of x, the
// first cols elements of each. Rows of x are ldx elements apart, those of y ldy. Entries are added in order. With add,
// the sum of a row starts from the row's old content.
func SpMMRows(ptr []int64, idx []int32, val []Float, x *Float, ldx int, y *Float, ldy, cols int, add bool) {
	if len(ptr) > 1 && cols > 0 {
		spmmRowsPlain(ptr, idx, val, x, ldx, y, ldy, cols, add)
	}
}

// FetchRows prefetches rows of x, the first cols elements of each, if the processor can. Here it does nothing.
func FetchRows(rows []int32, x *Float, ldx, cols int) {}

// RoundRows sets the first cols columns of n rows of y to the nearest bfloat16 values of x.
// Rows of x are ldx elements apart, those of y ldy words.
func RoundRows(n int, x *Float, ldx, cols int, y *uint16, ldy int) {
	roundRowsPlain(n, x, ldx, cols, y, ldy)
}

// GatherBfloat16 computes GatherRows with rows of bfloat16 values in x, ldx words apart.
func GatherBfloat16(ptr []int64, idx []int32, left []Float, right *Float, x *uint16, ldx int, y *Float, ldy, cols int,
	to []int32) {
	gatherBfloat16Plain(ptr, idx, left, right, x, ldx, y, ldy, cols, to)
}

// best returns Off, the only level here: the assembly is for float32 on amd64.
func best() Level { return Off }
