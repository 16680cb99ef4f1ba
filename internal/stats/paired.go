package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Test holds the outcome of a test: its statistic, the two-sided p-value and the number of pairs used.
type Test struct {
	Name      string
	Statistic float64
	P         float64
	N         int
}

// ErrNoDifference is returned if all pairs are equal, so that there is nothing to test.
var ErrNoDifference = errors.New("all pairs are equal")

// rounding is the relative difference of scores that may be due to arithmetic: scores that went through a few sums and
// quotients agree to about 1e-15, and no real effect is as small as 1e-12.
const rounding = 1e-12

// differences returns a-b and the largest absolute score. It fails if lengths differ or a difference is not finite.
func differences(a, b []float64) (d []float64, largest float64, err error) {
	if len(a) != len(b) {
		return nil, 0, fmt.Errorf("paired test: %d scores against %d", len(a), len(b))
	}
	d = make([]float64, len(a))
	for i := range a {
		d[i] = a[i] - b[i]
		if math.IsNaN(d[i]) || math.IsInf(d[i], 0) {
			return nil, 0, fmt.Errorf("paired test: pair %d (%v, %v) has no finite difference", i, a[i], b[i])
		}
		largest = max(largest, math.Abs(a[i]), math.Abs(b[i]))
	}
	return d, largest, nil
}

// ErrNoSpread is returned if all values are equal: no variance can be estimated from them, and an interval would have
// no width.
var ErrNoSpread = errors.New("all values are equal, so that nothing says how far they spread")

// spreads reports whether values differ by more than the rounding of the largest of them.
func spreads(x []float64, largest float64) bool {
	return len(x) > 0 && slices.Max(x)-slices.Min(x) > rounding*largest
}

// Sign returns the exact sign test of the hypothesis that differences a-b are equally often above and below 0. It drops
// equal pairs; a difference of at most 1e-12 of the largest score counts as none. It needs no variance, so it has an
// answer even if all n pairs differ by the same amount: 2^(1-n). The statistic is the number of positive differences.
// It fails on fewer than two pairs and if all are equal.
func Sign(a, b []float64) (Test, error) {
	d, largest, err := differences(a, b)
	if err != nil {
		return Test{}, err
	}
	if len(d) < 2 {
		return Test{}, fmt.Errorf("sign test: %d pairs, at least 2 are needed", len(d))
	}
	above, n := 0, 0
	for _, v := range d {
		if math.Abs(v) <= rounding*largest {
			continue
		}
		if n++; v > 0 {
			above++
		}
	}
	if n == 0 {
		return Test{}, fmt.Errorf("sign test: %w", ErrNoDifference)
	}
	fewer, tail := min(above, n-above), 0.0
	// Binomial weights, each from the one before, in units that keep them within a float64.
	weight, exponent := 1.0, -n
	for k := range fewer + 1 {
		tail += weight
		weight *= float64(n-k) / float64(k+1)
		if tail > 1e200 {
			tail, weight, exponent = tail*0x1p-600, weight*0x1p-600, exponent+600
		}
	}
	tail = math.Ldexp(tail, exponent)
	return Test{"exact sign", float64(above), max(min(1, 2*tail), math.SmallestNonzeroFloat64), n}, nil
}

// PairedT returns Student's test of mean(a-b) = 0 with n-1 degrees of freedom. It fails on fewer than two pairs, and if
// all differences are equal; a spread of at most 1e-12 of the largest score counts as rounding.
func PairedT(a, b []float64) (Test, error) {
	d, largest, err := differences(a, b)
	if err != nil {
		return Test{}, err
	}
	if len(d) < 2 {
		return Test{}, fmt.Errorf("paired t test: %d pairs, at least 2 are needed", len(d))
	}
	if !spreads(d, largest) {
		if math.Abs(d[0]) <= rounding*largest {
			return Test{}, fmt.Errorf("paired t test: %w", ErrNoDifference)
		}
		return Test{}, fmt.Errorf("paired t test: all pairs differ by %v: %w", d[0], ErrNoSpread)
	}
	t := Mean(d) / StdErr(d)
	p := 2 * studentTail(t, float64(len(d)-1))
	return Test{"paired t", t, p, len(d)}, nil
}

