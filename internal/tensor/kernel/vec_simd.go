//go:build amd64 && !f64

package kernel

// Axpy adds alpha x to y, which is at least as long.
func Axpy(alpha Float, x, y []Float) {
	switch level {
	case AVX512:
		axpy512(alpha, x, y[:len(x)])
		return
	case AVX2:
		axpy256(alpha, x, y[:len(x)])
		return
	}
	axpyPlain(alpha, x, y[:len(x)])
}

// ScaleAdd sets y = alpha x + beta y.
func ScaleAdd(alpha Float, x []Float, beta Float, y []Float) {
	switch level {
	case AVX512:
		scaleAdd512(alpha, x, beta, y[:len(x)])
		return
	case AVX2:
		scaleAdd256(alpha, x, beta, y[:len(x)])
		return
	}
	scaleAddPlain(alpha, x, beta, y[:len(x)])
}

// ScaleTo sets y = alpha x; x and y may be the same.
func ScaleTo(alpha Float, x, y []Float) {
	switch level {
	case AVX512:
		scaleTo512(alpha, x, y[:len(x)])
		return
	case AVX2:
		scaleTo256(alpha, x, y[:len(x)])
		return
	}
	scaleToPlain(alpha, x, y[:len(x)])
}

// Add adds x to y.
func Add(x, y []Float) {
	switch level {
	case AVX512:
		add512(x, y[:len(x)])
		return
	case AVX2:
		add256(x, y[:len(x)])
		return
	}
	addPlain(x, y[:len(x)])
}

// SumTo sets z = x + y element by element; z may be x or y.
func SumTo(x, y, z []Float) {
	switch level {
	case AVX512:
		sumTo512(x, y[:len(x)], z[:len(x)])
		return
	case AVX2:
		sumTo256(x, y[:len(x)], z[:len(x)])
		return
	}
	sumToPlain(x, y[:len(x)], z[:len(x)])
}

// Shift sets y = x - c; y may be x.
func Shift(c Float, x, y []Float) {
	switch level {
	case AVX512:
		shift512(c, x, y[:len(x)])
		return
	case AVX2:
		shift256(c, x, y[:len(x)])
		return
	}
	shiftPlain(c, x, y[:len(x)])
}

// NormBack sets y = inv (y - mean - proj x), the gradient of a normalised row.
func NormBack(inv, mean, proj Float, x, y []Float) {
	switch level {
	case AVX512:
		normBack512(inv, mean, proj, x, y[:len(x)])
		return
	case AVX2:
		normBack256(inv, mean, proj, x, y[:len(x)])
		return
	}
	normBackPlain(inv, mean, proj, x, y[:len(x)])
}

// Mul sets z = x y element by element; z may be x or y.
func Mul(x, y, z []Float) {
	switch level {
	case AVX512:
		mul512(x, y[:len(x)], z[:len(x)])
		return
	case AVX2:
		mul256(x, y[:len(x)], z[:len(x)])
		return
	}
	mulPlain(x, y[:len(x)], z[:len(x)])
}

// Gate sets z = x where y > 0, else 0; z may be x or y.
func Gate(x, y, z []Float) {
	switch level {
	case AVX512:
		gate512(x, y[:len(x)], z[:len(x)])
		return
	case AVX2:
		gate256(x, y[:len(x)], z[:len(x)])
		return
	}
	gatePlain(x, y[:len(x)], z[:len(x)])
}

// Positive sets y = max(x, 0); y may be x.
func Positive(x, y []Float) {
	switch level {
	case AVX512:
		positive512(x, y[:len(x)])
		return
	case AVX2:
		positive256(x, y[:len(x)])
		return
	}
	positivePlain(x, y[:len(x)])
}

// Rational sets y = r 1/(1+r), where r = x if x > 0, else 0; y may be x.
func Rational(x, y []Float) {
	switch level {
	case AVX512:
		rational512(x, y[:len(x)])
		return
	case AVX2:
		rational256(x, y[:len(x)])
		return
	}
	rationalPlain(x, y[:len(x)])
}

// Dot returns the inner product.
func Dot(x, y []Float) Float {
	switch level {
	case AVX512:
		return dot512(x, y[:len(x)])
	case AVX2:
		return dot256(x, y[:len(x)])
	}
	return dotPlain(x, y[:len(x)])
}

