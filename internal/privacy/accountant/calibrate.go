package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/terms"
)

// Goal holds the guarantee for which the least noise is sought.
type Goal struct {
	Epsilon float64 // positive and finite
	Delta   float64 // below Exposed
	// Exposed is the probability that one unit is in any of the releases: 1 if nothing is sampled, else the result of
	// the function Exposed.
	Exposed float64
	// Least and Most bound the noise that is tried. If both are 0, the range is from e^-700 to e^700.
	Least, Most float64
}

// ErrDelta is returned if delta alone gives the guarantee, without any noise.
var ErrDelta = terms.ErrDelta

// Exposed returns the probability that one unit is in any of a number of releases, each on its own sample that takes a
// unit with probability rate.
func Exposed(rate float64, releases int64) float64 { return terms.Exposed(rate, releases) }

func (g Goal) validate() error {
	if !(g.Epsilon > 0) || math.IsInf(g.Epsilon, 1) {
		return fmt.Errorf("epsilon is %v, want positive and finite", g.Epsilon)
	}
	if !(g.Delta >= 0) {
		return fmt.Errorf("delta is %v, want at least 0", g.Delta)
	}
	if g.Least != 0 || g.Most != 0 {
		if !(g.Least > 0 && g.Least < g.Most) || math.IsInf(g.Most, 1) {
			return fmt.Errorf("noise is looked for from %v to %v, want positive numbers in order", g.Least, g.Most)
		}
	}
	return terms.CheckDelta(g.Delta, g.Exposed)
}

// Calibrated holds the result of a calibration. Epsilon was computed at exactly this Noise and is at most the target.
type Calibrated struct {
	Noise   float64 // standard deviation, noise multiplier or scale
	Epsilon float64
	Calls   int // of the accountant
}

const (
	calibrationWidth = 1e-11 // relative, of the final bracket
	calibrationSpan  = 400   // steps outwards that are tried
	lastNoise        = 700   // logarithm of the most noise that is tried without a range; minus it, of the least
)

// Calibrate returns the least noise at which spent is at most the goal's epsilon, and the epsilon that spent returned
// there. The noise is rounded up, by a factor of at most 1 + calibrationWidth. spent must not rise with the noise.
// start is where the search begins, positive; a good start saves calls.
//
// Calibrate returns ErrDelta for a delta that allows publishing what is sampled without noise. It stops at the first
// context error that spent returns.
//
// Noise at which spent fails counts as too little, since accountants fail first where epsilon overflows. So an epsilon
// of 0 next to a failure is an error, because less noise may be enough too. If no noise reaches the target, the error
// says how far the search went, and wraps the last failure of spent.
func Calibrate(goal Goal, start float64, spent func(noise float64) (float64, error)) (Calibrated, error) {
	if err := goal.validate(); err != nil {
		return Calibrated{}, err
	}
	target := goal.Epsilon
	if !(start > 0) || math.IsInf(start, 1) {
		return Calibrated{}, fmt.Errorf("the search starts at %v, want positive and finite", start)
	}
	s := &search{target: target, spent: spent, least: math.Exp(-lastNoise), most: math.Exp(lastNoise)}
	if goal.Most > 0 {
		s.least, s.most = goal.Least, goal.Most
	}
	lo, hi, err := s.bracket(math.Log(start))
	if s.stopped != nil {
		return Calibrated{}, s.stopped
	}
	if err != nil {
		return Calibrated{}, err
	}
	less, best := s.narrow(lo, hi)
	if s.stopped != nil {
		return Calibrated{}, s.stopped
	}
	if best.eps == 0 && math.IsNaN(less.eps) {
		return Calibrated{}, fmt.Errorf(
			"epsilon is 0 at a noise of %.3g, and accounting for less noise fails, so this is perhaps not the least: "+
				"%w", s.noise(best.x), s.failed)
	}
	return Calibrated{s.noise(best.x), best.eps, s.calls}, nil
}

// search holds the state of a search for noise on the scale x = log(noise).
type search struct {
	target      float64
	spent       func(float64) (float64, error)
	least, most float64 // noise that is tried
	calls       int
	failed      error // the last failure of spent
	stopped     error // the error of a context
}

// noise returns the noise at x, limited to the range that is tried.
func (s *search) noise(x float64) float64 {
	return math.Min(math.Max(math.Exp(x), s.least), s.most)
}

// probe holds the result of spent at one noise; y is log(eps/target), +Inf if spent failed.
type probe struct{ x, y, eps float64 }

func (p probe) within() bool { return p.y <= 0 }

func (s *search) at(x float64) probe {
	if s.stopped != nil {
		return probe{x, math.Inf(1), math.NaN()}
	}
	s.calls++
	eps, err := s.spent(s.noise(x))
	if err == nil && (math.IsNaN(eps) || eps < 0) {
		err = fmt.Errorf("epsilon came out as %v", eps)
	}
	if err != nil {
		s.failed = err
		if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			s.stopped = err
		}
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

// bracket walks from x in growing strides until the target lies between lo, too little noise, and hi, enough noise. It
// fails at the end of the range of noise that is tried.
func (s *search) bracket(x float64) (lo, hi probe, err error) {
	first, last := math.Log(s.least), math.Log(s.most)
	p := s.at(min(max(x, first), last))
	from, to := p.x, p.x
	stride := math.Ln2
	for i := 0; i < calibrationSpan && s.stopped == nil; i++ {
		next := max(p.x-stride, first)
		if !p.within() {
			next = min(p.x+stride, last)
		}
		if next == p.x {
			break
		}
		q := s.at(next)
		switch {
		case p.within() && !q.within():
			return q, p, nil
		case !p.within() && q.within():
			return p, q, nil
		}
		p, from, to = q, min(from, q.x), max(to, q.x)
		stride = math.Min(2*stride, 8)
	}
	if err = fmt.Errorf("no noise between %.3g and %.3g gives epsilon %v", s.noise(from), s.noise(to),
		s.target); from == to {
		err = fmt.Errorf("a noise of %.3g, the end of what is tried, does not give epsilon %v", s.noise(from), s.target)
	}
	if p.within() {
		err = errors.Join(err, errors.New("even the least noise meets it"))
	} else if s.failed != nil {
		err = fmt.Errorf("%w: %w", err, s.failed)
	}
	return lo, hi, err
}

// narrow closes the bracket by the ITP method (Oliveira and Takahashi, "An enhancement of the bisection method average
// performance preserving minmax optimality", ACM TOMS 2021). It has the speed of the secant method and takes at most
// one step more than bisection. It returns the largest noise found to be too little and the smallest found to be
// enough.
func (s *search) narrow(lo, hi probe) (less, best probe) {
	const slack = 1 // n0 of the paper
	eps := calibrationWidth / 2
	n := math.Ceil(math.Log2((hi.x-lo.x)/(2*eps))) + slack
	for j := 0.0; hi.x-lo.x > 2*eps && s.stopped == nil; j++ {
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
