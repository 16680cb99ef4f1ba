package channel

import (
	"fmt"
	"math"

	"privrec/internal/privacy/mechanism"
)

// Clip scales v down to Euclidean norm c if it is longer, and reports whether it did. The norm of the result, computed
// exactly over the rounded values, is never above c. A vector too close to c for rounding to decide is scaled too, by
// one part in 10^7 for float32 or in 10^15 for float64, and by less than 10^-15 for each of its values. Clip fails on a
// NaN or an infinity, which no scaling bounds, and leaves v as it is. c is positive and finite.
func Clip[T mechanism.Float](v []T, c float64) (clipped bool, err error) {
	if !(c > 0) || math.IsInf(c, 1) {
		return false, fmt.Errorf("clipping norm is %v, want positive and finite", c)
	}
	n := normAbove(v)
	if !(n.v <= math.MaxFloat64) {
		for i, x := range v {
			if a := math.Abs(float64(x)); !(a <= math.MaxFloat64) {
				return false, fmt.Errorf("value %d is %v: it cannot be clipped", i, x)
			}
		}
	}
	if n.atMost(c) {
		return false, nil
	}
	shrink := 0x1p-50 // rounding the values to nearest may add as much to the norm
	if _, single := as[float32](v); single {
		shrink = 0x1.1p-24
	}
	for ; ; shrink *= 4 { // once is enough, unless values round to subnormal numbers
		room := 3 * slack(len(v))
		if n.e != 0 {
			room *= 4
		}
		scaleTo(v, n, c, 1-min(1, shrink+room))
		if n = normAbove(v); n.atMost(c) {
			return true, nil
		}
	}
}

// size holds the number v 2^e, for norms outside the range of a float64.
type size struct {
	v float64 // 0, or a normal number
	e int
}

// slack bounds the relative error of normAbove: a square and n/4+1 additions in each of 4
// lanes, the addition of 3 lanes, a root.
func slack(n int) float64 { return float64(n/4+16) * 0x1p-53 }

// normAbove returns the Euclidean norm of v or a little more, never less. It is finite if all values are.
func normAbove[T mechanism.Float](v []T) size {
	sum := sumSquares(v)
	if sum >= 0x1p-700 && sum <= 0x1p700 { // squares that underflowed are 2^-300 times smaller than that
		return size{math.Sqrt(sum) * (1 + slack(len(v))), 0}
	}
	largest := 0.0
	for _, x := range v {
		largest = max(largest, math.Abs(float64(x))) // keeps a NaN
	}
	if !(largest > 0 && largest <= math.MaxFloat64) {
		return size{largest, 0}
	}
	_, e := math.Frexp(largest)
	sum = 0
	for _, x := range v { // at most 1 in units of 2^e, so no square overflows
		y := math.Ldexp(float64(x), -e)
		sum += y * y
	}
	return size{math.Sqrt(sum) * (1 + 4*slack(len(v))), e}
}

// sumSquares returns the sum of squares, added in four lanes in a fixed order.
func sumSquares[T mechanism.Float](v []T) float64 {
	var a, b, c, d float64
	for len(v) >= 4 {
		w, x, y, z := float64(v[0]), float64(v[1]), float64(v[2]), float64(v[3])
		a += w * w
		b += x * x
		c += y * y
		d += z * z
		v = v[4:]
	}
	for _, x := range v {
		a += float64(x) * float64(x)
	}
	return a + b + (c + d)
}

// atMost reports whether s <= c, exactly, for c > 0.
func (s size) atMost(c float64) bool {
	if s.v == 0 || s.e == 0 {
		return s.v <= c
	}
	f, e := math.Frexp(s.v)
	g, k := math.Frexp(c)
	return e+s.e < k || e+s.e == k && f <= g
}

// scaleTo multiplies v, whose norm is s, by c/s and by by, which is at most 1.
func scaleTo[T mechanism.Float](v []T, s size, c, by float64) {
	f, e := math.Frexp(s.v)
	g, k := math.Frexp(c)
	shift := k - e // c/s = g/f 2^(shift-s.e)
	if s.e == 0 && shift > -900 && shift < 900 {
		factor := c / s.v * by
		for i, x := range v {
			v[i] = T(float64(x) * factor)
		}
		return
	}
	for i, x := range v {
		v[i] = T(math.Ldexp(math.Ldexp(float64(x), -s.e)*(g/f*by), shift))
	}
}

// CheckNorm returns an error if v is longer than c, a fault that no noise compensates.
func CheckNorm[T mechanism.Float](purpose, what string, v []T, c float64, hint string) error {
	if n := normAbove(v); !n.atMost(c) {
		return &mechanism.CheckError{Purpose: purpose, What: what, Got: math.Ldexp(n.v, n.e), Low: 0, High: c,
			N: int64(len(v)), Hint: hint}
	}
	return nil
}
