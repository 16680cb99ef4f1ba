package kernel

import "unsafe"

// Register tile of the plain Go product.
const (
	plainMR = 2
	plainNR = 4
)

// at returns the address off elements after p.
func at(p *Float, off int) *Float {
	return (*Float)(unsafe.Add(unsafe.Pointer(p), off*int(unsafe.Sizeof(*p))))
}

// stripPlain is Strip in plain Go.
func stripPlain(mr, k int, a *Float, ars, acs int, b *Float, c *Float, ldc, n int, alpha Float, acc bool) {
	var t [plainMR * plainNR]Float
	for j := 0; j < n; j += plainNR {
		panel := unsafe.Slice(at(b, j*k), k*plainNR)
		if mr == 2 {
			tile2x4(a, ars, acs, panel, &t)
		} else {
			tile1x4(a, acs, panel, &t)
		}
		w := min(plainNR, n-j)
		for i := range mr {
			dst := unsafe.Slice(at(c, i*ldc+j), w)
			row := t[i*plainNR:]
			for l := range dst {
				if acc {
					dst[l] += alpha * row[l]
				} else {
					dst[l] = alpha * row[l]
				}
			}
		}
	}
}

// tile2x4 multiplies two rows of a by one packed panel.
func tile2x4(a *Float, ars, acs int, b []Float, t *[plainMR * plainNR]Float) {
	var c00, c01, c02, c03, c10, c11, c12, c13 Float
	size := int(unsafe.Sizeof(*a))
	p, ars, acs := unsafe.Pointer(a), ars*size, acs*size
	for ; len(b) >= plainNR; b = b[plainNR:] {
		a0, a1 := *(*Float)(p), *(*Float)(unsafe.Add(p, ars))
		b0, b1, b2, b3 := b[0], b[1], b[2], b[3]
		c00 += a0 * b0
		c01 += a0 * b1
		c02 += a0 * b2
		c03 += a0 * b3
		c10 += a1 * b0
		c11 += a1 * b1
		c12 += a1 * b2
		c13 += a1 * b3
		if len(b) > plainNR { // never form an address past the operand
			p = unsafe.Add(p, acs)
		}
	}
	*t = [plainMR * plainNR]Float{c00, c01, c02, c03, c10, c11, c12, c13}
}

// tile1x4 multiplies a last single row of a by one packed panel, like tile2x4.
func tile1x4(a *Float, acs int, b []Float, t *[plainMR * plainNR]Float) {
	var c0, c1, c2, c3 Float
	p, acs := unsafe.Pointer(a), acs*int(unsafe.Sizeof(*a))
	for ; len(b) >= plainNR; b = b[plainNR:] {
		x := *(*Float)(p)
		c0 += x * b[0]
		c1 += x * b[1]
		c2 += x * b[2]
		c3 += x * b[3]
		if len(b) > plainNR {
			p = unsafe.Add(p, acs)
		}
	}
	t[0], t[1], t[2], t[3] = c0, c1, c2, c3
}

// packPlain copies k rows of w elements, rows lds apart in src and nr in dst;
// with trans it reads src as w rows of k elements. Columns w..nr are zeroed.
func packPlain(trans bool, k, w int, src *Float, lds int, dst *Float, nr int) {
	d := unsafe.Slice(dst, k*nr)
	if w < nr {
		clear(d)
	}
	if trans {
		for j := range w {
			for l, v := range unsafe.Slice(at(src, j*lds), k) {
				d[l*nr+j] = v
			}
		}
		return
	}
	for l := range k {
		copy(d[l*nr:l*nr+w], unsafe.Slice(at(src, l*lds), w))
	}
}
