package privacy

import (
	"fmt"
	"math"
)

// Plan is what a run will release at most, said before its first release.
type Plan struct {
	Budget           // what all of it comes to, by the run's own account
	Subject          // what that is about
	Releases []Entry // every release that the run may make: purpose, event and count
	Held     []Holding
}

// Limit refuses from now on every release that a plan does not foresee: one for another purpose, of
// another event, or more often. Where a run sets the noise of a Gaussian by what it released before, the
// plan has that purpose with any deviation and sensitivity of one quotient; a larger quotient is refused.
// What the ledger holds already counts.
func (l *Ledger) Limit(p Plan) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	l.left = map[string][]Entry{}
	for _, e := range p.Releases {
		l.left[e.Purpose] = append(l.left[e.Purpose], e)
	}
	for _, e := range append(append([]Entry{}, l.entries...), l.open("")...) {
		if err := l.foreseen(e); err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	return nil
}

// foreseen takes a release from what is left of the plan.
func (l *Ledger) foreseen(e Entry) error {
	if l.left == nil {
		return nil
	}
	for i, p := range l.left[e.Purpose] {
		if p.Count >= e.Count && foresees(p.Event, e.Event) {
			l.left[e.Purpose][i].Count -= e.Count
			return nil
		}
	}
	return fmt.Errorf("%d releases of %q (%s) are not in what the run reserved of its budget", e.Count, e.Purpose, e.Event.Kind())
}

// How much the quotient of a planned Gaussian may be exceeded, relative: by the rounding of a deviation
// that is computed anew. Discrete noise is rounded to its grid. Both are less than PlanMargin, and than the
// margin that the private recommenders calibrate with.
const (
	likeness         = 1e-9
	discreteLikeness = 2e-8
)

// PlanMargin is what a plan's price must be raised by, relative, to cover every release that Limit
// lets through for it: a divergence of Gaussians grows with the square of the quotient.
const PlanMargin = 1e-7

// foresees reports whether a planned release covers an event.
func foresees(p, e Event) bool {
	within := 1 + likeness
	quotient := func(e Event) (Event, float64, bool) {
		switch g := e.(type) {
		case Gaussian:
			q := g.Sensitivity / g.Sigma
			g.Sigma, g.Sensitivity, g.Norm = 1, 1, 0
			return g, q, true
		case DiscreteGaussian:
			q := g.Sensitivity / g.Sigma
			g.Sigma, g.Sensitivity, within = 1, 1, 1+discreteLikeness
			return g, q, true
		}
		return e, math.NaN(), false
	}
	a, q, ok := quotient(p)
	b, r, same := quotient(e)
	if ok && same {
		return a == b && r <= q*within
	}
	x, err := MarshalEvent(p)
	y, bad := MarshalEvent(e)
	return err == nil && bad == nil && string(x) == string(y)
}
