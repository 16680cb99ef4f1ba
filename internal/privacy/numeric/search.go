package numeric

import "math"

// Number lists the types of the points between which a search goes.
type Number interface{ int | int64 | float64 }

// Bisect returns the last point from one end towards the other at which holds is true, and the next one, at which it is
// false: no number of the type lies between. holds is taken to be true at from, to be false at to, and to change once;
// it is not asked there. from may be above to.
func Bisect[T Number](from, to T, holds func(x T) bool) (last, first T) {
	return bisect(from, to, math.MaxInt, 0, holds)
}

// BisectWithin returns the ends of Bisect as soon as they differ by less than a share of the end at which holds is
// true.
func BisectWithin(share, from, to float64, holds func(x float64) bool) (last, first float64) {
	return bisect(from, to, math.MaxInt, share, holds)
}

// Halve returns the ends of Bisect after n halvings at most.
func Halve(n int, from, to float64, holds func(x float64) bool) (last, first float64) {
	return bisect(from, to, n, 0, holds)
}

func bisect[T Number](from, to T, n int, share float64, holds func(x T) bool) (last, first T) {
	for ; n > 0 && !(math.Abs(float64(to-from)) < share*math.Abs(float64(from))); n-- {
		middle := from + (to-from)/2
		if middle == from || middle == to || middle != middle {
			break
		}
		if holds(middle) {
			from = middle
		} else {
			to = middle
		}
	}
	return from, to
}

// Double doubles to until holds is false there or to has reached most, and returns it with the point before it, from if
// it did not move. from must be below to, to positive.
func Double(from, to, most float64, holds func(x float64) bool) (last, first float64) {
	for to < most && holds(to) {
		from, to = to, 2*to
	}
	return from, to
}
