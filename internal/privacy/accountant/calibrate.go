package accountant

import (
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/terms"
)

// Goal is a guarantee for which noise is wanted.
type Goal struct {
	Epsilon float64 // positive and finite
	Delta   float64 // below Exposed
	// Exposed is the probability that one unit is in any of the releases: 1 if nothing is sampled,
	// else what the function Exposed returns.
	Exposed float64
}

// ErrDelta says that delta alone gives the guarantee, without any noise.
var ErrDelta = terms.ErrDelta

// Exposed returns the probability that one unit is in any of a number of releases. Each release is
// on its own sample, which takes a unit with probability rate.
func Exposed(rate float64, releases int64) float64 { return terms.Exposed(rate, releases) }

func (g Goal) validate() error {
	if !(g.Epsilon > 0) || math.IsInf(g.Epsilon, 1) {
		return fmt.Errorf("epsilon is %v, want positive and finite", g.Epsilon)
	}
	if !(g.Delta >= 0) {
		return fmt.Errorf("delta is %v, want at least 0", g.Delta)
	}
	return terms.CheckDelta(g.Delta, g.Exposed)
}

// Calibrated is the outcome of a calibration. Epsilon was computed at exactly this Noise and is at
// most the target.
type Calibrated struct {
	Noise   float64 // standard deviation, noise multiplier or scale
	Epsilon float64
	Calls   int // of the accountant
}

const (
	calibrationWidth = 1e-11 // relative, of the final bracket
	calibrationSpan  = 400   // doublings of the noise that are tried in each direction
	lastNoise        = 700   // logarithm of the most noise that is tried; minus it, of the least
)

// Calibrate returns the least noise at which spent is at most the goal's epsilon, and the epsilon
// that spent returned there. The noise is rounded up, by a factor of at most 1 + calibrationWidth.
// spent must not rise with the noise. start is where the search begins, positive; a good start
// saves calls.
//
// Calibrate returns ErrDelta for a delta that allows publishing what is sampled without noise.
//
// Noise at which spent fails counts as too little, since accountants fail first where epsilon
// overflows. So an epsilon of 0 next to a failure is an error: less noise may do as well. If no
// noise reaches the target, the error says how far the search went, and wraps the last failure of
// spent.
func Calibrate(goal Goal, start float64, spent func(noise float64) (float64, error)) (Calibrated, error) {
	if err := goal.validate(); err != nil {
		return Calibrated{}, err
	}
	target := goal.Epsilon
	if !(start > 0) || math.IsInf(start, 1) {
		return Calibrated{}, fmt.Errorf("the search starts at %v, want positive and finite", start)
	}
	s := &search{target: target, spent: spent}
	lo, hi, err := s.bracket(math.Log(start))
	if err != nil {
		return Calibrated{}, err
	}
	less, best := s.narrow(lo, hi)
	if best.eps == 0 && math.IsNaN(less.eps) {
		return Calibrated{}, fmt.Errorf("epsilon is 0 at a noise of %.3g, and accounting for less noise fails, so this is perhaps not the least: %w", math.Exp(best.x), s.failed)
	}
	return Calibrated{math.Exp(best.x), best.eps, s.calls}, nil
}

// search looks for noise on the scale x = log(noise).
type search struct {
	target float64
	spent  func(float64) (float64, error)
	calls  int
	failed error // the last failure of spent
}

// probe is the result of spent at one noise; y is log(eps/target), +Inf if spent failed.
type probe struct{ x, y, eps float64 }

func (p probe) within() bool { return p.y <= 0 }

func (s *search) at(x float64) probe {
	s.calls++
	eps, err := s.spent(math.Exp(x))
	if err == nil && (math.IsNaN(eps) || eps < 0) {
		err = fmt.Errorf("epsilon came out as %v", eps)
	}
	if err != nil {
		s.failed = err
		return probe{x, math.Inf(1), math.NaN()}
	}
	p := probe{x, math.Log(eps / s.target), eps}
	if eps <= s.target { // the logarithm may round
		p.y = math.Min(p.y, 0)
	} else {
		p.y = math.Max(p.y, math.SmallestNonzeroFloat64)
	}
	return p
}

// bracket walks from x in growing strides until the target lies between lo, too little noise, and
// hi, enough noise.
func (s *search) bracket(x float64) (lo, hi probe, err error) {
	p := s.at(x)
	stride := math.Ln2
	for i := 0; i < calibrationSpan; i++ {
		next := p.x - stride
		if !p.within() {
			next = p.x + stride
		}
		q := s.at(next)
		switch {
		case p.within() && !q.within():
			return q, p, nil
		case !p.within() && q.within():
			return p, q, nil
		}
		if p = q; math.Abs(p.x-x) > calibrationSpan*math.Ln2 || math.Abs(p.x) > lastNoise {
			break
		}
		stride = math.Min(2*stride, 8)
	}
	err = fmt.Errorf("no noise between %.3g and %.3g gives epsilon %v", math.Exp(math.Min(x, p.x)), math.Exp(math.Max(x, p.x)), s.target)
	if p.within() {
		err = errors.Join(err, errors.New("even the least noise meets it"))
	} else if s.failed != nil {
		err = fmt.Errorf("%w: %w", err, s.failed)
	}
	return lo, hi, err
}

// narrow closes the bracket by the ITP method (Oliveira and Takahashi, "An enhancement of the
// bisection method average performance preserving minmax optimality", ACM TOMS 2021). It has the
// speed of the secant method and takes at most one step more than bisection. It returns the last
// noise that is too little and the least that is enough.
func (s *search) narrow(lo, hi probe) (less, best probe) {
	const slack = 1 // n0 of the paper
	eps := calibrationWidth / 2
	n := math.Ceil(math.Log2((hi.x-lo.x)/(2*eps))) + slack
	for j := 0.0; hi.x-lo.x > 2*eps; j++ {
		width, mid := hi.x-lo.x, lo.x/2+hi.x/2
		x := mid
		if !math.IsInf(lo.y, 1) && !math.IsInf(hi.y, -1) {
			secant := (lo.y*hi.x - hi.y*lo.x) / (lo.y - hi.y)
			side := 1.0
			if secant > mid {
				side = -1
			}
			if shift := 0.1 * width * width; shift <= math.Abs(mid-secant) {
				x = secant + side*shift
			}
			if r := eps*math.Exp2(n-j) - width/2; math.Abs(x-mid) > r {
				x = mid - side*math.Max(r, 0)
			}
		}
		if x <= lo.x || x >= hi.x {
			if x = mid; x <= lo.x || x >= hi.x {
				break
			}
		}
		if p := s.at(x); p.within() {
			hi = p
		} else {
			lo = p
		}
	}
	return lo, hi
}
