package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/privacy/accountant/exact"
	"privrec/internal/privacy/accountant/pld"
	"privrec/internal/privacy/accountant/rdp"
	"privrec/internal/privacy/accountant/terms"
)

// question is a point of the privacy curve with one unknown coordinate.
type question struct {
	ctx            context.Context
	epsilon, delta float64
	forDelta       bool
}

// answer returns result r with the unknown coordinate set to v.
func (q question) answer(r Result, v float64) Result {
	if q.forDelta {
		r.Delta = math.Max(v, 0) // and never -0
	} else {
		r.Epsilon = v
	}
	return r
}

func (q question) bracket(ts []terms.Term, bins int) (pld.Bounds, error) {
	if q.forDelta {
		return pld.DeltaBracket(q.ctx, ts, q.epsilon, pld.Options{Bins: bins})
	}
	return pld.Bracket(q.ctx, ts, q.delta, pld.Options{Bins: bins})
}

func (q question) exact(ts []terms.Term) (exact.Value, float64, error) {
	if q.forDelta {
		v, err := exact.Delta(q.ctx, ts, q.epsilon)
		return v, v.Delta, err
	}
	v, err := exact.Epsilon(q.ctx, ts, q.delta)
	return v, v.Epsilon, err
}

func (q question) renyi(l terms.List) (rdp.Point, float64, error) {
	c, err := rdp.FromList(l)
	if err != nil {
		return rdp.Point{}, 0, err
	}
	if q.forDelta {
		p, err := rdp.Delta(q.ctx, c, q.epsilon, rdp.Options{})
		return p, p.Delta, err
	}
	p, err := rdp.Epsilon(q.ctx, c, q.delta, rdp.Options{})
	return p, p.Epsilon, err
}

func analytic(l terms.List, q question, r Result) (Result, error) {
	mu2, err := sumMu2(l)
	if err != nil {
		return r, err
	}
	mu := math.Sqrt(mu2)
	if q.forDelta {
		return q.answer(r, deltaUp(mu, q.epsilon)), nil
	}
	eps, err := Exact(mu, q.delta)
	return q.answer(r, eps), err
}

func renyi(l terms.List, q question, r Result) (Result, error) {
	p, v, err := q.renyi(l)
	r.Order, r.AtEnd = p.Order, p.AtEnd
	return q.answer(r, v), err
}

// bracketed returns an error if package pld has no bracket for a list.
func bracketed(l terms.List) error {
	ts, err := l.Worst()
	if err != nil || len(ts) == 0 {
		return err
	}
	return pld.Supports(ts)
}

func certified(l terms.List, q question, r Result) (Result, error) {
	ts, err := l.Worst()
	if err != nil {
		return r, err
	}
	if len(ts) == 0 {
		return q.answer(r, 0), nil
	}
	b, err := q.bracket(ts, 0)
	if err != nil {
		return r, err
	}
	r.Lower, r.Direction = b.Lower, b.Direction
	return q.answer(r, b.Upper), nil
}

// The bracket that checks an exact value is coarse and cheap at first. It is refined until it would
// show an error of checkWidth: an integral that fails is wrong by percents or more.
const (
	checkBins  = 1 << 12
	checkMost  = 1 << 19
	checkWidth = 0.05
)

// contour returns the answer of package exact after checking it. It checks closed forms too, because a formula can be
// wrong as an integral can fail: that of Gaussians alone by the definition of delta, all others by a bracket and the
// Rényi bound. If the exact value cannot be used, it returns the certified upper bound, or else the Rényi bound, and
// notes why.
func contour(l terms.List, q question, r Result) (Result, error) {
	return checked(l, q, r, analytic, q.exact)
}

// checked does the work of contour with two given methods: the closed form of Gaussians, and the exact value of
// everything else.
func checked(l terms.List, q question, r Result, gaussians func(terms.List, question, Result) (Result, error),
	exactly func([]terms.Term) (exact.Value, float64, error)) (Result, error) {
	if s, err := gaussians(l, q, r); err == nil { // Gaussians alone have a closed form
		if err := q.doubtGaussians(l, s); err != nil {
			return fallBack(l, q, r, err)
		}
		s.Direction = string(exact.Both)
		return s, nil
	}
	ts, err := l.Worst()
	if err != nil {
		return fallBack(l, q, r, err)
	}
	if len(ts) == 0 { // parallel branches that release nothing
		return q.answer(r, 0), nil
	}
	v, value, err := exactly(ts)
	if err == nil {
		r.Direction = string(v.Direction)
		var note string
		note, err = q.doubt(ts, l, value-v.Error, value)
		if err == nil || v.Method == exact.Closed && errors.Is(err, errUnchecked) {
			if note != "" {
				r.Notes = append(r.Notes, note)
			}
			return q.answer(r, value), nil
		}
	}
	return fallBack(l, q, r, err)
}

// errUnchecked says that no bracket covers a value, so that it cannot be compared. A closed form is used without this
// check, an integral is not.
var errUnchecked = errors.New("the exact value cannot be checked")

// doubt compares the interval [lo, hi], which must contain the exact value, with the certified bracket and the Rényi
// bound. It fails if the interval is outside either of them, and with errUnchecked if there is no bracket. The note
// says so if the bracket stayed wide.
func (q question) doubt(ts []terms.Term, l terms.List, lo, hi float64) (note string, err error) {
	// Both sides of each comparison are rounded in the last digits.
	const slack = 1e-9
	b, err := q.bracket(ts, checkBins)
	// A mesh that is too coarse may give no number at all.
	for bins := 4 * checkBins; q.ctx.Err() == nil && bins <= checkMost &&
		(err != nil || b.Upper-b.Lower > checkWidth*b.Upper); bins *= 4 {
		b, err = q.bracket(ts, bins)
	}
	if err == nil && (hi < b.Lower*(1-slack) || lo > b.Upper*(1+slack)) {
		return "", fmt.Errorf("the exact value %v is outside the certified bracket [%v, %v]", hi, b.Lower, b.Upper)
	}
	_, bound, renyi := q.renyi(l)
	if renyi == nil && lo > bound*(1+slack) {
		return "", fmt.Errorf("the exact value %v is above the rényi bound %v", lo, bound)
	}
	if err != nil {
		return "", fmt.Errorf("%w, %v: %w", errUnchecked, hi, err)
	}
	if b.Upper-b.Lower > checkWidth*b.Upper {
		note = fmt.Sprintf("the exact value was checked by the bracket [%.4g, %.4g] only", b.Lower, b.Upper)
	}
	return note, nil
}

// fallBack returns the best certified bound and notes why there is no exact value.
func fallBack(l terms.List, q question, r Result, why error) (Result, error) {
	if err := q.ctx.Err(); err != nil {
		return r, err
	}
	s, err := certified(l, q, r)
	s.Method = string(PLD)
	s.Notes = append(s.Notes, fmt.Sprintf("certified upper bound, since %v", why))
	if err == nil {
		return s, nil
	}
	s, bound := renyi(l, q, r)
	if bound != nil {
		return r, fmt.Errorf("no method has an answer: exact: %w; bracket: %w; rényi: %w", why, err, bound)
	}
	s.Method = string(RDP)
	s.Notes = append(s.Notes, fmt.Sprintf("rényi bound, since %v", why))
	return s, nil
}
