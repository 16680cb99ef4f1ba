package pld

import (
	"math"
	"testing"
)

// Ratios of cells and powers are within their few units of exponentials, for fine and for wide cells.
func TestRatios(t *testing.T) {
	for _, h := range []float64{1e-7, 1e-3, 0.015, 0.016, 2} {
		c := &cells{offset: -0.3, h: h, first: -151, p: make([]float64, 302)}
		for i, got := range c.ratios() {
			l := c.loss(c.first + i)
			if want := bigExp(bigOf(l)); !near(got, want, (4+2*math.Abs(l))*unit) {
				t.Errorf("mesh %g: the ratio at %g is %g", h, l, got)
			}
		}
	}
}

// The series of the normal law is within 8 units between its places and at them.
func TestTailSeries(t *testing.T) {
	worst := 0.0
	for i := range 600 {
		y := float64(i) * tailEnd / 600
		for _, y := range []float64{y, math.Nextafter(y, 20), math.Floor(y*tailGrid)/tailGrid + 0.5/tailGrid} {
			if y >= tailEnd {
				continue
			}
			ratio, _ := sub(quo(bigOf(tail(y)), bigUpper(bigOf(y))), bigOf(1)).Float64()
			worst = max(worst, math.Abs(ratio))
		}
	}
	if worst > 8*unit {
		t.Errorf("a tail is off by %g units", worst/unit)
	}
}

func TestLog1p(t *testing.T) {
	for _, w := range []float64{0, 1e-300, -1e-20, 1e-17, 3e-16, -1e-9, 1e-3, -0.5, -1 + 1e-10, 1, 1e10, 1e300} {
		if got, want := log1p(w), math.Log1p(w); math.Abs(got-want) > 4*unit*math.Abs(want) {
			t.Errorf("log1p(%g) is %g, want %g", w, got, want)
		}
	}
	if got := log1p(-1); !math.IsInf(got, -1) {
		t.Errorf("log1p(-1) is %g", got)
	}
}
