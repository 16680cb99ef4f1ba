package pld

import (
	"context"
	"math"
	"testing"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// outcomes is delta of n releases of Gaussian noise on vectors of any length, each with probability q and
// otherwise of nothing: a mixture of compositions of k Gaussians, k binomial.
func outcomes(sigma, q, n, eps float64) float64 {
	p, sum := math.Exp(n*math.Log1p(-q)), 0.0
	for k := 1.0; k < 200; k++ {
		p *= (n - k + 1) / k * (q / (1 - q))
		d, _ := gaussianDelta(math.Sqrt(k)/sigma, eps).Float64()
		sum += p * d
	}
	return sum
}

// TestManyReleasesHold: what the rounding of one release's sum of masses does to many releases is in the
// bounds. Plain sums are off by some 1e-13, and a million times that showed: the upper end was below.
func TestManyReleasesHold(t *testing.T) {
	for _, c := range []struct {
		sigma, q, eps float64
		n             int64
		bins          int
	}{
		{24.683788213007197, 1.4764015048272413e-08, 1, 389481944, 1 << 19},
		{0.5369496633, 2.3480103242432373e-05, 3, 382993, 1 << 17},
		{0.5369496633, 2.3480103242432373e-05, 3, 1628075, 1 << 17},
	} {
		ts := []terms.Term{{Leaf: privacy.Gaussian{Sigma: c.sigma, Sensitivity: 1, Unit: user, Neighbouring: privacy.Replace},
			Rate: c.q, Method: privacy.Poisson, Relation: privacy.Replace, Count: c.n}}
		b, err := DeltaBracket(context.Background(), ts, c.eps, Options{Bins: c.bins})
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		want := outcomes(c.sigma, c.q, float64(c.n), c.eps)
		if !(b.Upper >= want*(1-1e-12)) {
			t.Errorf("%v: upper %v is below %v, by %.2g of it", c, b.Upper, want, 1-b.Upper/want)
		}
		if b.Upper > want*1.01 {
			t.Errorf("%v: upper %v is far above %v", c, b.Upper, want)
		}
	}
}

// TestLowerEndInTheMiddle: a lower bound that rounding makes 0 at the start of the window is found where it
// is above delta.
func TestLowerEndInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		sigma, rate, delta float64
		n                  int64
		bins               int
		width              float64 // relative, at most
	}{
		{0.24630479738455682 / 2, 1, 1e-15, 4179, 1 << 17, 1e-4},
		{0.0634515483254537 / 2, 1, 1e-30, 583, 1 << 17, 1e-4},
		{0.3373512345276234, 0.061403857809855307, 1e-100, 25, 1 << 18, 1e-4},
	} {
		ts := []terms.Term{{Leaf: privacy.Gaussian{Sigma: c.sigma, Sensitivity: 1, Unit: user, Neighbouring: privacy.AddRemove},
			Rate: c.rate, Relation: privacy.AddRemove, Count: c.n}}
		if c.rate < 1 {
			ts[0].Method = privacy.Poisson
		}
		b, err := Bracket(context.Background(), ts, c.delta, Options{Bins: c.bins})
		if err != nil {
			t.Errorf("%v: %v", c, err)
			continue
		}
		if w := (b.Upper - b.Lower) / b.Upper; !(w <= c.width) {
			t.Errorf("%v: bracket from %v to %v, relative width %.2g", c, b.Lower, b.Upper, w)
		}
	}
}

// TestEdgeOfSampledLosses: the least loss of a sampled release is an edge of its law, although the loss of the
// release that it is computed back to may round to a number above the edge. The mass between counted as that of
// an infinite loss.
func TestEdgeOfSampledLosses(t *testing.T) {
	b, err := Bracket(context.Background(), []terms.Term{laplaceTerm(0.024986229572957177, 6.502711520576273, 524234)}, 1e-100, Options{Bins: 1 << 15})
	if err != nil || !(b.Lower > 60 && b.Upper < 62) {
		t.Errorf("bracket %+v, want one within 60 and 62: %v", b, err)
	}
}
