package exact

import "math"

// decay returns an upper bound of log |phi(y)| over y0 <= y <= y1 for phi(y) = M(c+iy)/M(c), the characteristic
// function of the loss L under its law tilted by exp(cL). It is the better of two bounds.
//
// The first, for finite y1, uses bins. |phi|² = E cos(y(L-L')) for two independent copies. If both are in the same bin
// of length a/y1, the cosine is at most 1 - k y² (L-L')², with k = (1-cos a)/a², so that
//
//	1 - |phi|² >= k y0² sum over bins of 2 (P S2 - S1²)
//
// with S1, S2 the moments of L within the bin.
//
// The second, for all y >= y0, uses a level. With f the density and g = min(f, level), integration by parts gives |∫ g
// exp(iyl) dl| <= V(g)/y with V the total variation, so that |phi| <= 1 - ∫g + V(g)/y.
//
// The quadrature of a function with jumps or kinks is only good to the width of a node. So of n nodes in a bin the gain
// of two is not used, and of the second gain a tenth is not used. Bins of two nodes gain nothing, and atoms add nothing
// to g. Both err to the safe side.
func (t *table) decay(c, y0, y1 float64) float64 {
	t.at(c)
	if t.cutAt != c {
		t.cut()
	}
	best := t.level(y0)
	if !math.IsInf(y1, 1) {
		best = math.Min(best, t.bins(y0, y1))
	}
	return best
}

func (t *table) bins(y0, y1 float64) float64 {
	best := 0.0
	for _, turn := range [...]float64{math.Pi, 2} {
		// 1 - cos x >= part x² for |x| <= turn
		part := (1 - math.Cos(turn)) / (turn * turn)
		best = math.Max(best, 2*part*y0*y0*t.scatter(turn/y1))
	}
	if !(best > 0) {
		return 0
	}
	return 0.5 * math.Log1p(-math.Min(best, 0.999999))
}

// scatter returns the sum of P S2 - S1² over bins of the given length, with the mean in the middle of one bin. Losses
// are monotone along the nodes, so a bin is a run of nodes. Moments are taken from the first loss of the run, so that
// they do not cancel.
func (t *table) scatter(length float64) float64 {
	sum, bin, from := 0.0, math.NaN(), 0.0
	var n, p, s1, s2 float64
	flush := func() {
		if n > 2 {
			sum += (p*s2 - s1*s1) * (1 - 2/n)
		}
	}
	for k, l := range t.loss {
		if b := math.Floor((l-t.center)/length + 0.5); b != bin {
			flush()
			bin, from, n, p, s1, s2 = b, l, 0, 0, 0, 0
		}
		w, x := t.tilt[k]/t.norm, l-from
		n, p, s1, s2 = n+1, p+w, s1+w*x, s2+w*x*x
	}
	flush()
	return math.Max(0, sum)
}

// level returns the second bound of decay. cut has computed the densities when the real part was set.
func (t *table) level(y0 float64) float64 {
	best := 0.0
	for i, share := range shares {
		bound := 1 - 0.9*(math.Min(t.mass[i], 1)-1.2*t.variation[i]/y0)
		if share == 1 && t.whole { // nothing is cut off: all the mass is there
			bound = 1.2 * t.variation[i] / y0
		}
		if bound < 1 {
			best = math.Min(best, math.Log(bound))
		}
	}
	return best
}

// shares holds the levels at which densities are cut, relative to the largest density.
var shares = [...]float64{1, 0.6, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5}

// cut computes the masses and variations below each level.
func (t *table) cut() {
	most := 0.0
	t.whole = true
	t.center = 0
	for k, l := range t.loss {
		t.center += t.tilt[k] / t.norm * l
	}
	for k, w := range t.width {
		if w > 0 {
			most = math.Max(most, t.tilt[k]/t.norm/w)
		} else {
			t.whole = t.whole && t.tilt[k] == 0
		}
	}
	for i, share := range shares {
		level, mass, variation, last := share*most, 0.0, 0.0, 0.0
		for k, w := range t.width {
			if w > 0 {
				g := min(t.tilt[k]/t.norm/w, level)
				mass += g * w
				variation += math.Abs(g - last)
				last = g
			}
		}
		t.mass[i], t.variation[i] = mass, variation+last
	}
	t.cutAt = t.c
}
