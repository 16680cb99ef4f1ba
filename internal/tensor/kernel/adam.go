package kernel

import "math"

// Sizes below which Adam's moments are flushed to zero. A first moment decays
// into denormals some 800 steps after a row's last gradient, and arithmetic on
// denormals is 15 to 20 times slower. The second one takes far longer; its bound
// lies just above the denormals, where any usual Eps dominates the root.
const (
	tinyFirst  = 1e-30
	tinySecond = 1e-37
)

// AdamCoef holds the factors of one Adam step, equal for all elements
// (Kingma & Ba 2015, algorithm 1, in the arrangement of PyTorch):
//
//	g += L2 w;  m = Beta1 m + OneMinusBeta1 g;  v = Beta2 v + OneMinusBeta2 g²
//	w -= Step m / (sqrt(v) RootScale + Eps)
type AdamCoef struct {
	Beta1, OneMinusBeta1 Float
	Beta2, OneMinusBeta2 Float
	Step                 Float // learning rate / (1 - Beta1^t)
	RootScale            Float // 1 / sqrt(1 - Beta2^t)
	Eps                  Float
	L2                   Float // coupled weight decay, 0 for none
}

// NewAdamCoef returns the factors of step t = 1, 2, ..., with bias corrections
// computed in float64.
func NewAdamCoef(lr, beta1, beta2, eps, l2 float64, t int) AdamCoef {
	return AdamCoef{
		Beta1: Float(beta1), OneMinusBeta1: Float(1 - beta1),
		Beta2: Float(beta2), OneMinusBeta2: Float(1 - beta2),
		Step:      Float(lr / (1 - math.Pow(beta1, float64(t)))),
		RootScale: Float(1 / math.Sqrt(1-math.Pow(beta2, float64(t)))),
		Eps:       Float(eps),
		L2:        Float(l2),
	}
}

// Adam applies one fused step to weights w and moments m, v, all as long as the
// gradient g.
func Adam(w, g, m, v []Float, c *AdamCoef) {
	w, m, v = w[:len(g)], m[:len(g)], v[:len(g)]
	switch level {
	case AVX512:
		adam512(w, g, m, v, &c.Beta1)
	case AVX2:
		adam256(w, g, m, v, &c.Beta1)
	default:
		adamPlain(w, g, m, v, c)
	}
}

// AdamIdle applies the steps of c, one or more, with a zero gradient and without weight decay. Their betas are equal.
// If slack times the update of a step does not move a weight, it may skip this update and all later ones; the caller
// knows that they do not move it either.
func AdamIdle(w, m, v []Float, c []AdamCoef, slack Float) {
	m, v = m[:len(w)], v[:len(w)]
	switch level {
	case AVX512:
		adamIdle512(w, m, v, &c[0].Beta1, len(c), slack)
	case AVX2:
		adamIdle256(w, m, v, &c[0].Beta1, len(c), slack)
	default:
		adamIdlePlain(w, m, v, c, slack)
	}
}

// adamIdlePlain is AdamIdle in plain Go.
func adamIdlePlain(w, m, v []Float, c []AdamCoef, slack Float) {
	for i, x := range w {
		first, second, rests := m[i], v[i], false
		for k := range c {
			first, second = c[k].Beta1*first, c[k].Beta2*second
			if first < tinyFirst && first > -tinyFirst {
				first = 0
			}
			if second < tinySecond {
				second = 0
			}
			if rests {
				continue
			}
			update := c[k].Step * first / (Float(math.Sqrt(float64(second)))*c[k].RootScale + c[k].Eps)
			if rests = x-slack*update == x; !rests {
				x -= update
			}
		}
		w[i], m[i], v[i] = x, first, second
	}
}