// Sum returns the sum, accumulated in float64.
func Sum(x []Float) float64 {
	switch level {
	case AVX512:
		return sum512(x)
	case AVX2:
		return sum256(x)
	}
	return sumPlain(x)
}

// SumSq returns the sum of squares, accumulated in float64.
func SumSq(x []Float) float64 {
	switch level {
	case AVX512:
		return sumSq512(x)
	case AVX2:
		return sumSq256(x)
	}
	return sumSqPlain(x)
}

// Max returns the largest element that is not NaN, -Inf if there is none.
func Max(x []Float) Float {
	switch level {
	case AVX512:
		return max512(x)
	case AVX2:
		return max256(x)
	}
	return maxPlain(x)
}

// ExpSum sets y = exp(x - shift) and returns the sum of y; y may be x.
func ExpSum(shift Float, x, y []Float) Float {
	switch level {
	case AVX512:
		return expSum512(shift, x, y[:len(x)])
	case AVX2:
		return expSum256(shift, x, y[:len(x)])
	}
	return expSumPlain(shift, x, y[:len(x)])
}

// Sigmoid sets y = 1/(1+exp(-x)); y may be x.
func Sigmoid(x, y []Float) {
	switch level {
	case AVX512:
		sigmoid512(x, y[:len(x)])
		return
	case AVX2:
		sigmoid256(x, y[:len(x)])
		return
	}
	sigmoidPlain(x, y[:len(x)])
}

// SigmoidDot returns the inner product of w and 1/(1+exp(-x-y)).
func SigmoidDot(x, y, w []Float) Float {
	switch level {
	case AVX512:
		return sigmoidDot512(x, y[:len(x)], w[:len(x)])
	case AVX2:
		return sigmoidDot256(x, y[:len(x)], w[:len(x)])
	}
	return sigmoidDotPlain(x, y[:len(x)], w[:len(x)])
}

// SigmoidBack adds g s to dw and g s (1-s) to dx and dy, where s = 1/(1+exp(-x-y)).
func SigmoidBack(g Float, x, y, dx, dy, dw []Float) {
	y, dx, dy, dw = y[:len(x)], dx[:len(x)], dy[:len(x)], dw[:len(x)]
	switch level {
	case AVX512:
		sigmoidBack512(g, x, y, dx, dy, dw)
	case AVX2:
		sigmoidBack256(g, x, y, dx, dy, dw)
	default:
		sigmoidBackPlain(g, x, y, dx, dy, dw)
	}
}

// DotRows sets out[e] to the inner product of x and row idx[e] of y, whose rows are ldy elements
// apart and at least as long as x. Each is Dot's, to the bit.
func DotRows(x []Float, y *Float, ldy int, idx []int32, out []Float) {
	if len(idx) == 0 {
		return
	}
	out = out[:len(idx)]
	switch level {
	case AVX512:
		dotRows512(x, y, ldy*size, idx, &out[0])
	case AVX2:
		dotRows256(x, y, ldy*size, idx, &out[0])
	default:
		dotRowsPlain(x, y, ldy, idx, out)
	}
}

// RatioDotRows sets out[e] to the inner product of w and 1/(1+x y), for row idx[e] of y. Rows are ldy
// elements apart and at least as long as x.
func RatioDotRows(x []Float, y *Float, ldy int, idx []int32, w, out []Float) {
	if len(idx) == 0 {
		return
	}
	w, out = w[:len(x)], out[:len(idx)]
	switch level {
	case AVX512:
		ratioDotRows512(x, y, ldy*size, idx, w, &out[0])
	case AVX2:
		ratioDotRows256(x, y, ldy*size, idx, w, &out[0])
	default:
		ratioDotRowsPlain(x, y, ldy, idx, w, out)
	}
}

