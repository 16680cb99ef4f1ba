package pld

import (
	"context"
	"fmt"
	"math"
	"sync"

	"privrec/internal/privacy/accountant/terms"
)

// Profile holds a privacy curve: upper bounds of delta at many epsilons, in ascending order from 0.
type Profile struct {
	Epsilon, Delta []float64
	// Lower is a lower bound of delta at epsilon 0; 0 if there is none. It shows how close the curve is.
	Lower float64
}

// DeltaProfile adds bins until the bracket of delta at epsilon 0 is this narrow, or there are this many.
const (
	profileWidth = 1e-5
	profileBins  = 1 << 13
	profileMost  = 1 << 18
)

// DeltaProfile returns upper bounds of the delta of a composition at all epsilons of a mesh. Each is for the larger of
// both directions. Each is certified like DeltaBracket: all errors of discretising, truncating and rounding are added
// to it. One composition serves all epsilons, so its errors are relative to delta at 0 and not to each delta: a delta
// below 1e-8 times that at 0 is loose.
func DeltaProfile(ctx context.Context, ts []terms.Term) (Profile, error) {
	list, err := build(ts)
	if err != nil {
		return Profile{}, err
	}
	if len(list) > mostTerms {
		return Profile{}, fmt.Errorf("%d different releases, want at most %d: %w", len(list), mostTerms, ErrNotCovered)
	}
	v, err := newView(ctx, list, query{})
	if err != nil {
		return Profile{}, err
	}
	unreached := false
	for _, t := range list {
		unreached = unreached || t.pair.unreached
	}
	var best Profile
	most := min(profileMost, mostWork/len(list))
	for bins := profileBins; bins <= most; bins *= 4 {
		p, e := v.profile(bins)
		if stopped := ctx.Err(); stopped != nil {
			return Profile{}, stopped
		}
		if e != nil { // perhaps too coarse
			err = e
			continue
		}
		if p.Delta[0]-p.Lower > 64*profileWidth && 16*bins <= most {
			bins *= 4 // four times as many would not be enough
		}
		if best.Epsilon == nil || p.Delta[0] < best.Delta[0] {
			best = p
		}
		if best.Delta[0]-p.Lower <= profileWidth {
			break
		}
	}
	if best.Epsilon == nil {
		return Profile{}, err
	}
	if unreached {
		best.Lower = 0
	}
	return best, nil
}

// profile returns the curve read off one composition for each direction.
func (v *view) profile(bins int) (Profile, error) {
	dirs := []int{0, 1}[:len(v.names)]
	plans, _, shift, err := v.plans(dirs, bins)
	if err != nil {
		return Profile{}, err
	}
	type sides struct {
		bound
		work int
		err  error
		low  side
	}
	all := make([]sides, len(plans))
	var wg sync.WaitGroup
	for i, plan := range plans {
		wg.Go(func() {
			all[i].bound, all[i].work, all[i].err = plan.bound(newMachine(bins), (*machine).compose, v.counts, v.target,
				v.total)
		})
		wg.Go(func() { all[i].low = plan.lower(newMachine(bins/2), v.counts, v.q, shift) })
	}
	wg.Wait()
	for i, s := range all {
		if v.work += s.work; s.err != nil {
			return Profile{}, fmt.Errorf("direction %s: %w", plans[i].name, s.err)
		}
	}
	p := Profile{Epsilon: all[0].places()}
	deltas := make([][]float64, len(all))
	for i, s := range all {
		wg.Go(func() {
			deltas[i] = make([]float64, len(p.Epsilon))
			if i == 0 {
				s.profile(deltas[i])
			} else {
				s.raise(Profile{Epsilon: p.Epsilon, Delta: deltas[i]})
			}
		})
	}
	wg.Wait()
	p.Delta = deltas[0]
	for i, s := range all {
		for j, d := range deltas[i] {
			p.Delta[j] = max(p.Delta[j], d)
		}
		if v.work += s.low.work; s.low.err == nil {
			p.Lower = max(p.Lower, s.low.value)
		}
	}
	for i, d := range p.Delta {
		if i > 0 { // losses are known up to the shift
			p.Epsilon[i] += shift
		}
		if !(d >= 0 && d <= 1) {
			return Profile{}, fmt.Errorf("delta is %v at epsilon %v: %w", d, p.Epsilon[i], ErrCheck)
		}
	}
	p.Delta[0] = min(1, p.Delta[0]+shift) // delta falls by at most one for each unit of epsilon
	return p, nil
}

// places returns 0 and all positive losses of the window.
func (b bound) places() []float64 {
	out := make([]float64, 1, len(b.mass)+1)
	for j := range b.mass {
		if x := b.lo + float64(j)*b.h; x > 0 {
			out = append(out, x)
		}
	}
	return out
}

// profile fills in the bounds of delta at all places.
func (b bound) profile(delta []float64) {
	nextX, nextA, nextD := b.lo+float64(len(b.mass))*b.h, 0.0, 0.0
	j := len(delta) - 1
	b.walk(func(x, a, d float64) bool {
		if x <= 0 {
			return false
		}
		delta[j] = b.delta(x, x, a, d)
		j--
		nextX, nextA, nextD = x, a, d
		return true
	})
	delta[0] = b.delta(0, max(nextX, 0), nextA, nextD)
}

// raise raises the deltas of a profile to this bound at the profile's epsilons.
func (b bound) raise(p Profile) {
	i := len(p.Epsilon) - 1
	nextX, nextA, nextD := math.Inf(1), 0.0, 0.0
	put := func(down float64) {
		for ; i >= 0 && p.Epsilon[i] > down; i-- {
			v := b.extra
			if !math.IsInf(nextX, 1) {
				v = b.delta(p.Epsilon[i], nextX, nextA, nextD)
			} else if b.slack > 0 { // above the window
				v += b.slack * math.Exp(b.logMass-b.tilt*p.Epsilon[i])
			}
			p.Delta[i] = max(p.Delta[i], min(1, v))
		}
	}
	b.walk(func(x, a, d float64) bool {
		put(x)
		nextX, nextA, nextD = x, a, d
		return i >= 0
	})
	put(math.Inf(-1))
}
