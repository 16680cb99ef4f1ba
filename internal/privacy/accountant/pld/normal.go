package pld

import (
	"math"
	"sync"

	"privrec/internal/privacy/numeric"
)

// normalTails returns the two tails of the normal law N(mean, s²) at z, the smaller one to full relative
// accuracy.
func normalTails(z, mean, s float64) (below, above float64) {
	y := (z - mean) / s
	if y > 0 {
		above = tail(y)
		return 1 - above, above
	}
	below = tail(-y)
	return below, 1 - below
}

// The tail is a series around the nearest of the places 0, 1/tailGrid, 2/tailGrid, ... up to tailEnd.
const (
	tailGrid  = 64
	tailEnd   = 10
	tailTerms = 12
)

// tail returns the mass of the normal law above y >= 0, within 8 units of itself up to tailEnd and beyond
// that with the error of erfc and of its rounded argument.
//
// The density around a place g is that of g times exp(-g s - s²/2). By Cauchy's bound on a circle of radius 1/4, its
// coefficient n is at most exp(g/4 + 1/32) 4^n, so that with s up to 1/128 the terms left out sum to less than 1e-17 of
// the density, and to less than a unit of the tail, which is more than a twelfth of it. All terms but the first
// are together less than 0.09 of the tail, and their rounding less than 3 units of it.
func tail(y float64) float64 {
	if !(y < tailEnd) {
		return numeric.Upper(y)
	}
	k := int(y*tailGrid + 0.5)
	c := &tailSeries()[k]
	s := y - float64(k)/tailGrid
	v := c[tailTerms-1]
	for i := tailTerms - 2; i >= 0; i-- {
		v = v*s + c[i]
	}
	return v
}

// tailSeries returns the coefficients of the series at all places.
var tailSeries = sync.OnceValue(func() *[tailEnd*tailGrid + 1][tailTerms]float64 {
	var out [tailEnd*tailGrid + 1][tailTerms]float64
	const rootRest = -9.667293313452913e-17 // sqrt(2) less math.Sqrt2 as a float64
	for k := range out {
		g := float64(k) / tailGrid
		d := math.Exp(-g*g/2) / math.Sqrt(2*math.Pi) // g*g/2 is exact
		x := g / math.Sqrt2
		// erfc is taken at x, which is rounded: its place is x sqrt(2), not g.
		off := math.FMA(x, math.Sqrt2, -g) + x*rootRest
		out[k][0] = 0.5*math.Erfc(x) + d*off
		last, b := 0.0, 1.0
		for n := range tailTerms - 1 {
			out[k][n+1] = -d * b / float64(n+1)
			last, b = b, (-g*b-last)/float64(n+1)
		}
	}
	return &out
})

// log1p returns log(1+w) for w > -1, within a few units.
func log1p(w float64) float64 {
	u := 1 + w
	if u <= 0 {
		return math.Inf(-1)
	}
	return math.Log(u) + (w-(u-1))/u
}
