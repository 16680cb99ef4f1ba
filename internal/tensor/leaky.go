package tensor

import (
	"fmt"

	"privrec/internal/tensor/kernel"
)

// Bits holds one bit for every value of a matrix: value k of row i has bit k%64 of word i*Stride + k/64. With Stride 0
// all rows share theirs.
type Bits struct {
	Stride int
	Words  []uint64
}

// Row returns the words of the bits from row i on.
func (b Bits) Row(i int) Bits { return Bits{b.Stride, b.Words[i*b.Stride:]} }

// first returns the address of the bits of a matrix, and panics if there are too few.
func (b Bits) first(op string, rows, cols int) *uint64 {
	need := (cols + 63) / 64
	if b.Stride != 0 && b.Stride < need || len(b.Words) < (rows-1)*b.Stride+need {
		panic(fmt.Sprintf("tensor: %s: bits of %d words, stride %d, for %d x %d", op, len(b.Words), b.Stride, rows,
			cols))
	}
	return &b.Words[0]
}

// gapless panics unless the matrices have the shape of the first and no gaps between rows. It reports whether they have
// any values.
func gapless(op string, m ...Matrix) bool {
	for _, x := range m {
		check(op, x)
		if x.Rows != m[0].Rows || x.Cols != m[0].Cols || x.Stride != max(1, x.Cols) {
			panic(fmt.Sprintf("tensor: %s: %d x %d, stride %d, with %d x %d", op, x.Rows, x.Cols, x.Stride, m[0].Rows,
				m[0].Cols))
		}
	}
	return m[0].Rows > 0 && m[0].Cols > 0
}

// LeakyDrop sets y to LeakyReLU(y + b1 + (z + b2)), with the given slope below 0, times keep where kept has a bit, else
// to 0. It sets the bits of above where LeakyReLU's argument is above 0. y and z have no gaps between rows, b1 and b2
// are a row each.
func LeakyDrop(y, z Matrix, b1, b2 []Float, slope, keep Float, kept, above Bits) {
	sameLen("leaky-drop", y.Cols, len(b1), len(b2))
	if gapless("leaky-drop", y, z) {
		kernel.LeakyDrop(b1, b2, y.Rows, &y.Data[0], &z.Data[0], slope, keep,
			kept.first("leaky-drop", y.Rows, y.Cols), kept.Stride, above.first("leaky-drop", y.Rows, y.Cols),
			above.Stride)
	}
}

// LeakyBack turns g, the gradient of LeakyDrop's result, into that of LeakyReLU's argument.
func LeakyBack(g Matrix, slope, keep Float, kept, above Bits) {
	if gapless("leaky-back", g) {
		kernel.LeakyBack(g.Cols, g.Rows, &g.Data[0], slope, keep,
			kept.first("leaky-back", g.Rows, g.Cols), kept.Stride, above.first("leaky-back", g.Rows, g.Cols),
			above.Stride)
	}
}

// AddScaled adds own[i] times row i of x to row i of s, and sets p = x s element by element. Rows have no
// gaps between them.
func AddScaled(own []Float, s, x, p Matrix) {
	sameLen("add-scaled", len(own), s.Rows)
	if gapless("add-scaled", s, x, p) {
		n := s.Rows * s.Cols
		kernel.AddScaled(own, s.Data[:n], x.Data[:n], p.Data[:n])
	}
}

// ScaledBack computes the gradients of AddScaled from a, the gradient of its s, and b, that of its p. It sets a' = a +
// b x, g = b s + own[i] a', with own[i] for row i, and then s = a'. g and the new s are the gradients of x and of s,
// without what flowed into s before.
func ScaledBack(own []Float, s, x, a, b, g Matrix) {
	sameLen("scaled-back", len(own), s.Rows)
	if gapless("scaled-back", s, x, a, b, g) {
		n := s.Rows * s.Cols
		kernel.ScaledBack(own, s.Data[:n], x.Data[:n], a.Data[:n], b.Data[:n], g.Data[:n])
	}
}
