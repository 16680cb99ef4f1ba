package enumerate

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/channel"
	"privrec/internal/run"
)

// LapGraph asks for the output distribution of LapGraph on all matrices of a size: a noisy count with Laplace noise,
// then as many cells, those with the largest noisy values. Noise is in real numbers: the output is a set of cells, and
// its probability an integral of exponentials, which is a sum of powers and one logarithm. They are computed in
// interval arithmetic.
//
// The probability that a set S is the top cells depends only on the numbers of ones and zeros inside and outside it, so
// all matrices and all outputs reduce to a few hundred cases.
type LapGraph struct {
	Rows, Cols int
	Epsilon    float64 // of one edge, count and cells together
	Share      float64 // of epsilon for the count; 0: 0.01
	Count      string  // rounded or truncated
}

// Variants of the count: with its noise rounded, as in this program, or with its noise cut to a whole number before it
// is added, as in the published code.
const (
	CountRounded   = "rounded"
	CountTruncated = "truncated"
)

// maxCells bounds the cells of a matrix, since the work grows with their fifth power.
const maxCells = 12

// lapLaw computes the output distribution of LapGraph on a number of cells.
type lapLaw struct {
	cells     int
	truncated bool
	eps2      *big.Rat // 1 / scale of the cells' noise
	half      interval // e^(-1/2 / scale of the count's noise)
	x         interval // e^eps2
	tops      map[[4]int]interval
}

// Answer computes the distribution.
func (q *LapGraph) Answer() (*Answer, error) {
	share := q.Share
	if share == 0 {
		share = 0.01
	}
	cells := q.Rows * q.Cols
	switch {
	case !(q.Epsilon >= 0x1p-10 && q.Epsilon <= 16):
		return nil, run.Usagef("", "--epsilon is %v, want 2^-10 to 16", q.Epsilon)
	case !(share >= 0.001 && share <= 0.999):
		return nil, run.Usagef("", "--count-share is %v, want 0.001 to 0.999", q.Share)
	case q.Count != CountRounded && q.Count != CountTruncated:
		return nil, run.Usagef("", "--count is %q, want %s or %s", q.Count, CountRounded, CountTruncated)
	case q.Rows < 1 || q.Cols < 1 || q.Rows > maxCells || q.Cols > maxCells || cells > maxCells:
		return nil, run.Usagef("take --rows or --cols smaller",
			"%d x %d cells: the law takes about %.3g products of sums of powers, and an answer may have %d cells",
			q.Rows, q.Cols, math.Pow(float64(q.Rows)*float64(q.Cols), 5), maxCells)
	}
	l, err := newLapLaw(cells, q.Epsilon, share, q.Count == CountTruncated)
	if err != nil {
		return nil, err
	}
	a := &Answer{Title: "Exact audit of LapGraph, count " + q.Count, Epsilon: q.Epsilon,
		At:   fmt.Sprintf("%.6g, of one edge; %.6g of it for the count", q.Epsilon, share*q.Epsilon),
		Size: fmt.Sprintf("all %d matrices of %d x %d cells", 1<<cells, q.Rows, q.Cols),
		Law: "that of noise in real numbers, by integrals in interval arithmetic with proved errors; noise in " +
			"floating point is not covered",
		Claim: "epsilon for one edge more or less (Wu, Long, Zhang, Li, LinkTeller, IEEE S&P 2022)"}
	return a, l.worst(a, q)
}

func newLapLaw(cells int, epsilon, share float64, truncated bool) (*lapLaw, error) {
	b1, err := channel.LaplaceScale(share*epsilon, 1)
	if err != nil {
		return nil, err
	}
	b2, err := channel.LaplaceScale((1-share)*epsilon, 1)
	if err != nil {
		return nil, err
	}
	inverse := func(b float64) *big.Rat { return new(big.Rat).Inv(new(big.Rat).SetFloat64(b)) }
	l := &lapLaw{cells: cells, truncated: truncated, eps2: inverse(b2), tops: map[[4]int]interval{}}
	l.half = exp(new(big.Rat).Mul(inverse(b1), big.NewRat(-1, 2)))
	l.x = exp(l.eps2)
	return l, nil
}

