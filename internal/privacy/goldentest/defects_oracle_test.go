package goldentest

import (
	"math"
	"math/big"
)

// moment is the Rényi divergence of a sampled Gaussian by Simpson's rule for
// E[(1+u)^alpha - 1 - alpha u], which is not negative anywhere.
func moment(q, s, alpha float64) float64 {
	const steps = 400_000
	lo, hi := -12*s, 12*s+alpha
	h, sum := (hi-lo)/steps, 0.0
	for i := range steps + 1 {
		z := lo + float64(i)*h
		u := q * math.Expm1((2*z-1)/(2*s*s))
		g := math.Expm1(alpha*math.Log1p(u)) - alpha*u
		if x := alpha * u; math.Abs(x) < 1e-3 {
			g = alpha * (alpha - 1) / 2 * u * u * (1 + (alpha-2)/3*u*(1+(alpha-3)/4*u*(1+(alpha-4)/5*u)))
		}
		w := 2.0 + 2*float64(i%2)
		if i == 0 || i == steps {
			w = 1
		}
		sum += w * g * math.Exp(-z*z/(2*s*s))
	}
	return math.Log1p(sum*h/3/(s*math.Sqrt(2*math.Pi))) / (alpha - 1)
}

// stick is the delta of mu-Gaussian-DP as an integral of what is positive.
func stick(mu, epsilon float64) float64 {
	const steps = 200_000
	from := epsilon/mu - mu/2 // losses mu z + mu²/2 above epsilon
	h, sum := 40./steps/math.Max(1, from/4), 0.0
	for i := range steps {
		z := (float64(i) + 0.5) * h
		sum += -math.Expm1(-mu*z) * math.Exp(-z*z/2-from*z)
	}
	return sum * h * math.Exp(-from*from/2) / math.Sqrt(2*math.Pi)
}

// theorem27 is the tight curve of Gaussian sums over samples without replacement in
// 4000-bit arithmetic, where the sums that define the moments may cancel.
func theorem27(q, s float64, alpha int64) float64 {
	f := func(x float64) *big.Float { return new(big.Float).SetPrec(4000).SetFloat64(x) }
	// e^(1/s²), of which all powers are needed, from its series.
	base, term := f(1), f(1)
	for i := 1; i < 600; i++ {
		term.Quo(term, f(s))
		term.Quo(term, f(s))
		term.Quo(term, f(float64(i)))
		base.Add(base, term)
	}
	power := make([]*big.Float, 2*alpha+3) // e^(k(k-1)/(2 s²))
	power[0], power[1] = f(1), f(1)
	step := f(1)
	for k := 2; k < len(power); k++ {
		step = new(big.Float).Mul(step, base)
		power[k] = new(big.Float).Mul(power[k-1], step)
	}
	choose := func(n, k int64) *big.Float { return f(0).SetInt(new(big.Int).Binomial(n, k)) }
	central := func(l int64) *big.Float {
		sum := f(0)
		for k := range l + 1 {
			x := choose(l, k)
			x.Mul(x, power[k])
			if (l-k)%2 == 1 {
				x.Neg(x)
			}
			sum.Add(sum, x)
		}
		return sum
	}
	least := func(a, b *big.Float) *big.Float {
		if a.Cmp(b) < 0 {
			return a
		}
		return b
	}
	times := func(a, b *big.Float) *big.Float { return new(big.Float).Mul(a, b) }
	total, rate := f(0), f(q)
	for j := int64(2); j <= alpha; j++ {
		bound := times(f(2), power[j])
		if j == 2 { // theorem 9's own second term, and the moment
			bound = least(bound, times(f(4), new(big.Float).Sub(power[2], f(1))))
		}
		product := times(central(2*(j/2)), central(2*((j+1)/2)))
		bound = least(bound, times(f(4), product.Sqrt(product)))
		rate = times(rate, f(q))
		total.Add(total, times(times(choose(alpha, j), rate), bound))
	}
	v, _ := total.Float64()
	return math.Log1p(v) / float64(alpha-1)
}
