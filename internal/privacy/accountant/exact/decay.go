package exact

import (
	"math"
	"slices"
)

// decay bounds log |phi(y)| over y0 <= y <= y1 for phi(y) = M(c+iy)/M(c), the
// characteristic function of the loss L under its law tilted by exp(cL). It is the
// better of two bounds.
//
// Bins, for y1 finite: for two independent copies in the same bin of length pi/y1,
// 1 - cos(y(L-L')) >= 2 y² (L-L')²/pi², so that
//
//	1 - |phi|² >= (2 y0²/pi²) sum over bins of 2 (P S2 - S1²)
//
// with S1, S2 the moments of L within the bin. Level, for all y >= y0: where f is
// the density and g = min(f, level), integration by parts gives
// |∫ g exp(iyl) dl| <= V(g)/y with V the total variation, so that
// |phi| <= 1 - ∫g + V(g)/y.
//
// The quadrature of a function with jumps or kinks is only good to a node's width;
// half of the first gain and nine tenths of the second are claimed. Bins without
// two nodes gain nothing, and atoms add nothing to g: both err to the safe side.
func (t *table) decay(c, y0, y1 float64) float64 {
	t.at(c)
	best := 0.0
	if !math.IsInf(y1, 1) {
		best = t.bins(y0, y1)
	}
	return math.Min(best, t.level(y0))
}

func (t *table) bins(y0, y1 float64) float64 {
	length := math.Pi / y1
	gain := 0.0
	bin, from := math.NaN(), 0.0
	var p, s1, s2 float64
	// Losses are monotone along the nodes, so a bin is a run of nodes. Moments are
	// taken from the run's first loss, lest they cancel.
	for k, l := range t.loss {
		if b := math.Floor(l / length); b != bin {
			gain += p*s2 - s1*s1
			bin, from, p, s1, s2 = b, l, 0, 0, 0
		}
		w, x := t.tilt[k]/t.norm, l-from
		p, s1, s2 = p+w, s1+w*x, s2+w*x*x
	}
	gain += p*s2 - s1*s1
	gain *= 2 * (2 / (math.Pi * math.Pi)) * y0 * y0 / 2
	if !(gain > 0) {
		return 0
	}
	return 0.5 * math.Log1p(-math.Min(gain, 0.999999))
}

func (t *table) level(y0 float64) float64 {
	var density, width []float64
	atoms := 0.0
	for k, w := range t.width {
		if w > 0 {
			density, width = append(density, t.tilt[k]/t.norm/w), append(width, w)
		} else {
			atoms += t.tilt[k]
		}
	}
	if len(density) == 0 {
		return 0
	}
	sorted := slices.Clone(density)
	slices.Sort(sorted)
	best := 0.0
	for _, share := range [...]float64{1, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3} {
		level := sorted[int(share*float64(len(sorted)-1))]
		mass, variation, last := 0.0, 0.0, 0.0
		for k, f := range density {
			g := math.Min(f, level)
			mass += g * width[k]
			variation += math.Abs(g - last)
			last = g
		}
		variation += last
		bound := 1 - 0.9*(math.Min(mass, 1)-1.2*variation/y0)
		if share == 1 && atoms == 0 { // nothing was cut off: all the mass is there
			bound = 1.2 * variation / y0
		}
		if bound < 1 {
			best = math.Min(best, math.Log(bound))
		}
	}
	return best
}
