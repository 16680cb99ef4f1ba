//go:build !amd64 || f64

package kernel

// LeakyDrop sets y to LeakyReLU(y + b1 + (z + b2)), whose slope below 0 is slope, times keep where kept
// has a bit, else to 0, and sets the bits of above where LeakyReLU's argument is above 0. y and z have
// rows rows of len(b1) elements. Bits of row i begin at word i*keptStep and i*aboveStep; whole words of
// above may change.
func LeakyDrop(b1, b2 []Float, rows int, y, z *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64, aboveStep int) {
	leakyDropPlain(b1, b2, rows, y, z, slope, keep, kept, keptStep, above, aboveStep)
}

// LeakyBack multiplies g by keep where kept has a bit, else makes it 0, and then by slope where above has
// none. g has rows rows of d elements; bits lie as LeakyDrop's.
func LeakyBack(d, rows int, g *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64, aboveStep int) {
	leakyBackPlain(d, rows, g, slope, keep, kept, keptStep, above, aboveStep)
}

// AddScaled adds own[i] times row i of x to row i of s and sets p = x s. s, x and p have len(own) rows
// of the same length.
func AddScaled(own, s, x, p []Float) {
	addScaledPlain(own, s, x, p)
}

// ScaledBack takes b as a gradient of x s and a as one of s, sets a' = a + b x, g = b s + own[i] a' and
// then s = a', with own[i] for row i. Matrices are as AddScaled's.
func ScaledBack(own, s, x, a, b, g []Float) {
	scaledBackPlain(own, s, x, a, b, g)
}
