package exact

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/terms"
)

// Direction says which of two neighbours gives the law P under which the loss is taken.
type Direction string

const (
	Remove Direction = "remove" // the data with the unit, over the data without it
	Add    Direction = "add"    // the data without the unit, over the data with it
	Both   Direction = "both"   // both directions have the same curve
	Worse  Direction = ""       // asks for the one with the larger number
)

// Method names how a value was computed.
type Method string

const (
	Closed  Method = "closed form"        // of a single release, or of Gaussians
	Contour Method = "contour integral"   // along a line in the complex plane
	Lattice Method = "sum over a lattice" // by the same integral over one period
)

// Value is a point (Epsilon, Delta) of the privacy curve. The number that was asked for is rounded
// up by its error: the composition is (Epsilon, Delta)-DP.
type Value struct {
	Epsilon, Delta float64
	// Error is the width of the interval below the answer, epsilon or delta, that contains the
	// exact number.
	Error     float64
	Direction Direction
	Method    Method
}

// ErrNotCovered is returned if this method does not apply to a composition, or does not converge within the work that a
// call may do. The error that wraps it says which.
var ErrNotCovered = errors.New("not covered by the exact accountant")

func notCovered(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, ErrNotCovered)...)
}

// Epsilon returns the smallest epsilon >= 0 at which the composition of the terms is (epsilon, delta)-DP, rounded up:
// the larger of both directions. delta is in (0, 1). Without terms it is 0. Like all functions here it returns the
// error of ctx when that ends.
func Epsilon(ctx context.Context, ts []terms.Term, delta float64) (Value, error) {
	return EpsilonIn(ctx, Worse, ts, delta)
}

// EpsilonIn returns the epsilon of Epsilon in one direction only.
func EpsilonIn(ctx context.Context, d Direction, ts []terms.Term, delta float64) (Value, error) {
	if !(delta > 0 && delta < 1) {
		return Value{}, fmt.Errorf("delta is %v, want between 0 and 1", delta)
	}
	return inDirection(ctx, d, ts, func(p *plan, d Direction) (Value, error) { return p.epsilon(d, delta) })
}

// Delta returns the smallest delta at which the composition of the terms is (epsilon, delta)-DP,
// rounded up: the larger of both directions. epsilon is 0 or more and finite.
func Delta(ctx context.Context, ts []terms.Term, epsilon float64) (Value, error) {
	return DeltaIn(ctx, Worse, ts, epsilon)
}

// DeltaIn returns the delta of Delta in one direction only.
func DeltaIn(ctx context.Context, d Direction, ts []terms.Term, epsilon float64) (Value, error) {
	if !(epsilon >= 0) || math.IsInf(epsilon, 1) {
		return Value{}, fmt.Errorf("epsilon is %v, want at least 0 and finite", epsilon)
	}
	return inDirection(ctx, d, ts, func(p *plan, d Direction) (Value, error) { return p.delta(d, epsilon) })
}

func inDirection(ctx context.Context, d Direction, ts []terms.Term,
	ask func(*plan, Direction) (Value, error)) (Value, error) {
	if d != Remove && d != Add && d != Worse {
		return Value{}, fmt.Errorf("direction is %q, want %s or %s", string(d), Remove, Add)
	}
	p, err := newPlan(ts)
	if err != nil {
		return Value{}, err
	}
	in := func(d Direction) (Value, error) {
		v, err := p.ask(ctx, d, ask)
		if v.Direction = d; err != nil {
			return Value{}, err
		}
		return v, nil
	}
	if d != Worse {
		return in(d)
	}
	v, err := in(Remove)
	if err != nil {
		return Value{}, err
	}
	if p.symmetric() {
		v.Direction = Both
		return v, nil
	}
	w, err := in(Add)
	if err != nil {
		return Value{}, err
	}
	if w.Epsilon > v.Epsilon || w.Delta > v.Delta {
		return w, nil
	}
	return v, nil
}

// ask calls ask for a plan in one direction, and returns the error of ctx if that has ended or ends meanwhile.
func (p *plan) ask(ctx context.Context, d Direction, ask func(*plan, Direction) (Value, error)) (Value, error) {
	p.ctx = ctx
	if err := ctx.Err(); err != nil {
		return Value{}, err
	}
	v, err := ask(p, d)
	if stopped := ctx.Err(); stopped != nil {
		return Value{}, stopped
	}
	return v, err
}
