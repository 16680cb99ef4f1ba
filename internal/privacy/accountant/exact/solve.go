package exact

import "math"

// quiet is -log of the relative error for which the first line is built. If it is not reached, lines with larger errors
// are tried.
const quiet = 32

// good is the relative error of delta at which the search for better lines stops.
const good = 1e-10

// delta returns delta at eps.
func (g *integral) delta(eps float64) (Value, error) {
	v := Value{Epsilon: eps, Method: g.method()}
	if eps >= g.most {
		return v, nil
	}
	c := g.saddle(eps, 1)
	most := g.bound(c, eps)
	if math.IsInf(most, 1) {
		return Value{}, g.noMoment()
	}
	guess := most - 3
	best, relative := 0.0, math.Inf(1)
	for range 3 {
		l, err := g.build(c, eps, guess, quiet)
		if err != nil {
			return Value{}, err
		}
		log, r := l.at(eps)
		r += g.images(l.c, l.step, eps, log)
		if r < relative {
			best, relative = log, r
		}
		if relative < good {
			break
		}
		if !math.IsInf(log, 0) {
			guess = math.Min(guess, log)
		}
		guess -= 6
	}
	if math.IsInf(relative, 1) {
		return Value{}, notCovered("no line of integration is accurate enough")
	}
	if best > most+1e-6 {
		return Value{}, notCovered("delta is above its Chernoff bound")
	}
	return v.at(best, relative)
}

// epsilon returns the smallest eps >= 0 with delta(eps) <= delta.
func (g *integral) epsilon(delta float64) (Value, error) {
	v := Value{Delta: delta, Method: g.method()}
	target := math.Log(delta)
	renyi := func(c float64) float64 { return (g.real(c) + chernoff(c) - target) / c }
	c := minimise(renyi, 4)
	most := renyi(c) // the bound of Rényi DP of order c+1
	switch {
	case math.IsInf(most, 1):
		return Value{}, g.noMoment()
	case most <= 0:
		return v, nil
	}
	most = math.Min(most, g.most)
	guess := most
	if g.h > 0 { // a point of the lattice may be the last
		guess = math.Min(guess, g.most-g.h/2)
	}
	guess = math.Max(guess, 0)
	c = g.saddle(guess, c)
	var best *line
	at, least := 0.0, math.Inf(1)
	for range 4 {
		l, err := g.build(c, guess, target, quiet)
		if err != nil && best == nil {
			return Value{}, err
		} else if err != nil {
			break
		}
		eps, r := l.solve(target, guess)
		if r < 0.1 {
			r += g.images(l.c, l.step, eps, target)
		}
		if r < least {
			best, at, least = l, eps, r
		}
		if r < good {
			break
		}
		guess = math.Max(0, math.Min(eps, most))
		c = g.saddle(guess, c)
	}
	if !(least < tolerance) {
		return Value{}, notCovered("no line of integration is accurate enough")
	}
	return v.within(best, at, least, target, most)
}

// within returns the value with a delta that is known to a relative error r near eps.
func (v Value) within(l *line, eps, r, target, most float64) (Value, error) {
	if eps <= 0 {
		return v, nil
	}
	if eps > most*(1+1e-9)+1e-12 {
		return Value{}, notCovered("epsilon %v is above its Rényi bound %v", eps, most)
	}
	log := func(e float64) float64 { v, _ := l.at(e); return v }
	h := 1e-5 / l.c
	fall := math.Max((log(eps)-log(eps+h))/h, 1e-3*l.c)
	width := 1.1*r/fall + 8*ulp*eps
	for range 60 {
		if log(eps+width)+r <= target {
			v.Epsilon, v.Error = math.Min(eps+width, most), 2*width
			return v, nil
		}
		width *= 2
	}
	return Value{}, notCovered("a curve that does not fall at epsilon %v", eps)
}

// solve returns the epsilon at which log delta is the target, and the relative error there. It returns 0 if the curve
// is below the target from the start. It starts at an eps near which the line is accurate, and gives up with a large
// error if it is not accurate there.
func (l *line) solve(target, start float64) (eps, relative float64) {
	lo, hi := 0.0, math.Inf(1)
	x, slope := start, -l.c
	f, r := l.at(x)
	for range 100 {
		if bad := !(r < 0.1); bad && x == start {
			return x, math.Inf(1)
		} else if bad { // too far to the right, or found out at the end
			hi = x
		} else if f > target {
			lo = x
		} else if hi = x; x == 0 {
			return 0, r
		}
		next := x - (f-target)/slope
		if !(next >= lo) || next >= hi {
			switch {
			case lo == 0 && next < 0:
				next = 0
			case math.IsInf(hi, 1):
				next = 2*x + 1e-3
			default:
				next = lo + (hi-lo)/2
			}
		}
		if math.Abs(next-x) <= 4*ulp*x+1e-14/l.c*ulp {
			return next, r
		}
		g, rg := l.at(next)
		if s := (g - f) / (next - x); s < 0 && !math.IsInf(s, 0) {
			slope = s
		}
		if math.Abs(next-x) < 1e-13*x+1e-15/l.c || g == target {
			return next, rg
		}
		x, f, r = next, g, rg
	}
	return x, r
}

func (g *integral) method() Method {
	if g.h > 0 {
		return Lattice
	}
	return Contour
}

// noMoment returns the error for a loss whose moments cannot be computed.
func (g *integral) noMoment() error {
	if g.budget < 0 {
		return g.explain(errWork)
	}
	return notCovered("the moments of the loss overflow")
}
