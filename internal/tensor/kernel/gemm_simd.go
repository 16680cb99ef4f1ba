//go:build amd64 && !f64

package kernel

type stripFunc = func(k int, a *float32, ars, acs int, b, c *float32, crs, panels, tail int, alpha float32, acc int)

// Strip kernels by height.
var (
	strips512 = [...]stripFunc{1: strip512x1, 2: strip512x2, 3: strip512x3, 4: strip512x4, 5: strip512x5,
		6: strip512x6, 7: strip512x7, 8: strip512x8, 9: strip512x9, 10: strip512x10, 11: strip512x11,
		12: strip512x12, 13: strip512x13, 14: strip512x14}
	strips256 = [...]stripFunc{1: strip256x1, 2: strip256x2, 3: strip256x3, 4: strip256x4, 5: strip256x5, 6: strip256x6}
)

const size = 4 // bytes of a float32

func stripSIMD(mr, k int, a *float32, ars, acs int, b, c *float32, ldc, n int, alpha float32, acc bool) {
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

func packBSIMD(trans bool, k, n int, src *float32, lds int, dst *float32) {
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

func packASIMD(trans bool, k, m, h int, src *float32, lds int, dst *float32, sps int) {
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
func packCols(k int, src *float32, lds int, dst *float32, ldd, w int) {
	if level == AVX512 {
		packCols512(k, src, lds*size, dst, ldd*size, w)
	} else {
		packCols256(k, src, lds*size, dst, ldd*size, w)
	}
}
