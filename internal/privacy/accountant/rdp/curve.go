package rdp

import (
	"errors"
	"fmt"
	"math"
)

// Curve returns the Rényi divergence between neighbours at an order alpha, from 1 (Kullback-Leibler divergence) to +Inf
// (largest log-ratio). It is never negative and never NaN. It is +Inf if the divergence is unbounded or not known, and
// for orders below 1. A Curve may be called from several goroutines.
type Curve func(alpha float64) float64

// ErrNotCovered is returned for an event, or a combination of sampling and relation, without a known curve.
var ErrNotCovered = errors.New("no rényi curve is known for it")

// bounded returns the curve of f with safe values at orders where formulas fail. Below 1 it is +Inf. Beyond 2^50 it
// takes the largest log-ratio. Near 1, where alpha-1 has few digits, the value is at least that at 1.
func bounded(f func(alpha float64) float64) Curve {
	return func(alpha float64) float64 {
		if !(alpha >= 1) {
			return math.Inf(1)
		}
		if alpha > 1<<50 {
			alpha = math.Inf(1)
		}
		v := f(alpha)
		if alpha < 1+1e-7 {
			v = math.Max(v, f(1))
		}
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return math.Max(v, 0)
	}
}

// Times returns the curve of n adaptive compositions; n is 0 or more.
func Times(c Curve, n int64) Curve {
	if n == 0 {
		return Sum()
	}
	k := float64(n)
	return func(alpha float64) float64 { return k * c(alpha) }
}

// Sum returns the curve of an adaptive composition. Without arguments it is the zero curve.
func Sum(curves ...Curve) Curve {
	return func(alpha float64) float64 {
		s := 0.0
		for _, c := range curves {
			s += c(alpha)
		}
		return s
	}
}

// Max returns the pointwise largest of the given curves: the cost of a unit that is in one of several parts of the
// data.
func Max(curves ...Curve) Curve {
	return func(alpha float64) float64 {
		m := 0.0
		for _, c := range curves {
			m = math.Max(m, c(alpha))
		}
		return m
	}
}

// maxPair returns a curve that bounds any two of the given ones composed: the cost of a unit that leaves one part of
// the data and enters another.
func maxPair(curves ...Curve) Curve {
	return func(alpha float64) float64 {
		most, next := 0.0, 0.0
		for _, c := range curves {
			if v := c(alpha); v > most {
				most, next = v, most
			} else {
				next = math.Max(next, v)
			}
		}
		return most + next
	}
}

// Min returns the pointwise smallest of several bounds on one mechanism.
func Min(curves ...Curve) Curve {
	return func(alpha float64) float64 {
		m := math.Inf(1)
		for _, c := range curves {
			m = math.Min(m, c(alpha))
		}
		return m
	}
}

// positive returns an error unless v is positive and finite.
func positive(name string, v float64) error {
	if !(v > 0) || math.IsInf(v, 1) {
		return fmt.Errorf("%s is %v, want positive and finite", name, v)
	}
	return nil
}

// fraction returns an error unless v is a sampling rate.
func fraction(name string, v float64) error {
	if !(v > 0 && v <= 1) {
		return fmt.Errorf("%s is %v, want above 0 and at most 1", name, v)
	}
	return nil
}

func atLeast(name string, v, least int64) error {
	if v < least {
		return fmt.Errorf("%s is %d, want at least %d", name, v, least)
	}
	return nil
}
