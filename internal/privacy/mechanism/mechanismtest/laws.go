package mechanismtest

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// GoodFit fails the test if counts do not fit probabilities by chi-square. Cells with an expected count below ten are
// merged. Right counts exceed the bound with probability below 1e-9 (Laurent and Massart, x = 21, for large counts).
func GoodFit(t *testing.T, name string, counts, probabilities []float64) {
	t.Helper()
	n := 0.0
	for _, c := range counts {
		n += c
	}
	chi, free, restC, restP := 0.0, 0.0, 0.0, 0.0
	for i, p := range probabilities {
		if e := n * p; e >= 10 {
			chi += (counts[i] - e) * (counts[i] - e) / e
			free++
		} else {
			restC, restP = restC+counts[i], restP+p
		}
	}
	if e := n * restP; e >= 10 {
		chi += (restC - e) * (restC - e) / e
		free++
	} else if restC > 10+e+12*math.Sqrt(e+1)+21 {
		t.Errorf("%s: %g outcomes of probability %g in all, of %g", name, restC, restP, n)
	}
	if limit := free + 2*math.Sqrt(free*21) + 42; chi > limit {
		t.Errorf("%s: chi-square %.1f over %g outcomes, want at most %.1f", name, chi, free, limit)
	}
}

// CheckCounts fails the test if counts do not fit their probabilities by chi-square. Cells with an expected count below
// 20 are merged. Right counts fail with probability 1e-9.
func CheckCounts(t testing.TB, what string, counts []int, p func(i int) float64) bool {
	t.Helper()
	n := 0
	for _, c := range counts {
		n += c
	}
	x, cells := 0.0, 0
	restGot, restWant := 0.0, 0.0
	for i, c := range counts {
		want := float64(n) * p(i)
		if want < 20 {
			restGot, restWant = restGot+float64(c), restWant+want
			continue
		}
		x += (float64(c) - want) * (float64(c) - want) / want
		cells++
	}
	if restWant >= 20 {
		x += (restGot - restWant) * (restGot - restWant) / restWant
		cells++
	} else if restGot > restWant+6.11*math.Sqrt(restWant)+14 { // Bernstein
		t.Errorf("%s: %g values in cells that expect %g", what, restGot, restWant)
		return false
	}
	chi := distuv.ChiSquared{K: float64(cells - 1)}
	if cells > 1 && chi.Survival(x) < 1e-9 {
		t.Errorf("%s: chi-square %.1f with %d degrees of freedom", what, x, cells-1)
		return false
	}
	return true
}

// CheckLaw draws n integers and fails the test if they do not fit a law, in cells of the given width around 0, up to 60
// on either side, and in the two tails.
func CheckLaw(t testing.TB, what string, n int, width int64, draw func() int64, pmf func(k int64) float64) bool {
	const half = 60
	counts := make([]int, 2*half+3)
	cell := func(k int64) int {
		return int(max(-half-1, min(half+1, math.Floor(float64(k)/float64(width)+0.5)))) + half + 1
	}
	for range n {
		counts[cell(draw())]++
	}
	p := make([]float64, len(counts))
	rest := 1.0
	for c := 1; c < len(p)-1; c++ {
		from := int64(math.Ceil((float64(c-half-1) - 0.5) * float64(width)))
		if width < 1<<12 {
			for k := from; cell(k) == c; k++ {
				p[c] += pmf(k)
			}
		} else { // Simpson's rule: the law hardly changes within a cell
			p[c] = float64(width) / 6 * (pmf(from) + 4*pmf(from+width/2) + pmf(from+width))
		}
		rest -= p[c]
	}
	p[0], p[len(p)-1] = max(0, rest/2), max(0, rest/2)
	return CheckCounts(t, what, counts, func(i int) float64 { return p[i] })
}

// Quiet is a test that ignores failures, to run planted faults.
type Quiet struct{ testing.TB }

// Errorf ignores the failure.
func (Quiet) Errorf(string, ...any) {}

// Helper does nothing.
func (Quiet) Helper() {}

// Sigmas is the number of standard deviations that a normal statistic exceeds, on either side,
// with probability 1e-9.
const Sigmas = 6.11
