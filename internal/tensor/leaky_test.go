package tensor

import (
	"math/rand/v2"
	"testing"
)

// Rows of a layer refuse shapes that do not fit, and gaps between rows; without values they do nothing.
func TestLayerShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	m, gap, other := randomMatrix(r, 4, 70, 70), randomMatrix(r, 4, 70, 71), randomMatrix(r, 4, 69, 69)
	row, bits := make([]Float, 70), Bits{2, make([]uint64, 8)}
	for name, f := range map[string]func(){
		"gap":           func() { LeakyDrop(m, gap, row, row, 0.2, 1, bits, bits) },
		"width":         func() { LeakyDrop(m, other, row, row, 0.2, 1, bits, bits) },
		"bias":          func() { LeakyDrop(m, m, row, row[:69], 0.2, 1, bits, bits) },
		"few bits":      func() { LeakyBack(m, 0.2, 1, bits, bits.Row(1)) },
		"narrow bits":   func() { LeakyBack(m, 0.2, 1, Bits{1, bits.Words}, bits) },
		"few factors":   func() { AddScaled(row[:3], m, m, m) },
		"other product": func() { AddScaled(row[:4], m, m, other) },
		"gap back":      func() { ScaledBack(row[:4], m, m, m, m, gap) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
	none := New(0, 70)
	LeakyDrop(none, none, row, row, 0.2, 1, Bits{}, Bits{})
	LeakyBack(none, 0.2, 1, Bits{}, Bits{})
	AddScaled(nil, none, none, none)
	ScaledBack(nil, none, none, none, none, none)
}
