//go:build amd64 && !f64

package kernel

import (
	"unsafe"
)

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
