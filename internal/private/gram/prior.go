package gram

import (
	"math"
	"slices"
)

// apart is the one public constant of the prior, the same for all data: the variance of a public entry as an estimate
// of the released one, relative to its square, in the unit of the error that the removal of noise leaves. The package
// comment says how it was chosen.
const apart = 6

// hidden reports whether noise of this deviation hides the released counts on the items that public users have: their
// sum is within two deviations of 0. The releases then say nothing beside public rows.
func (p *public) hidden(counts []float64, deviation float64) bool {
	sum, n := 0.0, 0
	for i, v := range p.counts.values {
		if v > 0 {
			sum, n = sum+counts[i], n+1
		}
	}
	return sum <= 2*deviation*math.Sqrt(float64(n))
}

// factor returns what public sums are multiplied by before they are added to n released entries with noise of this
// deviation: deviation / (g · (apart + spread)), with g the root mean square of the public sums on these entries, and
// squares the sum of their squares. It returns 0 if public users have nothing there.
func factor(deviation, squares, spread float64, n int) float64 {
	if squares == 0 {
		return 0
	}
	return deviation / (math.Sqrt(squares/float64(n)) * (apart + spread))
}

// addCounts returns released counts with the public counts added, times a factor.
func (p *public) addCounts(counts []float64, deviation float64) []float64 {
	n := 0
	for _, v := range p.counts.values {
		if v > 0 {
			n++
		}
	}
	f := factor(deviation, p.counts.squares, p.counts.spread, n)
	out := slices.Clone(counts)
	for i, v := range p.counts.values {
		out[i] += f * v
	}
	return out
}

// add returns a matrix g of a plan's items, without weights, and its diagonal, with the public matrix added, times
// factor. The result has the items of both; what g lacks is 0 there. Rows and columns of public items are then
// multiplied by one number, so that the diagonal of those that the plan has sums to what it did: items that public
// users lack are as large beside them as released. unit is the mean of the diagonal over the plan's items.
func (p *public) add(g square, diagonal []float64, plan *Plan) (out square, sum []float64, items []int32,
	unit float64) {
	squares, was := 0.0, 0.0
	at := make([]int, len(plan.Items)) // in the public matrix; -1: not there
	for r, i := range plan.Items {
		k, ok := slices.BinarySearch(p.items, i)
		if at[r] = k; !ok {
			at[r] = -1
			continue
		}
		was += diagonal[r]
		for q := range r + 1 {
			if at[q] >= 0 {
				v := p.square.row(k)[at[q]] * plan.Weights[r] * plan.Weights[q]
				squares += v * v
			}
		}
	}
	f := factor(plan.Sum.Deviation(), squares, p.matrix.spread, g.n*(g.n+1)/2)
	if f == 0 {
		return g, diagonal, plan.Items, mean(diagonal)
	}
	items = slices.Concat(plan.Items, p.items)
	slices.Sort(items)
	items = slices.Compact(items)
	out, sum = newSquare(len(items)), make([]float64, len(items))
	place := func(some []int32) []int {
		rows := make([]int, len(some))
		for r, i := range some {
			rows[r], _ = slices.BinarySearch(items, i)
		}
		return rows
	}
	addTo := func(rows []int, from square, d []float64, by float64) {
		for r, i := range rows {
			for q, v := range from.row(r) {
				out.row(i)[rows[q]] += by * v
			}
			sum[i] += by * d[r]
		}
	}
	ours, theirs := place(plan.Items), place(p.items)
	addTo(ours, g, diagonal, 1)
	addTo(theirs, p.square, p.square.diagonal(), f)
	now := 0.0
	for r, i := range ours {
		if at[r] >= 0 {
			now += sum[i]
		}
	}
	by := math.Sqrt(was / now)
	for _, i := range theirs {
		for j := range items {
			out.row(i)[j] *= by
			out.row(j)[i] *= by
		}
		sum[i] *= was / now
	}
	for _, i := range ours {
		unit += sum[i] / float64(len(ours))
	}
	return out, sum, items, unit
}
