package kernel

// Axpy adds alpha x to y, which is at least as long.
func Axpy(alpha Float, x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		axpy512(alpha, x, y)
	case AVX2:
		axpy256(alpha, x, y)
	default:
		axpyPlain(alpha, x, y)
	}
}

// ScaleAdd sets y = alpha x + beta y.
func ScaleAdd(alpha Float, x []Float, beta Float, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		scaleAdd512(alpha, x, beta, y)
	case AVX2:
		scaleAdd256(alpha, x, beta, y)
	default:
		scaleAddPlain(alpha, x, beta, y)
	}
}

// ScaleTo sets y = alpha x; x and y may be the same.
func ScaleTo(alpha Float, x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		scaleTo512(alpha, x, y)
	case AVX2:
		scaleTo256(alpha, x, y)
	default:
		scaleToPlain(alpha, x, y)
	}
}

// Add adds x to y.
func Add(x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		add512(x, y)
	case AVX2:
		add256(x, y)
	default:
		addPlain(x, y)
	}
}

// SumTo sets z = x + y element by element; z may be x or y.
func SumTo(x, y, z []Float) {
	y, z = y[:len(x)], z[:len(x)]
	switch level {
	case AVX512:
		sumTo512(x, y, z)
	case AVX2:
		sumTo256(x, y, z)
	default:
		sumToPlain(x, y, z)
	}
}

// Shift sets y = x - c; y may be x.
func Shift(c Float, x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		shift512(c, x, y)
	case AVX2:
		shift256(c, x, y)
	default:
		shiftPlain(c, x, y)
	}
}

// NormBack sets y = inv (y - mean - proj x), the gradient of a normalised row.
func NormBack(inv, mean, proj Float, x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		normBack512(inv, mean, proj, x, y)
	case AVX2:
		normBack256(inv, mean, proj, x, y)
	default:
		normBackPlain(inv, mean, proj, x, y)
	}
}

// Mul sets z = x y element by element; z may be x or y.
func Mul(x, y, z []Float) {
	y, z = y[:len(x)], z[:len(x)]
	switch level {
	case AVX512:
		mul512(x, y, z)
	case AVX2:
		mul256(x, y, z)
	default:
		mulPlain(x, y, z)
	}
}

// Gate sets z = x where y > 0, else 0; z may be x or y.
func Gate(x, y, z []Float) {
	y, z = y[:len(x)], z[:len(x)]
	switch level {
	case AVX512:
		gate512(x, y, z)
	case AVX2:
		gate256(x, y, z)
	default:
		gatePlain(x, y, z)
	}
}

// Positive sets y = max(x, 0); y may be x.
func Positive(x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		positive512(x, y)
	case AVX2:
		positive256(x, y)
	default:
		positivePlain(x, y)
	}
}

// Rational sets y = r 1/(1+r), where r = x if x > 0, else 0; y may be x.
func Rational(x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		rational512(x, y)
	case AVX2:
		rational256(x, y)
	default:
		rationalPlain(x, y)
	}
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
	y = y[:len(x)]
	switch level {
	case AVX512:
		sigmoid512(x, y)
	case AVX2:
		sigmoid256(x, y)
	default:
		sigmoidPlain(x, y)
	}
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

// Tanh sets y = tanh(x); y may be x.
func Tanh(x, y []Float) {
	y = y[:len(x)]
	switch level {
	case AVX512:
		tanh512(x, y)
	case AVX2:
		tanh256(x, y)
	default:
		tanhPlain(x, y)
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

// Blend sets z = y + g (x - y) element by element; z may be any of them.
func Blend(x, y, g, z []Float) {
	y, g, z = y[:len(x)], g[:len(x)], z[:len(x)]
	switch level {
	case AVX512:
		blend512(x, y, g, z)
	case AVX2:
		blend256(x, y, g, z)
	default:
		blendPlain(x, y, g, z)
	}
}

// KeepBack computes the gradients of y = c + z (h - c), where z is a sigmoid and c a tanh. The gradient of y is the sum
// of dy and dh. It sets dz and dc to the gradients of the arguments of the sigmoid and the tanh, and back to that of h.
func KeepBack(dy, dh, h, z, c, dz, dc, back []Float) {
	n := len(dy)
	if n == 0 {
		return
	}
	dh, h, z, c, dz, dc, back = dh[:n], h[:n], z[:n], c[:n], dz[:n], dc[:n], back[:n]
	switch level {
	case AVX512:
		keepBack512(dy, &dh[0], &h[0], &z[0], &c[0], &dz[0], &dc[0], &back[0])
	case AVX2:
		keepBack256(dy, &dh[0], &h[0], &z[0], &c[0], &dz[0], &dc[0], &back[0])
	default:
		keepBackPlain(dy, dh, h, z, c, dz, dc, back)
	}
}

// ResetBack computes the gradients of r h, where r is a sigmoid, from the gradient g. It sets dr to the gradient of the
// sigmoid's argument, and adds that of h to back.
func ResetBack(g, h, r, dr, back []Float) {
	h, r, dr, back = h[:len(g)], r[:len(g)], dr[:len(g)], back[:len(g)]
	switch level {
	case AVX512:
		resetBack512(g, h, r, dr, back)
	case AVX2:
		resetBack256(g, h, r, dr, back)
	default:
		resetBackPlain(g, h, r, dr, back)
	}
}
