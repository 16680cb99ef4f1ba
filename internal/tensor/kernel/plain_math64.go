//go:build f64

package kernel

import "math"

func expOne(x float64) float64 { return math.Exp(x) }

func sigmoidOne(x float64) float64 {
	e := math.Exp(-math.Abs(x))
	if x < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

func tanhOne(x float64) float64 { return math.Tanh(x) }
