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

type stripFunc = func(k int, a *Float, ars, acs int, b, c *Float, crs, panels, tail int, alpha Float, acc int)

// Strip kernels by height.
var (
	strips512 = [...]stripFunc{1: strip512x1, 2: strip512x2, 3: strip512x3, 4: strip512x4, 5: strip512x5,
		6: strip512x6, 7: strip512x7, 8: strip512x8, 9: strip512x9, 10: strip512x10, 11: strip512x11,
		12: strip512x12, 13: strip512x13, 14: strip512x14}
	strips256 = [...]stripFunc{1: strip256x1, 2: strip256x2, 3: strip256x3, 4: strip256x4, 5: strip256x5, 6: strip256x6}
)

const size = 4 // bytes of a float32, which the assembly is for

func stripSIMD(mr, k int, a *Float, ars, acs int, b, c *Float, ldc, n int, alpha Float, acc bool) {
	add := 0
	if acc {
		add = 1
	}
	if level == AVX512 {
		strips512[mr](k, a, ars*size, acs*size, b, c, ldc*size, n/32, n%32, alpha, add)
	} else {
		strips256[mr](k, a, ars*size, acs*size, b, c, ldc*size, n/16, n%16, alpha, add)
	}
}

func packBSIMD(trans bool, k, n int, src *Float, lds int, dst *Float) {
	_, nr, _ := Tile()
	if !trans {
		if level == AVX512 {
			packRows512x2(k, src, lds*size, dst, k*nr*size, n/nr, nr, n%nr)
		} else {
			packRows256x2(k, src, lds*size, dst, k*nr*size, n/nr, nr, n%nr)
		}
		return
	}
	half := nr / 2
	for j := 0; j < n; j += half { // panels start at even halves
		d := at(dst, j/nr*nr*k+j%nr)
		packCols(k, at(src, j*lds), lds, d, nr, min(half, n-j))
	}
}

func packASIMD(trans bool, k, m, h int, src *Float, lds int, dst *Float, sps int) {
	_, _, strip := Tile()
	if trans {
		if level == AVX512 {
			packRows512x1(k, src, lds*size, dst, sps*size, m/h, h, m%h)
		} else {
			packRows256x1(k, src, lds*size, dst, sps*size, m/h, h, m%h)
		}
		return
	}
	for i, s := 0, 0; i < m; i, s = i+h, s+1 {
		packCols(k, at(src, i*lds), lds, at(dst, s*sps), strip, min(h, m-i))
	}
}

// packCols transposes w rows of k elements, at most a vector's lanes.
func packCols(k int, src *Float, lds int, dst *Float, ldd, w int) {
	if level == AVX512 {
		packCols512(k, src, lds*size, dst, ldd*size, w)
	} else {
		packCols256(k, src, lds*size, dst, ldd*size, w)
	}
}
