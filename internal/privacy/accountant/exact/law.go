package exact

import (
	"math"

	"privrec/internal/privacy/numeric"
)

// law describes one release by its worst pair of laws. Laws are comparable values.
type law interface {
	symmetric() bool
	sane() bool // parameters in a range where nothing overflows
	// lattice returns h and offset if every loss is offset plus an integer multiple of h; h is 0 if
	// there is no such lattice.
	lattice() (h, offset float64)
	// most returns the supremum of the loss.
	most(d Direction) float64
	// top returns the logarithm of the probability of the largest loss, -Inf for none.
	top(d Direction) float64
	factor(d Direction) factor
}

// factor computes K(w) of one release in one direction.
type factor interface {
	// real returns K(c), +Inf if it cannot be computed.
	real(c float64) float64
	// reach prepares log for Re w = c and |Im w| <= y.
	reach(c, y float64) error
	// log returns K(c+iy), the imaginary part modulo 2 pi, and a bound on the rounding error of
	// both, in units of ulp.
	log(c, y float64) (re, im, noise float64)
	// decay returns an upper bound, at most 0, of log |M(c+iy)/M(c)| for all y from y0 to y1 > y0,
	// which may be +Inf, at the c of the last reach, for any y of that call.
	decay(c, y0, y1 float64) float64
	// cost returns the work of one log at |Im w| = y, and of one real, in nodes.
	cost(y float64) (log, real int)
}

// smooth computes a loss with a density by a quadrature that is refined as y grows.
type smooth struct {
	law interface {
		table(d Direction, c, y float64, t *table) error
	}
	direction Direction
	t         table
	c, y      float64 // for which t was made
	axis      table   // a table for real moments
	most      float64 // the largest c for which axis was made
}

func (s *smooth) reach(c, y float64) error {
	if c == s.c && y <= s.y {
		return nil
	}
	s.t.clear()
	s.c, s.y = c, y
	return s.law.table(s.direction, c, y, &s.t)
}

func (s *smooth) real(c float64) float64 {
	if c > s.most {
		s.axis.clear()
		s.most = 1.3 * c
		if s.law.table(s.direction, s.most, 0, &s.axis) != nil {
			s.most = 0
			return math.Inf(1)
		}
	}
	return s.axis.real(c)
}

func (s *smooth) log(c, y float64) (re, im, noise float64) { return s.t.log(c, y) }
func (s *smooth) decay(c, y0, y1 float64) float64          { return s.t.decay(c, y0, y1) }
func (s *smooth) cost(float64) (log, real int)             { return len(s.t.loss) + 4, len(s.axis.loss) + 4 }

// atoms computes a loss with finitely many values.
type atoms struct{ t table }

func (s *atoms) reach(float64, float64) error             { return nil }
func (s *atoms) real(c float64) float64                   { return s.t.real(c) }
func (s *atoms) log(c, y float64) (re, im, noise float64) { return s.t.log(c, y) }
func (s *atoms) decay(c, y0, y1 float64) float64          { return 0 }
func (s *atoms) cost(float64) (log, real int)             { return len(s.t.loss) + 4, len(s.t.loss) + 4 }

// gaussian stands for all unsampled Gaussians together: K(w) = mu² w (w+1)/2.
type gaussian struct{ mu2 float64 }

func (g gaussian) reach(float64, float64) error { return nil }
func (g gaussian) log(c, y float64) (re, im, noise float64) {
	re, im = g.mu2/2*(c*(c+1)-y*y), g.mu2/2*y*(2*c+1)
	return re, im, 4 * g.mu2 / 2 * (c*(c+1) + y*y + math.Abs(y)*(2*c+1))
}
func (g gaussian) decay(c, y0, y1 float64) float64 { return -g.mu2 / 2 * y0 * y0 }
func (g gaussian) real(c float64) float64          { return g.mu2 / 2 * c * (c + 1) }
func (g gaussian) cost(float64) (log, real int)    { return 1, 1 }

// gaussError bounds the relative error of exp(logDelta). The argument of the normal density is a
// difference of two numbers and is squared.
func gaussError(mu, eps float64) float64 {
	a := math.Abs(mu/2 - eps/mu)
	return 16 * ulp * (4 + (1+a)*(mu+eps/mu))
}

// ulp is the largest relative error of one rounding.
const ulp = 0x1p-53

// smallest returns the least eps >= 0 at which log delta(eps), a falling function, is at most target, rounded up. most
// is an eps at which this holds up to rounding. smallest returns +Inf if the curve stays above the target up to twice
// most.
func smallest(log func(eps float64) float64, target, most float64) float64 {
	over := func(eps float64) bool { return log(eps) > target }
	if !over(0) {
		return 0
	}
	hi := most
	for stretch := 1e-15; over(hi); stretch *= 2 { // only by rounding
		if stretch > 1 {
			return math.Inf(1)
		}
		hi = most*(1+stretch) + math.SmallestNonzeroFloat64
	}
	_, eps := numeric.Bisect(0, hi, over)
	return eps
}

// gaussBound returns a sufficient epsilon, by the classic conversion of Rényi DP.
func gaussBound(mu, delta float64) float64 {
	return mu*mu/2 + mu*math.Sqrt(-2*math.Log(delta))
}