// worst adds the largest ratio over all outputs and all pairs that differ in one edge.
func (l *lapLaw) worst(a *Answer, q *LapGraph) error {
	var best interval
	c := Class{Neighbours: "an edge more or less", Pairs: l.cells << (l.cells - 1), Claimed: privacy.Number(q.Epsilon),
		Recorded: privacy.Number(q.Epsilon)}
	for ones := range l.cells {
		for k := range l.cells + 1 {
			for in := max(0, k-(l.cells-ones)); in <= min(ones, k); in++ {
				zeros, out, rest := k-in, ones-in, l.cells-ones-(k-in)
				p := l.probability(in, zeros, out, rest)
				for _, next := range [][4]int{{in + 1, zeros - 1, out, rest}, {in, zeros, out + 1, rest - 1}} {
					// one of the zeros becomes a one
					if next[1] < 0 || next[3] < 0 {
						continue
					}
					r := l.probability(next[0], next[1], next[2], next[3])
					for _, more := range []bool{false, true} {
						x, y := p, r
						if more {
							x, y = r, p
						}
						if ratio := x.quo(y); best.lo == nil || ratio.lo.Cmp(best.lo) > 0 {
							best = ratio
							c.Example = l.example(q, [4]int{in, zeros, out, rest}, next, more, x, y)
						} else if ratio.hi.Cmp(best.hi) > 0 {
							best.hi = ratio.hi
						}
					}
				}
			}
		}
	}
	lo, hi := best.log()
	c.Epsilon, c.Error = privacy.Number(hi), math.Nextafter(hi-lo, 1)+0x1p-50
	f, _ := best.hi.Float64()
	c.Ratio = fmt.Sprintf("%.12g", f)
	bound := exp(new(big.Rat).SetFloat64(q.Epsilon))
	switch {
	case best.lo.Cmp(bound.hi) > 0:
		c.Verdict = exceeds
	case best.hi.Cmp(bound.lo) <= 0:
		c.Verdict = isBelow
	default:
		return fmt.Errorf("the worst ratio and e^epsilon agree to %g: neither is known to be larger", hi-lo)
	}
	a.Classes = []Class{c}
	a.conclude()
	return nil
}

// example returns a pair of matrices and an output as text. Cells in the output come first.
func (l *lapLaw) example(q *LapGraph, one, two [4]int, more bool, p, r interval) *Example {
	of := func(c [4]int) string {
		return strings.Repeat("1", c[0]) + strings.Repeat("0", c[1]) + strings.Repeat("1", c[2]) + strings.Repeat("0",
			c[3])
	}
	if more {
		one, two = two, one
	}
	show := func(x interval) string {
		f, _ := x.lo.Float64()
		return fmt.Sprintf("%.12g", f)
	}
	k := one[0] + one[1]
	return &Example{From: rowsOf(of(one), q.Cols), Against: rowsOf(of(two), q.Cols),
		Output: rowsOf(strings.Repeat("1", k)+strings.Repeat("0", l.cells-k), q.Cols), Probability: show(p),
		Other: show(r)}
}

// probability returns the probability of one output that contains in ones and zeros zeros of the matrix. Outside it are
// out ones and rest zeros.
func (l *lapLaw) probability(in, zeros, out, rest int) interval {
	return l.count(in+out, in+zeros).mul(l.top(in, zeros, out, rest))
}

// count returns the probability that a matrix with this number of ones gets an output of k cells.
func (l *lapLaw) count(ones, k int) interval {
	switch {
	case k == 0:
		return whole(1).sub(l.atLeast(1 - ones))
	case k == l.cells:
		return l.atLeast(k - ones)
	}
	return l.atLeast(k - ones).sub(l.atLeast(k + 1 - ones))
}

// atLeast returns the probability that the whole number made from the count's noise is at least j.
func (l *lapLaw) atLeast(j int) interval {
	halves := 2*j - 1 // noise of at least j - 1/2
	if l.truncated {  // from j on above 0; anything above j - 1 at 0 and below
		if halves = 2 * j; j <= 0 {
			halves = 2 * (j - 1)
		}
	}
	half := rational(big.NewRat(1, 2))
	if halves < 0 {
		return whole(1).sub(half.mul(l.half.power(-halves)))
	}
	return half.mul(l.half.power(halves))
}

// top returns the probability that the cells of a set are the largest, with noise of scale 1/eps2: a ones
// and b zeros in it, c ones and d zeros outside. It is the integral over t of the density of the largest
// outside at t times the probability that all inside are above t. With u = e^(-eps2 t) above 0 and
// w = e^(eps2 t) below, all of these are powers of u or w:
//
//	            zero above t    one above t
//	t > 1       u/2             x u/2
//	0 < t < 1   u/2             1 - 1/(2 x u)
//	t < 0       1 - w/2         1 - w/(2 x)
func (l *lapLaw) top(a, b, c, d int) interval {
	key := [4]int{a, b, c, d}
	if p, ok := l.tops[key]; ok {
		return p
	}
	if a+b == 0 || c+d == 0 {
		return whole(1)
	}
	half, unit := rational(big.NewRat(1, 2)), whole(1)
	invX := unit.quo(l.x)
	part := func(zero, one series, from, to, logs interval) interval {
		complement := func(s series) series {
			r := series{0: unit}
			for i, v := range s {
				if was, ok := r[i]; ok {
					r[i] = was.sub(v)
				} else {
					r[i] = v.neg()
				}
			}
			return r
		}
		inside := zero.power(b).times(one.power(a))
		outside := complement(zero).power(d).times(complement(one).power(c))
		return inside.times(outside.derivative()).integral(from, to, logs)
	}
	nothing := whole(0)
	p := part(series{1: half}, series{1: half.mul(l.x)}, invX, nothing, nothing) // t from 1 up, u from 1/x down
	p = p.add(part(series{1: half}, series{0: unit, -1: half.mul(invX).neg()}, unit, invX,
		rational(new(big.Rat).Neg(l.eps2))))
	p = p.add(part(series{0: unit, 1: half.neg()}, series{0: unit, 1: half.mul(invX).neg()}, nothing, unit, nothing))
	l.tops[key] = p
	return p
}
