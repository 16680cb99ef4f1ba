package stats

import (
	"math"
	"testing"
)

// Five splits of 80 % and 20 %, by hand: mean 0.03, SD 0.0158114, t of 4 degrees 2.776445, and
// sqrt(1/5 + 1/4) = 0.670820.
func TestResampledT(t *testing.T) {
	x := []float64{0.01, 0.02, 0.03, 0.04, 0.05}
	for _, c := range []struct{ share, least, half float64 }{
		{0.25, 0, 2.776445 * 0.0158114 * 0.670820},
		{0.25, 0.02, 2.776445 * 0.02 * 0.670820},
		{1e-300, 0, 2.776445 * 0.0158114 * 0.447214}, // no correction: Student's
	} {
		got, err := ResampledT(x, c.share, c.least, 0.95)
		if err != nil || math.Abs(got.Lo-(0.03-c.half)) > 1e-6 || math.Abs(got.Hi-(0.03+c.half)) > 1e-6 || got.Level != 0.95 {
			t.Errorf("share %v, least %v: %v, %v, want 0.03 +- %v", c.share, c.least, got, err, c.half)
		}
	}
	for _, c := range []struct {
		x            []float64
		share, least float64
		level        float64
	}{
		{x[:1], 0.25, 0, 0.95}, {nil, 0.25, 0, 0.95}, {x, 0, 0, 0.95}, {x, math.NaN(), 0, 0.95}, {x, math.Inf(1), 0, 0.95}, {x, 0.25, -1, 0.95}, {x, 0.25, math.NaN(), 0.95}, {x, 0.25, 0, 1},
	} {
		if got, err := ResampledT(c.x, c.share, c.least, c.level); err == nil {
			t.Errorf("%+v: %v, want an error", c, got)
		}
	}
}