// exactWilcoxon is the largest number of pairs for which the exact distribution is enumerated.
const exactWilcoxon = 50

// Wilcoxon returns the signed rank test of the hypothesis that differences a-b are symmetric about 0.
// It drops equal pairs, as Wilcoxon did, and gives tied sizes their mean rank. It first rounds differences to 1e-12 of
// the largest score, so that 0.3-0.2 and 0.2-0.1 are tied. Up to 50 pairs the p-value is exact given the ties. Beyond,
// it is the normal approximation with tie correction and without continuity correction. The statistic is the smaller of
// the two rank sums.
func Wilcoxon(a, b []float64) (Test, error) {
	d, largest, err := differences(a, b)
	if err != nil {
		return Test{}, err
	}
	if unit := rounding * largest; unit > 0 {
		for i := range d {
			d[i] = math.Round(d[i] / unit) // only signs and order matter from here on
		}
	}
	d = slices.DeleteFunc(d, func(v float64) bool { return v == 0 })
	if len(d) == 0 {
		return Test{}, fmt.Errorf("wilcoxon test: %w", ErrNoDifference)
	}
	slices.SortFunc(d, func(x, y float64) int { return cmp.Compare(math.Abs(x), math.Abs(y)) })
	// Ranks are kept doubled, so that mean ranks of ties stay whole numbers.
	doubled := make([]int, len(d))
	plus, total, tieTerm := 0, 0, 0.0
	for lo := 0; lo < len(d); {
		hi := lo + 1
		for hi < len(d) && math.Abs(d[hi]) == math.Abs(d[lo]) {
			hi++
		}
		for i := lo; i < hi; i++ {
			doubled[i] = lo + hi + 1
			total += doubled[i]
			if d[i] > 0 {
				plus += doubled[i]
			}
		}
		ties := float64(hi - lo)
		tieTerm += ties*ties*ties - ties
		lo = hi
	}
	smaller := min(plus, total-plus)
	var p float64
	if len(d) <= exactWilcoxon {
		p = min(1, 2*signedRankCDF(doubled, total, smaller))
	} else {
		n := float64(len(d))
		variance := n*(n+1)*(2*n+1)/24 - tieTerm/48
		z := (float64(smaller)/2 - float64(total)/4) / math.Sqrt(variance)
		p = math.Erfc(-z / math.Sqrt2)
	}
	return Test{"wilcoxon signed rank", float64(smaller) / 2, p, len(d)}, nil
}

// signedRankCDF returns P(sum of a random subset of the ranks <= at) over all 2^n equally likely sign patterns.
func signedRankCDF(ranks []int, total, at int) float64 {
	share := make([]float64, total+1) // share[s] = P(sum of the ranks so far = s)
	share[0] = 1
	reach := 0
	for _, r := range ranks {
		reach += r
		for s := reach; s >= r; s-- {
			share[s] = (share[s] + share[s-r]) / 2
		}
		for s := min(r, reach) - 1; s >= 0; s-- {
			share[s] /= 2
		}
	}
	sum := 0.0
	for _, v := range share[:at+1] {
		sum += v
	}
	return sum
}

// Holm returns p-values adjusted for len(p) tests (step-down Bonferroni; Holm 1979): rejecting hypothesis i where
// out[i] <= alpha has a family-wise error of at most alpha under any dependence.
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("holm correction: p-value %d is %v", i, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	out, highest := make([]float64, len(p)), 0.0
	for step, i := range order {
		highest = max(highest, min(1, float64(len(p)-step)*p[i]))
		out[i] = highest
	}
	return out, nil
}
