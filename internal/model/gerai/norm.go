package gerai

import "privrec/internal/tensor"

// norms maps each norm to a function that turns the output of the pair layer before ReLU into q, in place, and writes
// the derivative into slope. It returns how many derivatives are not 0.
var norms = map[string]func(x, slope []tensor.Float) int{
	Rational: func(x, slope []tensor.Float) (alive int) {
		for k, r := range x {
			q, s := tensor.Float(0), tensor.Float(0)
			if r > 0 {
				s = 1 / (1 + r)
				q = r * s
				s *= s
				alive++
			}
			x[k], slope[k] = q, s
		}
		return alive
	},
	Clip: func(x, slope []tensor.Float) (alive int) {
		for k, r := range x {
			s := tensor.Float(0)
			if r > 0 && r < 1 {
				s = 1
				alive++
			}
			x[k], slope[k] = min(max(r, 0), 1), s
		}
		return alive
	},
	Sigmoid: func(x, slope []tensor.Float) (alive int) {
		tensor.Sigmoid(x, x)
		for k, q := range x {
			slope[k] = q * (1 - q)
			if slope[k] > 0 {
				alive++
			}
		}
		return alive
	},
}

// values maps each norm to a function that turns the output of pair layers before ReLU into q, in place, with the same
// bits as norms. It omits the derivatives, which a ranking does not need, and branches, which random signs make slow.
var values = map[string]func(x []tensor.Float){
	Rational: func(x []tensor.Float) { tensor.Rational(x, x) },
	Clip: func(x []tensor.Float) {
		for k, r := range x {
			x[k] = min(max(r, 0), 1)
		}
	},
	Sigmoid: func(x []tensor.Float) { tensor.Sigmoid(x, x) },
}
