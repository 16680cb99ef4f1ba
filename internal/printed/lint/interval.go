package lint

import (
	"math"
	"strconv"

	"privrec/internal/printed"
)

// interval holds all numbers that something may be, given its printed digits.
type interval struct{ low, high float64 }

// slack is the relative error of the arithmetic on interval bounds.
const slack = 1e-9

// of returns what a printed number may be, percentages as shares. A count is not rounded.
func of(n printed.Number, unit string) interval {
	low, high := n.Range()
	switch {
	case unit == printed.Percent:
		low, high = low/100, high/100
	case unit == printed.Count && n.Value != nil:
		low, high = *n.Value, *n.Value
	}
	return interval{low, high}
}

func exact(v printed.Value) interval { return of(v.Number, v.Metric.Unit) }

// meets says whether two intervals share a number. Their bounds count: a number halfway between
// two roundings is printed as either.
func (a interval) meets(b interval) bool {
	s := slack * math.Max(math.Abs(a.high), math.Abs(b.high))
	return a.low <= b.high+s && b.low <= a.high+s
}

// alike says whether two printed numbers can be one. In the same unit with as many digits they
// must be printed alike: one number is not rounded in two ways.
func alike(v, w printed.Value) bool {
	if v.Metric.Unit == w.Metric.Unit && v.Number.Digits == w.Number.Digits {
		return *v.Number.Value == *w.Number.Value
	}
	return exact(v).meets(exact(w))
}

// above says whether every number of a is above every number of b.
func (a interval) above(b interval) bool {
	return a.low > b.high+slack*math.Max(1e-3, math.Abs(b.high))
}

func (a interval) plus(b interval) interval  { return interval{a.low + b.low, a.high + b.high} }
func (a interval) minus(b interval) interval { return interval{a.low - b.high, a.high - b.low} }
func (a interval) scaled(c float64) interval {
	return interval{math.Min(a.low*c, a.high*c), math.Max(a.low*c, a.high*c)}
}

// times multiplies intervals of numbers that are not negative.
func (a interval) times(b interval) interval { return interval{a.low * b.low, a.high * b.high} }

// over divides by an interval of positive numbers.
func (a interval) over(b interval) interval {
	return interval{math.Min(a.low/b.low, a.low/b.high), math.Max(a.high/b.low, a.high/b.high)}
}

// middle is a number to show.
func (a interval) middle() float64 { return (a.low + a.high) / 2 }

// digits shows a number with so many digits after the point.
func digits(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }

// span shows the numbers between two, with so many digits after the point.
func span(low, high float64, n int) string {
	if a, b := digits(low, n), digits(high, n); a != b {
		return a + " to " + b
	}
	return digits(low, n)
}

// significant counts the digits of a printed number from its first that is not zero.
func significant(n printed.Number) int {
	count, started := 0, false
	for _, c := range n.Text {
		started = started || c >= '1' && c <= '9'
		if started && c != '.' {
			count++
		}
	}
	return count
}
