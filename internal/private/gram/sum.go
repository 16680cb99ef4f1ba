package gram

import (
	"math"
	"slices"

	"privrec/internal/private/release"
	"privrec/internal/tensor"
)

// Purpose names the release of the matrix in ledgers.
const Purpose = "item matrix"

// Plan defines a user's term of the sum. It depends on settings and on releases. It can be written as JSON, for workers
// elsewhere: floats keep all their bits.
type Plan struct {
	Items    []int32   // the matrix's rows, by item; the order is that of the rows
	Weights  []float64 // s, of the rows
	Most     int       // k
	Exponent float64   // a
	Sum      release.Sum
	// Prefer holds every item's weight in the random choice of contributions.
	Prefer []float64
}

// gridBits sets the grid of the sum: 2^-20 times a power of two that is at most the sensitivity.
const gridBits = 20

// newPlan returns the Plan of a matrix of these items with weights.
func newPlan(items []int32, weights []float64, most int, exponent float64) *Plan {
	p := &Plan{Items: items, Weights: weights, Most: most, Exponent: exponent}
	d := 1.0
	if exponent < 1 {
		d = math.Pow(p.longest(), 1-exponent)
	}
	_, e := math.Frexp(d) // d is at least 2^(e-1)
	p.Sum = release.Sum{Purpose: Purpose, Sensitivity: d, Dimension: most * (most + 1) / 2,
		Grid: math.Ldexp(1, e-1-gridBits)}
	return p
}

// longest returns the largest possible norm of z z' on and above its diagonal, which the largest weights give.
func (p *Plan) longest() float64 {
	w := slices.Clone(p.Weights)
	slices.Sort(w)
	slices.Reverse(w)
	return norm(w[:min(p.Most, len(w))])
}

// norm returns the l2 norm of z z' on and above the diagonal: sqrt((|z|⁴ + sum of z_i⁴)/2).
func norm(z []float64) float64 {
	two, four := 0.0, 0.0
	for _, v := range z {
		two += v * v
		four += v * v * v * v
	}
	return math.Sqrt((two*two + four) / 2)
}

// step returns the term's entry for two weights in whole steps of the grid, rounded towards 0.
func (p *Plan) step(scale, a, b float64) int64 { return int64(scale * (a * b)) }

// scale returns the factor of a user's entries, in steps of the grid: N^-a, with N the norm of z z'. It computes the
// sum of the squared entries in integers, and lowers the factor until that is at most the squared sensitivity.
func (p *Plan) scale(rows []int32) float64 {
	z := make([]float64, len(rows))
	for k, r := range rows {
		z[k] = p.Weights[r]
	}
	n := norm(z)
	if n == 0 {
		return 0
	}
	scale := math.Pow(n, -p.Exponent) / p.Sum.Grid
	for limit := p.limit(); p.squares(scale, z) > limit; {
		scale *= 1 - 0x1p-40
	}
	return scale
}

// limit returns the squared sensitivity in steps of the grid, rounded down. A sensitivity is below 2^21 steps, so the
// square is exact but for the rounding of the last digit, which is subtracted.
func (p *Plan) limit() uint64 {
	d := p.Sum.Sensitivity / p.Sum.Grid
	if d == math.Trunc(d) {
		return uint64(d) * uint64(d)
	}
	return uint64(math.Nextafter(d*d, 0))
}

// squares returns the sum of the squared entries on and above the diagonal.
func (p *Plan) squares(scale float64, z []float64) (sum uint64) {
	for i, a := range z {
		for _, b := range z[i:] {
			q := uint64(p.step(scale, a, b))
			sum += q * q
		}
	}
	return sum
}

// triangle sums the terms of all users. contributed lists their items, each at most k, all of them rows of the matrix.
// It returns the upper triangle of the sum, row by row, as multiples of the grid. Sums of whole steps are exact in any
// order.
func (p *Plan) triangle(contributed [][]int32) []float64 {
	m := len(p.Items)
	place := map[int32]int32{}
	for r, i := range p.Items {
		place[i] = int32(r)
	}
	rows, scales := make([][]int32, len(contributed)), make([]float64, len(contributed))
	tensor.Parallel(len(contributed), 64, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			rows[u] = make([]int32, len(contributed[u]))
			for k, i := range contributed[u] {
				rows[u][k] = place[i]
			}
			slices.Sort(rows[u])
			scales[u] = p.scale(rows[u])
		}
	})
	type at struct{ user, from int32 }
	users := make([][]at, m) // who has a row, and where it stands in theirs
	for u, list := range rows {
		for k, r := range list {
			users[r] = append(users[r], at{int32(u), int32(k)})
		}
	}
	out := make([]float64, m*(m+1)/2)
	tensor.Parallel(m, 1, func(_, lo, hi int) {
		steps := make([]int64, m)
		for i := lo; i < hi; i++ {
			clear(steps[i:])
			for _, x := range users[i] {
				for _, j := range rows[x.user][x.from:] {
					steps[j] += p.step(scales[x.user], p.Weights[i], p.Weights[j])
				}
			}
			row := out[start(m, i):]
			for j := i; j < m; j++ {
				row[j-i] = float64(steps[j]) * p.Sum.Grid
			}
		}
	})
	return out
}

// start returns the index at which row i of the upper triangle of an (m, m) matrix begins.
func start(m, i int) int { return i*m - i*(i-1)/2 }
