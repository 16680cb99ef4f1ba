package reference

import "math"

// Law describes the law of a privacy loss log(P/Q) under P. It is the same in both directions, P against Q and Q
// against P: every law here belongs to a symmetric pair, except sampled, which has a field for the direction.
type Law interface {
	// Below returns the probability of a loss below l.
	Below(l float64) float64
	// Span returns bounds that the loss leaves with a probability below 1e-16.
	Span() (lo, hi float64)
}

// normal is the law of the loss of N(mu, 1) against N(0, 1): N(mu²/2, mu²).
type normal struct{ mu float64 }

// Below implements Law.Below.
func (n normal) Below(l float64) float64 { return phi(l/n.mu - n.mu/2) }

// Span implements Law.
func (n normal) Span() (lo, hi float64) {
	return n.mu * (n.mu/2 - tail), n.mu * (n.mu/2 + tail)
}

// tail is the number of standard deviations within which a normal variable is taken to lie.
const tail = 8.3

func phi(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }

// laplace is the law of the loss of Laplace noise shifted by eps of its scales.
type laplace struct{ eps float64 }

// Below implements Law.
func (p laplace) Below(l float64) float64 {
	switch {
	case l <= -p.eps:
		return 0
	case l > p.eps:
		return 1
	}
	return math.Exp(-(p.eps-l)/2) / 2
}

// Span implements Law.
func (p laplace) Span() (lo, hi float64) { return -p.eps, p.eps }

// atoms is the law of a loss with finitely many values, in ascending order.
type atoms struct{ at, mass []float64 }

// Below implements Law.
func (a atoms) Below(l float64) float64 {
	sum := 0.0
	for i, x := range a.at {
		if x < l {
			sum += a.mass[i]
		}
	}
	return min(sum, 1)
}

// Span implements Law.
func (a atoms) Span() (lo, hi float64) { return a.at[0], a.at[len(a.at)-1] }

// response returns the law of the loss of randomised response over k values: plus and minus eps, or 0 if the answer is
// neither of the two values.
func response(eps float64, k int64) Law {
	rest := math.Exp(-eps)
	p := 1 / (1 + float64(k-1)*rest)
	if k == 2 {
		return atoms{[]float64{-eps, eps}, []float64{p * rest, p}}
	}
	return atoms{[]float64{-eps, 0, eps}, []float64{p * rest, float64(k-2) * p * rest, p}}
}

// discrete returns the law of the loss of integer noise with weights exp(-cost(j)) on -reach..reach, shifted by an
// integer.
func discrete(cost func(j float64) float64, reach, moved int) Law {
	sum := 0.0
	for j := -reach; j <= reach; j++ {
		sum += math.Exp(-cost(float64(j)))
	}
	var a atoms
	for j := reach; j >= -reach; j-- { // the loss falls with j
		loss := cost(float64(j-moved)) - cost(float64(j))
		mass := math.Exp(-cost(float64(j))) / sum
		if n := len(a.at); n > 0 && loss <= a.at[n-1] {
			a.mass[n-1] += mass
			continue
		}
		a.at, a.mass = append(a.at, loss), append(a.mass, mass)
	}
	return a
}

// discreteLaplace returns the law of the loss of discrete Laplace noise shifted by whole steps.
func discreteLaplace(scale float64, steps int) Law {
	return discrete(func(j float64) float64 { return math.Abs(j) / scale }, int(40*scale)+steps+1, steps)
}

// discreteNormal returns the law of the loss of discrete Gaussian noise with one coordinate shifted by whole steps. It
// leaves out the other coordinates, so it is a lower bound if the sensitivity is not whole.
func discreteNormal(sigma float64, steps int) Law {
	return discrete(func(j float64) float64 { return j * j / (2 * sigma * sigma) }, int(9*sigma)+steps+1, steps)
}

// sampled is the law of the loss of a release that contains the unit with probability q, when the unit is added or
// removed. The law of the release must be the same in both directions.
type sampled struct {
	of     Law
	q      float64
	remove bool // P has the unit
}

// inner returns the loss of the release itself for which the sampled release has the loss l.
func (s sampled) inner(l float64) float64 {
	x := (math.Expm1(l) + s.q) / s.q
	if !(x > 0) {
		return math.Inf(-1)
	}
	return math.Log(x)
}

// Below implements Law.
func (s sampled) Below(l float64) float64 {
	if s.remove { // log(1-q+q e^x) below l, x the inner loss under (1-q) Q + q P
		x := s.inner(l)
		return (1-s.q)*s.absent(x) + s.q*s.of.Below(x)
	}
	x := s.inner(-l) // -log(1-q+q e^x) below l: the inner loss above x, under Q
	return 1 - s.atMost(x)
}

// absent returns the probability under Q that log(P/Q) is below x, which is that of log(Q/P) above -x.
func (s sampled) absent(x float64) float64 {
	return 1 - s.of.Below(math.Nextafter(-x, math.Inf(1)))
}

// atMost returns the probability under Q that log(P/Q) is at most x.
func (s sampled) atMost(x float64) float64 { return 1 - s.of.Below(-x) }

// Span implements Law.
func (s sampled) Span() (lo, hi float64) {
	lo, hi = s.of.Span()
	bound := max(math.Abs(lo), math.Abs(hi))
	f := func(x float64) float64 { return math.Log1p(s.q * math.Expm1(x)) }
	if s.remove {
		return f(-bound), f(bound)
	}
	return -f(bound), -f(-bound)
}

// hidden is the law of the loss of a release on a sample whose output also shows which units are in it: 0 with
// probability 1-q, the loss of the release with probability q.
type hidden struct {
	of Law
	q  float64
}

// Below implements Law.
func (h hidden) Below(l float64) float64 {
	p := h.q * h.of.Below(l)
	if l > 0 {
		p += 1 - h.q
	}
	return p
}

// Span implements Law.
func (h hidden) Span() (lo, hi float64) {
	lo, hi = h.of.Span()
	return min(lo, 0), max(hi, 0)
}

// mirrored is the law of the loss of a sampled unit whose value a, in standard deviations of the noise, becomes -a: a
// mixture against its mirror image.
type mirrored struct{ a, q float64 }

// loss returns the loss at x; it rises with x.
func (m mirrored) loss(x float64) float64 {
	f := func(a float64) float64 { return math.Log1p(m.q * math.Expm1(a*x-m.a*m.a/2)) }
	return f(m.a) - f(-m.a)
}

// Below implements Law.
func (m mirrored) Below(l float64) float64 {
	lo, hi := -tail-m.a, tail+m.a
	if l <= m.loss(lo) {
		return 0
	}
	if l > m.loss(hi) {
		return 1
	}
	for range 60 {
		if mid := (lo + hi) / 2; m.loss(mid) < l {
			lo = mid
		} else {
			hi = mid
		}
	}
	return (1-m.q)*phi(lo) + m.q*phi(lo-m.a)
}

// Span implements Law.
func (m mirrored) Span() (lo, hi float64) { return m.loss(-tail - m.a), m.loss(tail + m.a) }
