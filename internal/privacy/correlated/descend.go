package correlated

import (
	"cmp"
	"math"
	"slices"
)

// descend returns a point with a smaller value of f than x has, or x, and its value. It is the simplex search of Nelder
// and Mead ("A simplex method for function minimization", Computer Journal 1965), begun again from its best point until
// that gains less than a part in 1e7. A value that is not a number counts as infinite.
func descend(x []float64, f func([]float64) float64) ([]float64, float64) {
	value := func(x []float64) float64 {
		if v := f(x); !math.IsNaN(v) {
			return v
		}
		return math.Inf(1)
	}
	best := corner{slices.Clone(x), value(x)}
	for range 20 {
		next := simplex(best, value)
		gain := best.v - next.v
		best = next
		if !(gain > 1e-7*best.v) {
			break
		}
	}
	return best.x, best.v
}

// corner is a point of a simplex with its value.
type corner struct {
	x []float64
	v float64
}

// simplex returns the best corner after one search from a simplex around a point.
func simplex(from corner, value func([]float64) float64) corner {
	n := len(from.x)
	all := []corner{from}
	for i := range n {
		x := slices.Clone(from.x)
		x[i] += 0.4
		all = append(all, corner{x, value(x)})
	}
	// along returns the point on the line from the worst corner through the middle of the others.
	along := func(far float64) corner {
		x := make([]float64, n)
		for i := range x {
			for _, c := range all[:n] {
				x[i] += c.x[i] / float64(n)
			}
			x[i] += far * (x[i] - all[n].x[i])
		}
		return corner{x, value(x)}
	}
	for range 300 * n {
		slices.SortStableFunc(all, lower)
		if all[n].v-all[0].v <= 1e-9*all[0].v {
			break
		}
		switch mirrored := along(1); {
		case mirrored.v < all[0].v:
			if further := along(2); further.v < mirrored.v {
				mirrored = further
			}
			all[n] = mirrored
		case mirrored.v < all[n-1].v:
			all[n] = mirrored
		default:
			if mirrored.v < all[n].v {
				all[n] = mirrored
			}
			if within := along(-0.5); within.v < all[n].v {
				all[n] = within
				continue
			}
			for i := 1; i <= n; i++ { // towards the best
				for j := range all[i].x {
					all[i].x[j] = (all[i].x[j] + all[0].x[j]) / 2
				}
				all[i].v = value(all[i].x)
			}
		}
	}
	return slices.MinFunc(all, lower)
}

// lower orders corners by value.
func lower(a, b corner) int { return cmp.Compare(a.v, b.v) }
