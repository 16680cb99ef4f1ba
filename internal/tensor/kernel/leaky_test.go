package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// maskOf returns random bits for rows of d, step words apart.
func maskOf(r *rand.Rand, rows, step int) []uint64 {
	w := make([]uint64, rows*step+1)
	for i := range w {
		w[i] = r.Uint64()
	}
	return w
}

// sameBitsOf demands the same bits, NaN apart.
func sameBitsOf(t *testing.T, what string, d int, got, want []Float) {
	t.Helper()
	for i, v := range got {
		if bits(v) != bits(want[i]) && !(v != v && want[i] != want[i]) {
			t.Fatalf("%s, width %d, element %d: %v, want %v", what, d, i, v, want[i])
		}
	}
}

// Kernels over the rows of a layer give the bits of plain Go, odd values and rows that share their bits
// included, and write nothing beside them.
func TestLeaky(t *testing.T) {
	odd := []Float{0, Float(math.Copysign(0, -1)), Float(math.NaN()), Float(math.Inf(1)), Float(math.Inf(-1)), 1e-44, -1e-44}
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(8, 8))
		for d := 1; d < 150; d++ {
			const rows = 5
			words := (d + 63) / 64
			y, yw := fenced(r, rows*d)
			z, _ := fenced(r, rows*d)
			b1, _ := fenced(r, d)
			b2, _ := fenced(r, d)
			for k, v := range odd {
				at := r.IntN(rows * d)
				y[at], z[at], b1[at%d], b2[at%d] = v, 0, 0, 0
				y[(at+k)%len(y)] = v
			}
			for _, step := range []int{words, words + 2, 0} {
				kept, above := maskOf(r, rows, step), make([]uint64, rows*(words+1)+1)
				kept, above = append(kept, maskOf(r, 1, words)...), append(above, 77)
				want, wantAbove := slices.Clone(y), make([]uint64, len(above))
				got, gotW := fenced(r, rows*d)
				copy(got, y)
				LeakyDrop(b1, b2, rows, &got[0], &z[0], 0.2, 1.25, &kept[0], step, &above[0], words+1)
				leakyDropPlain(b1, b2, rows, &want[0], &z[0], 0.2, 1.25, &kept[0], step, &wantAbove[0], words+1)
				sameBitsOf(t, "drop", d, got, want)
				for i := range rows {
					for k := range d {
						w := i*(words+1) + k/64
						if above[w]>>(k%64)&1 != wantAbove[w]>>(k%64)&1 {
							t.Fatalf("width %d: row %d, bit %d above", d, i, k)
						}
					}
				}
				if above[len(above)-1] != 77 {
					t.Fatalf("width %d: wrote after the bits", d)
				}
				LeakyBack(d, rows, &got[0], 0.2, 1.25, &kept[0], step, &above[0], words+1)
				leakyBackPlain(d, rows, &want[0], 0.2, 1.25, &kept[0], step, &wantAbove[0], words+1)
				sameBitsOf(t, "back", d, got, want)
				checkFence(t, rows*d, gotW)
			}
			checkFence(t, rows*d, yw)
		}
		LeakyDrop(nil, nil, 3, nil, nil, 0, 0, nil, 0, nil, 0)
		LeakyBack(4, 0, nil, 0, 0, nil, 0, nil, 0)
	})
}

// The products of a layer give the bits of their operations one after the other.
func TestScaled(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(9, 9))
		for d := 1; d < 150; d++ {
			const rows = 4
			own, _ := fenced(r, rows)
			var m [6][]Float
			var whole [6][]Float
			for i := range m {
				m[i], whole[i] = fenced(r, rows*d)
			}
			s, x, p, a, b, g := m[0], m[1], m[2], m[3], m[4], m[5]
			wantS, wantP, self := slices.Clone(s), make([]Float, rows*d), make([]Float, d)
			for i := range rows {
				row := func(m []Float) []Float { return m[i*d : (i+1)*d] }
				ScaleTo(own[i], row(x), self)
				Add(self, row(wantS))
				Mul(row(x), row(wantS), row(wantP))
			}
			AddScaled(own, s, x, p)
			sameBitsOf(t, "sum", d, s, wantS)
			sameBitsOf(t, "product", d, p, wantP)
			wantG := make([]Float, rows*d)
			for i := range rows {
				row := func(m []Float) []Float { return m[i*d : (i+1)*d] }
				Mul(row(b), row(wantS), row(wantG))
				Mul(row(b), row(x), self)
				copy(row(wantS), row(a))
				Add(self, row(wantS))
				Axpy(own[i], row(wantS), row(wantG))
			}
			ScaledBack(own, s, x, a, b, g)
			sameBitsOf(t, "gradient of s", d, s, wantS)
			sameBitsOf(t, "gradient", d, g, wantG)
			for _, w := range whole {
				checkFence(t, rows*d, w)
			}
		}
		AddScaled(nil, nil, nil, nil)
		ScaledBack(nil, nil, nil, nil, nil, nil)
	})
}
