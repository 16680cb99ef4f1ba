package terms

import (
	"errors"
	"math"
	"testing"

	"privrec/internal/privacy"
)

// TestExposed compares with the product of the probabilities to be in none.
func TestExposed(t *testing.T) {
	for _, c := range []struct {
		rate     float64
		releases int64
		want     float64
	}{
		{1, 1, 1}, {1, 7, 1}, {0.25, 1, 0.25}, {1e-5, 1, 1e-5}, {0.5, 3, 0.875}, {0.1, 2, 0.19},
		{1e-9, 1000, 1e-6 * (1 - 499.5e-9)}, {0.01, 1 << 40, 1},
	} {
		if got := Exposed(c.rate, c.releases); math.Abs(got/c.want-1) > 1e-12 {
			t.Errorf("%d releases at rate %v expose %v, want %v", c.releases, c.rate, got, c.want)
		}
	}
	for name, c := range map[string]struct {
		event privacy.Event
		count int64
		want  float64
	}{
		"nothing sampled":  {gauss, 1, 1},
		"sampled":          {poisson(gauss, 0.1), 2, 0.19},
		"of fixed size":    {fixed(gauss, 0.1), 2, 0.19},
		"two kinds":        {all(poisson(gauss, 0.5), poisson(lap, 0.5)), 1, 0.75},
		"one batch, twice": {poisson(all(gauss, loud), 0.5), 1, 0.5},
		"parallel":         {split(poisson(gauss, 0.5), poisson(lap, 0.1)), 2, 0.75},
		"nothing at all":   {split(bare), 1, 0},
	} {
		if got := flatten(t, c.event, c.count).Exposed(); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestCheckDelta refuses a delta from the probability on, however that was rounded.
func TestCheckDelta(t *testing.T) {
	for _, rate := range []float64{1e-9, 1e-5, 0.01, 0.3, 1} {
		for _, n := range []int64{1, 2, 1000} {
			p := Exposed(rate, n)
			for _, delta := range []float64{p, math.Nextafter(p, 0), math.Min(1, 2*p), 1} {
				if err := CheckDelta(delta, p); !errors.Is(err, ErrDelta) {
					t.Errorf("delta %v passes where %v are exposed: %v", delta, p, err)
				}
			}
			if err := CheckDelta(p*0.999, p); err != nil {
				t.Errorf("delta %v where %v are exposed: %v", p*0.999, p, err)
			}
		}
	}
	for _, p := range []float64{0, -1, 1.1, math.NaN()} {
		if err := CheckDelta(1e-5, p); err == nil || errors.Is(err, ErrDelta) {
			t.Errorf("a probability of %v: %v", p, err)
		}
	}
}
