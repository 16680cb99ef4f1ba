package kernel

// Tile returns the largest strip height, the panel width, and the distance between
// the rows of a packed strip.
func Tile() (mr, nr, strip int) {
	switch level {
	case AVX512:
		return 14, 32, 16
	case AVX2:
		return 6, 16, 8
	}
	return plainMR, plainNR, plainMR
}

// Strip computes C (+)= alpha A B for one strip of A: mr rows, at most Tile's.
// Element (i, l) of A lies at a[i*ars+l*acs]; b is a k x n block packed by PackB;
// rows of C are ldc apart. acc selects += over =; with = the old C is not read.
// All sizes are at least 1, strides count elements.
func Strip(mr, k int, a *Float, ars, acs int, b, c *Float, ldc, n int, alpha Float, acc bool) {
	if level == Off {
		stripPlain(mr, k, a, ars, acs, b, c, ldc, n, alpha, acc)
		return
	}
	stripSIMD(mr, k, a, ars, acs, b, c, ldc, n, alpha, acc)
}

// PackB copies a k x n block into panels of Tile's width, panel after panel, each of
// k rows, the last one padded. With trans, src holds the block transposed. dst needs
// room for k times n, rounded up to whole panels.
func PackB(trans bool, k, n int, src *Float, lds int, dst *Float) {
	if level != Off {
		packBSIMD(trans, k, n, src, lds, dst)
		return
	}
	for j := 0; j < n; j += plainNR {
		off := j
		if trans {
			off = j * lds
		}
		packPlain(trans, k, min(plainNR, n-j), at(src, off), lds, at(dst, j*k), plainNR)
	}
}

// PackA copies m rows and k columns of an operand A into strips of h rows: element
// (i, l) of strip s goes to dst[s*sps+l*strip+i], with strip from Tile. With trans,
// src holds A transposed, which is the faster case.
func PackA(trans bool, k, m, h int, src *Float, lds int, dst *Float, sps int) {
	if level != Off {
		packASIMD(trans, k, m, h, src, lds, dst, sps)
		return
	}
	for i, s := 0, 0; i < m; i, s = i+h, s+1 {
		off := i * lds
		if trans {
			off = i
		}
		packPlain(!trans, k, min(h, m-i), at(src, off), lds, at(dst, s*sps), plainMR)
	}
}
