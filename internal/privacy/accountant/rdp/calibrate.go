package rdp

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// ErrUnreachable is returned if no amount of noise reaches the target.
var ErrUnreachable = errors.New("no noise reaches the target")

// CalibrateSampledGaussian returns the smallest noise multiplier (noise over sensitivity) with which steps Gaussian
// releases on Poisson samples of rate q meet the target under add-remove (rate 1: no sampling, any relation). It fails
// with terms.ErrDelta on a delta that needs no noise.
func CalibrateSampledGaussian(ctx context.Context, q float64, steps int64, target privacy.Budget,
	o Options) (float64, error) {
	if err := errors.Join(fraction("sampling rate", q), atLeast("steps", steps, 1), checkTarget(target)); err != nil {
		return 0, err
	}
	if err := terms.CheckDelta(target.Delta, terms.Exposed(q, steps)); err != nil {
		return 0, err
	}
	// The mu of the central limit theorem is only a good guess.
	mu := guessMu(target) / (q * math.Sqrt(float64(steps)))
	guess := 1 / math.Sqrt(math.Log1p(mu*mu))
	return calibrate(ctx, func(s float64) (Curve, error) {
		c, err := SampledGaussian(q, s)
		return Times(c, steps), err
	}, target, guess, o)
}

func checkTarget(t privacy.Budget) error {
	if err := t.Validate(); err != nil {
		return fmt.Errorf("target: %w", err)
	}
	return nil
}

// guessMu returns the mu at which mu²/2 + mu sqrt(2 log(1/delta)) is epsilon.
func guessMu(t privacy.Budget) float64 {
	b := math.Sqrt(-2 * math.Log(math.Max(t.Delta, 1e-300)))
	return 2 * t.Epsilon / (b + math.Sqrt(b*b+2*t.Epsilon))
}

// calibrate returns the smallest noise, to a relative 1e-11 and rounded up, for which family(noise) meets the target:
// at this noise, Epsilon of the curve with the same options is at most target.Epsilon. More noise must not raise the
// curve. guess is any positive starting point.
//
// It finds the root of log epsilon as a function of log noise, which is smooth and nearly straight, by secants inside
// a bracket. Then it steps up until the full evaluation agrees. It follows the best order from one noise to the next
// instead of trying all orders: the family has one minimum over the order.
func calibrate(ctx context.Context, family func(noise float64) (Curve, error), target privacy.Budget, guess float64,
	o Options) (float64, error) {
	start := 0
	// over returns log(epsilon/target): at most 0 is within the target.
	over := func(x float64) (float64, error) {
		c, err := family(math.Exp(x))
		if err != nil {
			return 0, err
		}
		if target.Delta == 0 {
			p, err := Epsilon(ctx, c, target.Delta, o)
			if errors.Is(err, ErrNoOrder) {
				return math.Inf(1), nil
			}
			return math.Log(p.Epsilon / target.Epsilon), err
		}
		s, err := newSearch(ctx, c, o,
			func(r, alpha float64) float64 { return epsilonAt(o.Conversion, r, alpha, target.Delta) })
		if err != nil {
			return 0, err
		}
		if start == 0 {
			start = len(s.orders) / 2
		}
		var p found
		if start, p = s.walk(start); !o.Fixed {
			p.value = math.Min(p.value, c(math.Inf(1)))
		}
		return math.Log(roundUp(p.value) / target.Epsilon), ctx.Err()
	}
	x, err := root(over, math.Log(guess))
	if err != nil {
		return 0, err
	}
	noise := math.Exp(x)
	for step := 1e-13; step < 1e-3; step *= 2 {
		c, err := family(noise)
		if err != nil {
			return 0, err
		}
		p, err := Epsilon(ctx, c, target.Delta, o)
		if err == nil && p.Epsilon <= target.Epsilon {
			return noise, nil
		}
		if err != nil && !errors.Is(err, ErrNoOrder) {
			return 0, err
		}
		noise *= 1 + step
	}
	return 0, fmt.Errorf("epsilon does not settle below %v near noise %v: %w", target.Epsilon, noise, ErrUnreachable)
}

// root returns an x with over(x) <= 0 next to the zero of over, a falling function.
func root(over func(x float64) (float64, error), x float64) (float64, error) {
	const least, most = -80.0, 80.0 // logarithms of noise
	lo, hi := math.Inf(-1), math.Inf(1)
	x = math.Min(math.Max(x, least), most)
	var px, py float64
	for i := 0; i < 400; i++ {
		y, err := over(x)
		if err != nil {
			return 0, err
		}
		switch {
		case y > 0:
			lo = x
		default:
			hi = x
			if x <= least {
				return 0, fmt.Errorf("even the least noise that is tried, %.3g, meets the target", math.Exp(x))
			}
			if y > -2e-13 {
				return x, nil
			}
		}
		if x >= most && y > 0 {
			return 0, fmt.Errorf("epsilon is still %v times the target at noise %v: %w", math.Exp(y), math.Exp(x),
				ErrUnreachable)
		}
		if hi-lo < 1e-14*math.Max(1, math.Abs(hi)) {
			return hi, nil
		}
		slope := -1.3 // between that of many releases, -1, and of few, -2
		if i > 0 && x != px && !math.IsInf(y-py, 0) && !math.IsNaN(y-py) {
			slope = (y - py) / (x - px)
		}
		px, py = x, y
		// Aim slightly inside the target, so that the bracket closes from within.
		next := x - (y+1e-13)/slope
		if math.IsNaN(next) || !(slope < 0) || math.Abs(next-x) > 3 {
			next = x + math.Copysign(3, y)
		}
		if !(next > lo && next < hi) || i > 40 {
			next = (lo + hi) / 2
		}
		if math.IsInf(next, 0) {
			next = x + math.Copysign(3, y)
		}
		x = math.Min(math.Max(next, least), most)
	}
	return 0, fmt.Errorf("no crossing found: %w", ErrUnreachable)
}
