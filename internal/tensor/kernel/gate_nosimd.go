//go:build !amd64 || f64

package kernel

// Blend sets z = y + g (x - y) element by element; z may be any of them.
func Blend(x, y, g, z []Float) {
	blendPlain(x, y[:len(x)], g[:len(x)], z[:len(x)])
}

// KeepBack is the way back through y = c + z (h - c), where z is a sigmoid and c a tanh, for a gradient of y that is
// the sum of dy and dh. It sets dz and dc to the gradients of what the sigmoid and the tanh are of, and back to that
// of h.
func KeepBack(dy, dh, h, z, c, dz, dc, back []Float) {
	n := len(dy)
	keepBackPlain(dy, dh[:n], h[:n], z[:n], c[:n], dz[:n], dc[:n], back[:n])
}

// ResetBack is the way back through r h, where r is a sigmoid, for the gradient g. It sets dr to the gradient of what
// the sigmoid is of, and adds that of h to back.
func ResetBack(g, h, r, dr, back []Float) {
	n := len(g)
	resetBackPlain(g, h[:n], r[:n], dr[:n], back[:n])
}
