package pld

import (
	"fmt"
	"math"
)

// bound computes delta from a composition: the sum over losses l > x of mass(l) exp(logMass - tilt l) (1 - exp(x - l)),
// with all errors on one side.
type bound struct {
	*tilted
	// What the weights exp(-tilt(l-x))(1-exp(x-l)) make of the errors, in units of the masses. An
	// upper bound adds it, a lower one subtracts it.
	slack float64
	extra float64 // in units of delta: mass beyond the window, and at infinity
	under float64 // in units of the masses: what an epsilon below the window misses; 0 in a lower bound
	drift float64 // relative error of the sums that are carried down the losses; negative in a lower bound
}

// carried bounds the relative error of a sum carried down n losses: two products with a rounded
// factor and two additions at each.
func carried(n int) float64 { return 8 * unit * float64(n) }

// peak returns the largest weight exp(-tilt y)(1-exp(-y)) of any y >= 0.
func peak(tilt float64) float64 {
	return math.Exp(tilt*math.Log(tilt/(1+tilt))) / (1 + tilt)
}

// upper returns the upper bound from a composition of upper masses.
func (t *tilted) upper(s span) bound {
	top := t.lo + float64(t.bins())*t.h
	return bound{
		tilted: t, slack: t.fuzz*t.weights() + t.waved(), drift: t.drift(),
		extra: t.infinite + math.Exp(t.logUp-(t.tilt+s.up)*top),
		// A loss below the window is read one width higher, where it has less weight.
		under: peak(t.tilt) * math.Exp(t.logDown-t.logMass+s.down*t.lo),
	}
}

// lower returns the lower bound from a composition of lower masses. It subtracts the mass that may have wrapped around
// into the window.
func (t *tilted) lower(s span) bound {
	width := float64(t.bins()) * t.h
	peak := peak(t.tilt)
	b := bound{
		tilted: t, slack: -t.fuzz*t.weights() - t.waved() - peak*math.Exp(t.logUp-t.logMass-s.up*(t.lo+width)),
		extra: t.infinite, drift: -t.drift(),
	}
	// What comes from below the window is bounded by the tilted mass there, or by its tilt: a loss
	// moved up by the width has the weight exp(-tilt width) of its mass.
	moved := math.Exp(-t.tilt*width) / -math.Expm1(-t.tilt*width)
	mass := peak * math.Exp(t.logDown-t.logMass+s.down*t.lo)
	if moved < mass*math.Exp(t.logMass-t.tilt*s.eps) {
		b.extra -= moved
	} else {
		b.slack -= mass
	}
	return b
}

// usable returns an error for error bounds with which every comparison would be false, or true.
func (b bound) usable() error {
	for _, v := range []float64{b.slack, b.extra} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the errors of the composition have no bound: %w", ErrCheck)
		}
	}
	return nil
}

// weights bounds the sum of all weights: the integral over the mesh width, and the largest term
// once; at most one for each mass.
func (t *tilted) weights() float64 {
	return min(1/(t.h*t.tilt*(1+t.tilt))+1, float64(t.bins()))
}

// drift bounds the relative error of the sums over a window, times exp(logMass).
func (t *tilted) drift() float64 {
	if t.series != nil {
		return carried(1) + t.scale // the weights; the sums themselves have a slack
	}
	return carried(len(t.mass)) + t.scale
}

// waved bounds the rounding error of sums of waves.
func (t *tilted) waved() float64 {
	if t.series != nil {
		return t.series.slack
	}
	return 0
}

// walk goes through the window's losses from the top. At each loss x it calls see with two sums over all losses l from
// x on: of the weights exp(-tilt(l-x)), and of these times 1-exp(x-l). It stops when see returns false. Nothing
// cancels.
func (b bound) walk(see func(x, a, d float64) bool) {
	var a, d float64
	decay, step, rest := math.Exp(-b.tilt*b.h), math.Exp(-b.h), -math.Expm1(-b.h)
	for j := len(b.mass) - 1; j >= 0; j-- {
		d = decay * (step*d + rest*a)
		a = max(b.mass[j], 0) + decay*a
		if !see(b.lo+float64(j)*b.h, a, d) {
			return
		}
	}
}

// delta returns the bound at eps, from the sums at x, the next loss at or above eps.
func (b bound) delta(eps, x, a, d float64) float64 {
	sum := d
	if gap := x - eps; gap != 0 {
		less := math.Expm1(-gap)
		sum = math.Exp(-b.tilt*gap) * (d + less*(d-a))
	}
	drift := b.drift
	if b.series != nil { // which carries nothing, but the exponents of the weights round
		drift += math.Copysign(4*unit*b.tilt*(math.Abs(eps)+math.Abs(x-eps)), drift)
	}
	sum = sum*(1+drift) + b.slack
	if eps < b.lo {
		sum += b.under
		if b.series != nil {
			sum += math.Copysign(b.series.below, b.slack)
		}
	}
	if sum <= 0 {
		return max(0, b.extra)
	}
	e := b.logMass - b.tilt*eps
	if e > -600 && e < 600 && sum > 1e-40 && sum < 1e40 { // the product is a normal number
		return max(0, min(1, math.Exp(e)*sum+b.extra))
	}
	return max(0, min(1, math.Exp(e+math.Log(sum))+b.extra))
}

