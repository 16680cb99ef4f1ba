package exact

import "math"

// sampledGaussian is a Gaussian release with sensitivity/sigma mu on a Poisson sample. With t
// standard normal and u±(t) = rate (exp(±m t - m²/2) - 1):
//
//   - add or remove, m = mu: the mixture (1+u)N(0,1) over N(0,1), which is the worst pair (Zhu, Dong,
//     Wang, AISTATS 2022, theorem 11);
//   - replace, m = mu/2: the mixture 1+u+ over the mixture 1+u-. Two records in the ball of radius C, the
//     event's norm, differ by up to 2C, which is its sensitivity; each moves the sum, when it is sampled,
//     by C.
type sampledGaussian struct {
	mu, rate float64
	replace  bool
}

func (g sampledGaussian) symmetric() bool           { return g.replace }
func (g sampledGaussian) sane() bool                { return g.rate > 1e-100 } // its square does not underflow
func (g sampledGaussian) lattice() (h, off float64) { return 0, 0 }

func (g sampledGaussian) top(Direction) float64 { return math.Inf(-1) }

func (g sampledGaussian) most(d Direction) float64 {
	if d == Add && !g.replace {
		return -math.Log1p(-g.rate)
	}
	return math.Inf(1)
}

func (g sampledGaussian) factor(d Direction) factor { return &smooth{law: g, direction: d} }

// normalReach is the number of standard deviations to which the normal density is integrated. The rest is below 3e-20
// of the whole.
const normalReach = 9.5

// digits is -log of the error of the trapezoid rule for which a step is chosen. A small move leaves only second orders,
// which grow by d² on the way to Im t = d < 9.
const digits = 38 + 5

// step returns the width of the trapezoid rule in t. Its error is exp(-2 pi d/h) times the growth
// of the integrand on the line Im t = d, for any d below the singularity 1+u = 0 at pi/m. The
// density grows by exp(d²/2), |exp(iyL)| by exp(y arg) with arg <= d m (twice that for two
// mixtures), and |1+u|^-c by cos(m d/2)^-c, since |a + b exp(ix)| >= (a+b) cos(x/2) for a, b >= 0.
func (g sampledGaussian) step(m, c, y float64, negative bool) float64 {
	rate := m
	if g.replace {
		rate = 2 * m
	}
	best := 0.0
	for _, turn := range [...]float64{0.9, 0.75, 0.5, 0.25} { // m d/pi
		d := turn * math.Pi / m
		need := float64(digits)
		if negative {
			need -= c * math.Log(math.Cos(turn*math.Pi/2))
		}
		d = math.Min(d, math.Sqrt(2*need)) // beyond, the density grows faster than the error falls
		best = math.Max(best, 2*math.Pi/(need/d+d/2+y*rate))
	}
	return best
}

// table fills t with the nodes. Far out it adds exponents before it takes the exponential. It leaves out nodes that are
// negligible at the largest real part.
func (g sampledGaussian) table(d Direction, c, y float64, t *table) error {
	m := g.mu
	if g.replace {
		m /= 2
	}
	h := g.step(m, c, y, d == Add || g.replace)
	// (1+u)^-c is at most exp(c t m) and at most (1-rate)^-c. With the first the density's center
	// moves by c m, with the second it has to fall further.
	further := math.Min(normalReach+c*m, math.Sqrt(normalReach*normalReach-2*c*math.Log1p(-g.rate)))
	low, high := normalReach, normalReach+2*m
	switch {
	case g.replace:
		low, high = normalReach+2*m, further+math.Max(2, c+1)*m
	case d == Add:
		low = further
	default:
		high = normalReach + math.Max(2, c+1)*m
	}
	from, to := math.Floor(-low/h), math.Ceil(high/h)
	if !(to-from < mostNodes) {
		return notCovered("a quadrature of %.2g nodes", to-from)
	}
	logq := math.Log(g.rate)
	logw := math.Log(h / math.Sqrt(2*math.Pi))
	// mixed returns u, log(1+u) and the derivative of the latter along the exponent.
	mixed := func(e float64) (u, l, by float64) {
		l = g.logMixed(e)
		if u = g.rate * math.Expm1(e); e > 690 {
			u = math.Inf(1)
		}
		return u, l, math.Exp(logq + e - l)
	}
	for k := from; k <= to; k++ {
		x := k * h
		lw := logw - x*x/2
		u, l, by := mixed(m*x - m*m/2)
		loss, lp, width, mean := l, lw+l, m*by*h, 0.0
		switch {
		case g.replace:
			u2, l2, by2 := mixed(-m*x - m*m/2)
			loss, width = l-l2, m*(by+by2)*h
			// By the symmetry t -> -t the mean is E[(u+ - u-)(l+ - l-)]/2.
			if math.IsInf(u, 1) || math.IsInf(u2, 1) {
				mean = 0.5 * math.Abs(l-l2) * math.Exp(lw+math.Max(l, l2))
			} else {
				mean = 0.5 * (u - u2) * (l - l2) * math.Exp(lw)
			}
		case d == Add:
			loss, lp = -l, lw
			if math.IsInf(u, 1) {
				mean = math.Exp(lw + l)
			} else {
				mean = deficit(u, l) * math.Exp(lw)
			}
		case math.IsInf(u, 1):
			mean = math.Exp(lp) * (l - 1)
		default:
			mean = excess(u, l) * math.Exp(lw)
		}
		t.mean += mean
		if lp+c*math.Max(loss, 0) > negligible {
			t.add(loss, lp, width)
		}
	}
	return nil
}

// negligible is the logarithm of a weight too small to change any sum here.
const negligible = -100

// mostNodes is the largest number of nodes of one table.
const mostNodes = 400_000
