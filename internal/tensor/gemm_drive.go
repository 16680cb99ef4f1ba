package tensor

import (
	"privrec/internal/tensor/kernel"
)

func gemm(tA, tB bool, m, n, k int, alpha Float, a *Float, lda int, b *Float, ldb int, acc bool, c *Float, ldc int) {
	mr, nr := kernel.Tile()
	buf := make([]Float, k*((n+nr-1)/nr*nr))
	kernel.PackB(tB, k, n, b, ldb, &buf[0])
	ars, acs := lda, 1
	if tA {
		ars, acs = 1, lda
	}
	for i := 0; i < m; i += mr {
		kernel.Strip(min(mr, m-i), k, ptr(a, i*ars), ars, acs, &buf[0], ptr(c, i*ldc), ldc, n, alpha, acc)
	}
}