// check returns an error for masses that exact arithmetic and the bounds of rounding exclude.
func (t *tilted) check(allowed float64) error {
	for _, v := range []float64{t.logMass, t.logUp, t.logDown, t.fuzz, t.sumFuzz} {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the moments of the composition, or its errors of rounding, are beyond a float64: %w",
				ErrCheck)
		}
	}
	if t.series != nil {
		return t.checkWaves(allowed)
	}
	sum := 0.0
	for _, v := range t.mass {
		if !(v >= -t.fuzz) {
			return fmt.Errorf("a mass of %v is below the bound of rounding -%v: %w", v, t.fuzz, ErrCheck)
		}
		sum += v
	}
	if !(math.Abs(sum-t.sum) <= t.sumFuzz) {
		return fmt.Errorf("the masses sum to %v, want %v within %v: %w", sum, t.sum, t.sumFuzz, ErrCheck)
	}
	return t.checkCreated(allowed)
}

// checkWaves returns an error if some masses of a sum of waves are lower than rounding explains, or their slack is not
// usable.
func (t *tilted) checkWaves(allowed float64) error {
	const looks = 16
	for i := range looks {
		if v := t.series.mass(i * t.series.n / looks); !(v >= -2*t.fuzz) {
			return fmt.Errorf("a mass of %v is below the bound of rounding -%v: %w", v, t.fuzz, ErrCheck)
		}
	}
	if v := t.series.slack; math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("the errors of the sums of waves have no bound: %w", ErrCheck)
	}
	return t.checkCreated(allowed)
}

func (t *tilted) checkCreated(allowed float64) error {
	if !(t.created <= allowed) {
		return fmt.Errorf("the masses of all compositions are off by %v, more than %v: %w", t.created, allowed,
			ErrCheck)
	}
	return nil
}

// deltaAt returns the bound at eps >= 0.
func (b bound) deltaAt(eps float64) float64 {
	if b.series != nil {
		_, x, a, d := b.next(eps)
		return b.delta(eps, max(x, eps), a, d)
	}
	top := b.lo + float64(len(b.mass)-1)*b.h
	out := b.delta(eps, max(top+b.h, eps), 0, 0)
	b.walk(func(x, a, d float64) bool {
		if x < eps {
			return false
		}
		out = b.delta(eps, x, a, d)
		return true
	})
	return out
}

// epsilon returns an interval one float64 wide around the epsilon at which the bound falls to delta: at lo the bound is
// above delta, at hi it is not. lo is negative if the bound is not above delta at 0 or, if the window starts above 0,
// anywhere in it.
//
// The running sums may underflow for good if the tilt spans more than a float64 holds. Then the bound at the upper end
// is summed again, loss by loss, and epsilon fails if the end does not hold.
func (b bound) epsilon(delta float64) (lo, hi float64, err error) {
	if b.series != nil {
		lo, hi = b.crossingWaves(delta)
		return lo, hi, nil
	}
	lo, hi, err = b.crossing(delta)
	const held = 600 // nats: well within a float64
	if err != nil || b.slack < 0 || math.IsInf(hi, 1) || b.tilt*b.h*float64(len(b.mass)) < held &&
		math.Abs(b.logMass-b.tilt*hi) < held {
		return lo, hi, err
	}
	above := b.extra
	for i, m := range b.mass {
		if x := b.lo + float64(i)*b.h; x > hi && m > 0 {
			above += m * math.Exp(b.logMass-b.tilt*x) * -math.Expm1(hi-x)
		}
	}
	if !(above <= delta*(1+1e-9)) {
		return lo, hi, fmt.Errorf("delta at %v sums up to %v, more than %v: %w", hi, above, delta, ErrCheck)
	}
	return lo, hi, nil
}

// crossing returns the interval of epsilon, from the running sums alone.
func (b bound) crossing(delta float64) (lo, hi float64, err error) {
	lo, hi = -1, math.Inf(1)
	var (
		nextX, nextA, nextD = math.Inf(1), 0.0, 0.0 // the sums at the next higher loss
		floor               = 0.0                   // a little below the sum at which delta is reached at this loss
		decay               = math.Exp(-b.tilt * b.h)
		step                = 0
		last                = math.Inf(-1)
		room                = delta - b.extra
	)
	b.walk(func(x, a, d float64) bool {
		if x < 0 {
			if b.delta(0, nextX, nextA, nextD) > delta {
				lo = 0
			} else {
				hi = 0
			}
			return false
		}
		if floor *= decay; step%256 == 0 || math.IsInf(floor, 0) || floor < 1e-290 {
			floor = room * math.Exp(b.tilt*x-b.logMass) * (1 - 1e-6)
			if floor < 1e-290 { // not accurate: test every loss
				floor = 0
			}
		}
		if step%256 == 0 {
			v := b.delta(x, x, a, d)
			if v < last*(1-1e-9)-1e-300 && b.slack >= 0 {
				err = fmt.Errorf("delta falls from %v to %v as epsilon falls to %v: %w", last, v, x, ErrCheck)
				return false
			}
			last = v
		}
		step++
		if d+b.slack < floor || b.delta(x, x, a, d) <= delta {
			hi, nextX, nextA, nextD = x, x, a, d
			return true
		}
		lo = x
		return false
	})
	if lo < 0 || math.IsInf(hi, 1) || err != nil {
		return lo, hi, err
	}
	lo, hi = b.between(lo, hi, nextX, nextA, nextD, delta) // where the sums at hi apply
	return lo, hi, nil
}
