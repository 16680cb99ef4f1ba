package tensor

import (
	"math/rand/v2"
	"testing"
)

// TestPlanCovers demands that the cut of any product covers it once, in order.
func TestPlanCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	size := func() int { return 1 + r.IntN(1<<r.IntN(17)) }
	for range 20000 {
		m, n, k := size(), size(), size()
		for _, nr := range []int{4, 16, 32} {
			g := plan(m, n, k, nr)
			if Alone(m, n, k) && g != (grid{1, 1, 1}) {
				t.Fatalf("%d x %d x %d is cut into %+v", m, n, k, g)
			}
			if g.rows < 1 || g.cols < 1 || g.parts < 1 || g.rows > m || g.parts > maxParts {
				t.Fatalf("%d x %d x %d: %+v", m, n, k, g)
			}
			if g.parts > 1 && m*n > maxSplitC {
				t.Fatalf("%d x %d x %d: %d parts of C each", m, n, k, g.parts)
			}
			width := blockN + nr
			if 2*m*n*k < unitFlops { // small: one unit whatever its form
				width = n
			}
			for _, d := range []struct{ parts, size, quantum, most int }{
				{g.rows, m, 1, m}, {g.cols, n, nr, width}, {g.parts, k, quantumK, k},
			} {
				at := 0
				for i := range d.parts {
					lo, hi := cut(i, d.parts, d.size, d.quantum)
					if lo != at || hi < lo || hi-lo > d.most || lo%d.quantum != 0 && lo != d.size {
						t.Fatalf("%d x %d x %d, %+v: part %d of %d is %d..%d after %d", m, n, k, g, i, d.parts, lo, hi, at)
					}
					at = hi
				}
				if at != d.size {
					t.Fatalf("%d x %d x %d, %+v: parts end at %d of %d", m, n, k, g, at, d.size)
				}
			}
		}
	}
}

// TestPlanLarge demands enough units for many workers where the work allows it.
func TestPlanLarge(t *testing.T) {
	for _, s := range [][3]int{{3200, 100, 150}, {100, 150, 3200}, {100, 2810, 100}, {100, 100, 2810}, {2810, 100, 100},
		{100, 98226, 100}, {1000, 1000, 1000}, {300, 300, 100}, {256, 384, 128}} {
		g := plan(s[0], s[1], s[2], 32)
		if units := g.rows * g.cols * g.parts; units < 4 || units < 64 && units%2 != 0 {
			t.Errorf("%v: %d units, %+v", s, units, g)
		}
	}
}
