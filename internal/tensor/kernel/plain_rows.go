package kernel

import (
	"unsafe"
)

// Kernels over rows and gates, in plain Go. Conversions keep a compiler from fusing operations, which vectors do not.

// blendPlain is Blend in plain Go.
func blendPlain(x, y, g, z []Float) {
	y, g, z = y[:len(x)], g[:len(x)], z[:len(x)]
	for i, v := range x {
		z[i] = Float((v-y[i])*g[i]) + y[i]
	}
}

func keepBackPlain(dy, dh, h, z, c, dz, dc, back []Float) {
	for i, g := range dy {
		g += dh[i]
		shut := 1 - z[i]
		d := (h[i] - c[i]) * g * z[i] * shut
		e := (1 - Float(c[i]*c[i])) * (shut * g)
		dz[i], dc[i], back[i] = d, e, g*z[i]
	}
}

func resetBackPlain(g, h, r, dr, back []Float) {
	for i, v := range g {
		dr[i] = v * h[i] * r[i] * (1 - r[i])
		back[i] += Float(v * r[i])
	}
}

// leakyDropPlain is LeakyDrop in plain Go. The conversions keep products and sums apart.
func leakyDropPlain(b1, b2 []Float, rows int, y, z *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64,
	aboveStep int) {
	d := len(b1)
	for i := range rows {
		y, z := unsafe.Slice(at(y, i*d), d), unsafe.Slice(at(z, i*d), d)
		kept, above := wordsOf(kept, i*keptStep, d), wordsOf(above, i*aboveStep, d)
		clear(above)
		for k, v := range y {
			v = v + b1[k] + (z[k] + b2[k])
			if v > 0 {
				above[k/64] |= 1 << (k % 64)
			} else {
				v *= slope
			}
			if kept[k/64]>>(k%64)&1 == 0 {
				v = 0
			} else {
				v *= keep
			}
			y[k] = v
		}
	}
}

// leakyBackPlain is LeakyBack in plain Go.
func leakyBackPlain(d, rows int, g *Float, slope, keep Float, kept *uint64, keptStep int, above *uint64,
	aboveStep int) {
	for i := range rows {
		g, kept, above := unsafe.Slice(at(g, i*d), d), wordsOf(kept, i*keptStep, d), wordsOf(above, i*aboveStep, d)
		for k, v := range g {
			if kept[k/64]>>(k%64)&1 == 0 {
				v = 0
			} else {
				v *= keep
			}
			if above[k/64]>>(k%64)&1 == 0 {
				v *= slope
			}
			g[k] = v
		}
	}
}

// wordsOf returns the words of d bits that begin off words after p.
func wordsOf(p *uint64, off, d int) []uint64 {
	return unsafe.Slice((*uint64)(unsafe.Add(unsafe.Pointer(p), 8*off)), (d+63)/64)
}

// addScaledPlain is AddScaled in plain Go.
func addScaledPlain(own, s, x, p []Float) {
	for i, w := range own {
		d := len(s) / len(own)
		s, x, p := s[i*d:][:d], x[i*d:][:d], p[i*d:][:d]
		for k, v := range x {
			t := s[k] + Float(w*v)
			s[k], p[k] = t, v*t
		}
	}
}

// scaledBackPlain is ScaledBack in plain Go.
func scaledBackPlain(own, s, x, a, b, g []Float) {
	for i, w := range own {
		d := len(s) / len(own)
		s, x, a, b, g := s[i*d:][:d], x[i*d:][:d], a[i*d:][:d], b[i*d:][:d], g[i*d:][:d]
		for k, v := range x {
			t := a[k] + Float(b[k]*v)
			g[k] = Float(b[k]*s[k]) + w*t
			s[k] = t
		}
	}
}
