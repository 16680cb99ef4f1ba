package rdp

// Default returns the grid of orders that is searched by default. It joins the grids of other accountants and is denser
// near 1 and beyond 64. If the best order is at an end of it the search continues beyond.
func Default() []float64 {
	o := []float64{1.0001, 1.001, 1.002, 1.005, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09}
	o = append(o, DPAccounting()[:152]...) // up to 63
	return append(o, 64, 72, 80, 96, 112, 128, 160, 192, 256, 384, 512, 768, 1024)
}

// DPAccounting returns the default grid of Google's dp_accounting 0.6.0: tenths from 1.1 to 10.9,
// whole orders from 11 to 63, and 128, 256, 512, 1024.
func DPAccounting() []float64 {
	var o []float64
	for x := 1; x < 100; x++ {
		o = append(o, 1+float64(x)/10)
	}
	for n := 11; n < 64; n++ {
		o = append(o, float64(n))
	}
	return append(o, 128, 256, 512, 1024)
}

// Whole returns the whole orders from 2 to last.
func Whole(last int) []float64 {
	var o []float64
	for n := 2; n <= last; n++ {
		o = append(o, float64(n))
	}
	return o
}
