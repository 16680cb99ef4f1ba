package rdp

import (
	"math"
	"testing"
)

// A group of one is the sampled Gaussian; a sample of all is the plain Gaussian at k times the sensitivity.
func TestSampledGroupEnds(t *testing.T) {
	for _, c := range []struct{ q, s float64 }{{0.01, 0.6}, {0.2, 1}, {3.5e-4, 0.57}, {0.5, 3}} {
		one, err := SampledGroup(c.q, c.s, 1)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := SampledGaussian(c.q, c.s)
		for _, alpha := range []float64{1, 1.1, 1.5, 2, 7, 40} {
			if a, b := one(alpha), want(alpha); math.Abs(a-b) > 1e-9*b+1e-13/math.Max(1e-2, alpha-1) {
				t.Errorf("rate %v, noise %v, order %v: %.15g, want %.15g", c.q, c.s, alpha, a, b)
			}
		}
	}
	all, err := SampledGroup(1, 2, 5)
	if err != nil || math.Abs(all(3)-3*25.0/8) > 1e-12 {
		t.Errorf("all sampled: %v, %v", all(3), err)
	}
	none, err := SampledGroup(0, 2, 5)
	if err != nil || none(3) != 0 {
		t.Errorf("nothing sampled: %v", err)
	}
	for _, c := range []struct {
		q, s float64
		k    int64
	}{{-0.1, 1, 1}, {1.1, 1, 1}, {0.1, 0, 1}, {0.1, 1, 0}, {math.NaN(), 1, 1}} {
		if _, err := SampledGroup(c.q, c.s, c.k); err == nil {
			t.Errorf("%+v was accepted", c)
		}
	}
}

// At integer orders the moment is a finite sum: over all choices of a number of units for each of alpha factors, with
// exponent ((sum j)² - sum j²)/(2 s²). Minkowski's inequality bounds it, and more units cost more.
func TestSampledGroupMoments(t *testing.T) {
	const q, s, k = 0.07, 0.8, 3
	curve, err := SampledGroup(q, s, k)
	if err != nil {
		t.Fatal(err)
	}
	share := func(j int) float64 {
		return []float64{1, 3, 3, 1}[j] * math.Pow(q, float64(j)) * math.Pow(1-q, float64(k-j))
	}
	for alpha := 2; alpha <= 4; alpha++ {
		moment, choice := 0.0, make([]int, alpha)
		for {
			p, sum, squares := 1.0, 0, 0
			for _, j := range choice {
				p, sum, squares = p*share(j), sum+j, squares+j*j
			}
			moment += p * math.Exp(float64(sum*sum-squares)/(2*s*s))
			i := 0
			for ; i < alpha; i++ {
				if choice[i]++; choice[i] <= k {
					break
				}
				choice[i] = 0
			}
			if i == alpha {
				break
			}
		}
		a := float64(alpha)
		if got, want := curve(a), math.Log(moment)/(a-1); got < want*(1-1e-10) || got > want*(1+1e-10) {
			t.Errorf("order %d: %.15g, by sums %.15g", alpha, got, want)
		}
		minkowski := 0.0
		for j := range k + 1 {
			minkowski += share(j) * math.Exp((a-1)*float64(j*j)/(2*s*s))
		}
		if got, bound := curve(a), a/(a-1)*math.Log(minkowski); got > bound {
			t.Errorf("order %d: %v above the bound %v", alpha, got, bound)
		}
	}
	last := 0.0
	for n := int64(1); n <= 6; n++ {
		c, err := SampledGroup(q, s, n)
		if err != nil || !(c(1.5) > last) {
			t.Errorf("a group of %d: %v after %v, %v", n, c(1.5), last, err)
		}
		last = c(1.5)
	}
}
