package eval

import "privrec/internal/tensor"

// countGE counts elements >= s.
func countGE(x []tensor.Float, s tensor.Float) int32 {
	var a, b, c, d int32
	for len(x) >= 4 {
		if x[0] >= s {
			a++
		}
		if x[1] >= s {
			b++
		}
		if x[2] >= s {
			c++
		}
		if x[3] >= s {
			d++
		}
		x = x[4:]
	}
	for _, v := range x {
		if v >= s {
			a++
		}
	}
	return a + b + c + d
}

// countGT counts elements > s.
func countGT(x []tensor.Float, s tensor.Float) int32 {
	var a, b, c, d int32
	for len(x) >= 4 {
		if x[0] > s {
			a++
		}
		if x[1] > s {
			b++
		}
		if x[2] > s {
			c++
		}
		if x[3] > s {
			d++
		}
		x = x[4:]
	}
	for _, v := range x {
		if v > s {
			a++
		}
	}
	return a + b + c + d
}
