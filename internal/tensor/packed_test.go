package tensor

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPackedIsGemm: products with a packed operand are those of Gemm, to the bit.
func TestPackedIsGemm(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for _, p := range []product{
		{m: 1, n: 1, k: 1}, {m: 32, n: 256, k: 128, tB: true}, {m: 32, n: 128, k: 256, beta: 1}, {m: 29, n: 61, k: 63, tB: true, beta: 1, pad: 3},
		{m: 13, n: 33, k: 1023, pad: 1}, {m: 5, n: 700, k: 600, tB: true}, {m: 3, n: 7, k: 0}, {m: 3, n: 7, k: 0, beta: 1}, {m: 0, n: 7, k: 3}, {m: 2, n: 0, k: 3},
	} {
		a, b, want := p.operands(r)
		got := Matrix{Rows: want.Rows, Cols: want.Cols, Stride: want.Stride, Data: slices.Clone(want.Data)}
		Gemm(false, p.tB, 1, a, b, p.beta, want)
		Pack(make([]Float, PackedSize(p.k, p.n)), p.tB, b).Mul(a, p.beta == 1, got)
		for i := range want.Rows {
			for j, v := range Row(want, i) {
				if g := Row(got, i)[j]; g != v {
					t.Fatalf("%v: element (%d, %d) is %v, of Gemm %v", p, i, j, g, v)
				}
			}
		}
	}
}
