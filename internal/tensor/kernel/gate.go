package kernel

// The conversions keep a compiler from fusing operations, which vectors do not.

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
