package rdp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Default returns the grid of orders that is searched by default. It joins the grids of other accountants and is denser
// near 1 and beyond 64. If the best order is at an end of it the search continues beyond.
func Default() []float64 {
	o := []float64{1.0001, 1.001, 1.002, 1.005, 1.01, 1.02, 1.03, 1.04, 1.05, 1.06, 1.07, 1.08, 1.09}
	o = append(o, DPAccounting()[:152]...) // up to 63
	return append(o, 64, 72, 80, 96, 112, 128, 160, 192, 256, 384, 512, 768, 1024)
}

// DPAccounting returns the default grid of Google's dp_accounting 0.6.0: tenths from 1.1 to 10.9,
// whole orders from 11 to 63, and 128, 256, 512, 1024.
func DPAccounting() []float64 { return append(tenths(11), 128, 256, 512, 1024) }

// Opacus returns the default grid of Opacus 1.5: tenths from 1.1 to 10.9, whole orders from 12 to
// 63.
func Opacus() []float64 { return tenths(12) }

// Whole returns the whole orders from 2 to last.
func Whole(last int) []float64 {
	var o []float64
	for n := 2; n <= last; n++ {
		o = append(o, float64(n))
	}
	return o
}

// tenths returns 1.1 to 10.9 in tenths, then whole orders from from to 63.
func tenths(from int) []float64 {
	var o []float64
	for x := 1; x < 100; x++ {
		o = append(o, 1+float64(x)/10)
	}
	for n := from; n < 64; n++ {
		o = append(o, float64(n))
	}
	return o
}

// Grid returns an order grid by its name. An unknown name is an error that lists the names.
func Grid(name string) ([]float64, error) {
	g := map[string][]float64{
		"default":       Default(),
		"dp-accounting": DPAccounting(),
		"opacus":        Opacus(),
		"whole-64":      Whole(64),
		"whole-256":     Whole(256),
		"powers-of-2":   {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024},
		"tf-privacy": append(append([]float64{1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 4.5}, Whole(63)[3:]...), 128,
			256, 512),
		"coarse": {1.01, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 8, 12, 20, 32, 50, 100},
	}
	o, ok := g[name]
	if !ok {
		return nil, fmt.Errorf("unknown order grid %q, want one of %s", name,
			strings.Join(slices.Sorted(maps.Keys(g)), ", "))
	}
	return o, nil
}
