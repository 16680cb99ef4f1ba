package report

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// logarithmic makes an axis over positive values logarithmic.
func logarithmic(a *plot.Axis) {
	if a.Min == a.Max { // one value: show a factor around it
		a.Min, a.Max = a.Min/2, a.Max*2
	}
	a.Scale, a.Tick.Marker = logScale{}, logTicks{}
}

// logScale is gonum's LogScale without its panics: a value that rounding puts beyond an end is drawn at that end.
type logScale struct{}

// Normalize maps [lo, hi] to [0, 1].
func (logScale) Normalize(lo, hi, x float64) float64 {
	return (math.Log(math.Max(x, lo/2)) - math.Log(lo)) / (math.Log(hi) - math.Log(lo))
}

// logTicks labels powers of ten. With fewer than three of them it adds their double and
// fivefold; if those are too few as well, it labels round numbers as on a linear axis. It makes
// at most about nine labels.
type logTicks struct{}

// Ticks lists the marks between two positive values.
func (logTicks) Ticks(lo, hi float64) []plot.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	decades := math.Log10(hi / lo)
	if decades < 0.7 {
		return plainTicks(lo, hi)
	}
	every := 1 + int(decades)/9
	var out []plot.Tick
	for e := first; e <= last; e++ {
		for m := 1; m < 10; m++ {
			v := power(m, e)
			if v < lo*(1-1e-12) || v > hi*(1+1e-12) {
				continue
			}
			t := plot.Tick{Value: v}
			switch {
			case m == 1 && e%every == 0, decades < 3 && (m == 2 || m == 5):
				t.Label = tickLabel(v)
			case m > 1 && every > 1:
				continue // minor marks of so many powers would run together
			}
			out = append(out, t)
		}
	}
	return out
}

// plainTicks labels multiples of 1, 2 or 5 times a power of ten, four to eight of them.
func plainTicks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return []plot.Tick{{Value: lo, Label: tickLabel(lo)}}
	}
	e := int(math.Floor(math.Log10((hi - lo) / 4)))
	m := 5
	for _, smaller := range []int{2, 1} {
		if (hi-lo)/power(m, e) < 4 {
			m = smaller
		}
	}
	step := power(m, e)
	var out []plot.Tick
	for k := math.Ceil(lo/step-1e-9) + 0; k*step <= hi+1e-9*step && len(out) < 20; k++ {
		v := k * step
		if e < 0 { // a quotient of whole numbers rounds better
			v = k * float64(m) / power(1, -e)
		}
		out = append(out, plot.Tick{Value: v, Label: tickLabel(v)})
	}
	return out
}

// roundTicks makes plainTicks usable as the tick marks of a linear axis.
type roundTicks struct{}

// Ticks lists the marks between two values.
func (roundTicks) Ticks(lo, hi float64) []plot.Tick { return plainTicks(lo, hi) }

// power returns m times ten to the e as the nearest float64.
func power(m, e int) float64 {
	v, err := strconv.ParseFloat(strconv.Itoa(m)+"e"+strconv.Itoa(e), 64)
	if err != nil { // out of range: the caller leaves it out
		return math.Inf(1)
	}
	return v
}

// tickLabel returns a short label: 0.02, 5000, 1e-5, 2e6.
func tickLabel(v float64) string {
	format := byte('e')
	if a := math.Abs(v); a == 0 || a >= 1e-3 && a < 1e5 {
		format = 'f'
	}
	s := strconv.FormatFloat(v, format, -1, 64)
	if len(s) > 8 { // too long because of a rounding error
		s = strconv.FormatFloat(v, 'g', 6, 64)
	}
	return strings.NewReplacer("e-0", "e-", "e+0", "e", "e+", "e").Replace(s)
}
