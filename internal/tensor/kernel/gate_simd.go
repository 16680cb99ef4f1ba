//go:build amd64 && !f64

package kernel

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

// KeepBack is the way back through y = c + z (h - c), where z is a sigmoid and c a tanh, for a gradient of y that is
// the sum of dy and dh. It sets dz and dc to the gradients of what the sigmoid and the tanh are of, and back to that
// of h.
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

// ResetBack is the way back through r h, where r is a sigmoid, for the gradient g. It sets dr to the gradient of what
// the sigmoid is of, and adds that of h to back.
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
