package kernel

import "unsafe"

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

// LeakyDrop sets y to LeakyReLU(y + b1 + (z + b2)), with the given slope below 0, times keep where kept has a bit, else
// to 0. It sets the bits of above where LeakyReLU's argument is above 0. y and z have rows rows of len(b1) elements.
// Bits of row i begin at word i*keptStep and i*aboveStep; whole words of above may change.
func LeakyDrop(b1, b2 []Float, rows int, y, z *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64,
	aboveStep int) {
	if len(b1) == 0 || rows == 0 {
		return
	}
	b2 = b2[:len(b1)]
	switch level {
	case AVX512:
		leakyDrop512(b1, b2, rows, y, z, slope, keep, kept, 8*keptStep, above, 8*aboveStep)
	case AVX2:
		leakyDrop256(b1, b2, rows, y, z, slope, keep, kept, 8*keptStep, above, 8*aboveStep)
	default:
		leakyDropPlain(b1, b2, rows, y, z, slope, keep, kept, keptStep, above, aboveStep)
	}
}

// LeakyBack multiplies g by keep where kept has a bit, else sets it to 0, and then multiplies by slope where above has
// no bit. g has rows rows of d elements; bits lie as in LeakyDrop.
func LeakyBack(d, rows int, g *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64, aboveStep int) {
	if d == 0 || rows == 0 {
		return
	}
	switch level {
	case AVX512:
		leakyBack512(unsafe.Slice(g, d), rows, slope, keep, kept, 8*keptStep, above, 8*aboveStep)
	case AVX2:
		leakyBack256(unsafe.Slice(g, d), rows, slope, keep, kept, 8*keptStep, above, 8*aboveStep)
	default:
		leakyBackPlain(d, rows, g, slope, keep, kept, keptStep, above, aboveStep)
	}
}

// AddScaled adds own[i] times row i of x to row i of s and sets p = x s. s, x and p have len(own) rows
// of the same length.
func AddScaled(own, s, x, p []Float) {
	if len(s) == 0 {
		return
	}
	x, p = x[:len(s)], p[:len(s)]
	switch level {
	case AVX512:
		addScaled512(s[:len(s)/len(own)], len(own), &own[0], &x[0], &p[0])
	case AVX2:
		addScaled256(s[:len(s)/len(own)], len(own), &own[0], &x[0], &p[0])
	default:
		addScaledPlain(own, s, x, p)
	}
}

// ScaledBack computes the gradients of AddScaled from b, the gradient of x s, and a, that of s. It sets a' = a + b x, g
// = b s + own[i] a' and then s = a', with own[i] for row i. Matrices are as in AddScaled.
func ScaledBack(own, s, x, a, b, g []Float) {
	if len(s) == 0 {
		return
	}
	x, a, b, g = x[:len(s)], a[:len(s)], b[:len(s)], g[:len(s)]
	switch level {
	case AVX512:
		scaledBack512(s[:len(s)/len(own)], len(own), &own[0], &x[0], &a[0], &b[0], &g[0])
	case AVX2:
		scaledBack256(s[:len(s)/len(own)], len(own), &own[0], &x[0], &a[0], &b[0], &g[0])
	default:
		scaledBackPlain(own, s, x, a, b, g)
	}
}