// RatioBackRows adds g[e] s to dw and g[e] s (1-s) to dx and to row idx[e] of dy, for all e in order. s is 1/(1+x y) of
// row idx[e] of y. Rows are ldy and lddy elements apart.
func RatioBackRows(g, x []Float, y *Float, ldy int, dx []Float, dy *Float, lddy int, dw []Float, idx []int32) {
	if len(idx) == 0 {
		return
	}
	g, dx, dw = g[:len(idx)], dx[:len(x)], dw[:len(x)]
	switch level {
	case AVX512:
		ratioBackRows512(&g[0], x, y, ldy*size, dx, dy, lddy*size, dw, idx)
	case AVX2:
		ratioBackRows256(&g[0], x, y, ldy*size, dx, dy, lddy*size, dw, idx)
	default:
		ratioBackRowsPlain(g, x, y, ldy, dx, dy, lddy, dw, idx)
	}
}

// Tanh sets y = tanh(x); y may be x.
func Tanh(x, y []Float) {
	switch level {
	case AVX512:
		tanh512(x, y[:len(x)])
		return
	case AVX2:
		tanh256(x, y[:len(x)])
		return
	}
	tanhPlain(x, y[:len(x)])
}

// GRUBack computes the gradients of a row of d gates, d the length of dy. The forward step is y = h + z (c - h), or
// with swap y = c + z (h - c). s (3, d) holds r, z and c = tanh(i + r n), where n is the last d of gh (3, d). GRUBack
// sets dgi and dgh (3, d) to the gradients of the gates' two operands. It sets dh (d) to that of h, without the part
// that flows through the gates.
func GRUBack(swap bool, dy, h, s, gh, dgi, dgh, dh []Float) {
	d := len(dy)
	if d == 0 {
		return
	}
	h, s, gh, dgi, dgh, dh = h[:d], s[:3*d], gh[:3*d], dgi[:3*d], dgh[:3*d], dh[:d]
	switch {
	case level == AVX512 && swap:
		gruBackSwap512(dy, h, &s[0], &gh[0], &dgi[0], &dgh[0], &dh[0])
	case level == AVX512:
		gruBack512(dy, h, &s[0], &gh[0], &dgi[0], &dgh[0], &dh[0])
	case level == AVX2 && swap:
		gruBackSwap256(dy, h, &s[0], &gh[0], &dgi[0], &dgh[0], &dh[0])
	case level == AVX2:
		gruBack256(dy, h, &s[0], &gh[0], &dgi[0], &dgh[0], &dh[0])
	default:
		gruBackPlain(swap, dy, h, s, gh, dgi, dgh, dh)
	}
}

// CopyRows sets row e of dst (len(idx), w) to the first w elements of row idx[e] of x, whose rows are ldx apart.
func CopyRows(dst []Float, w int, x *Float, ldx int, idx []int32) {
	if w == 0 || len(idx) == 0 {
		return
	}
	dst = dst[:w*len(idx)]
	switch level {
	case AVX512:
		copyRows512(&dst[0], w, x, ldx*size, idx)
	case AVX2:
		copyRows256(&dst[0], w, x, ldx*size, idx)
	default:
		copyRowsPlain(dst, w, x, ldx, idx)
	}
}

// Finite reports whether x has neither NaN nor infinity.
func Finite(x []Float) bool {
	const inf = 0x7f800000 // the least pattern that is not finite
	switch level {
	case AVX512:
		return absBits512(x) < inf
	case AVX2:
		return absBits256(x) < inf
	}
	return finitePlain(x)
}

// Adam applies one fused step to weights w and moments m, v, all as long as the
// gradient g.
func Adam(w, g, m, v []Float, c *AdamCoef) {
	w, m, v = w[:len(g)], m[:len(g)], v[:len(g)]
	switch level {
	case AVX512:
		adam512(w, g, m, v, &c.Beta1)
	case AVX2:
		adam256(w, g, m, v, &c.Beta1)
	default:
		adamPlain(w, g, m, v, c)
	}
}

// AdamIdle applies the steps of c, one or more, with a zero gradient and without weight decay. Their betas are equal.
// If slack times the update of a step does not move a weight, it may skip this update and all later ones; the caller
// knows that they do not move it either.
func AdamIdle(w, m, v []Float, c []AdamCoef, slack Float) {
	m, v = m[:len(w)], v[:len(w)]
	switch level {
	case AVX512:
		adamIdle512(w, m, v, &c[0].Beta1, len(c), slack)
	case AVX2:
		adamIdle256(w, m, v, &c[0].Beta1, len(c), slack)
	default:
		adamIdlePlain(w, m, v, c, slack)
	}
}
