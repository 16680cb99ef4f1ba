package privacy

import "fmt"

// Plan is what a run will release at most, said before its first release.
type Plan struct {
	Budget           // what all of it comes to, by the run's own account
	Subject          // what that is about
	Releases []Entry // every release that the run may make: purpose, event and count
	Held     []Holding
	// Whole says that all of the plan stays spent when the run has ended: its releases, as the ledger has them, would
	// be priced for less than the plan was, as for a neighbour that changes fewer of the answers.
	Whole bool
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
	a, q, within := quotient(p)
	b, r, _ := quotient(e)
	if a != nil && b != nil {
		of, same := About(p)
		is, too := About(e)
		return same && too && of == is && a == b && r <= q*(1+within)
	}
	x, err := MarshalEvent(p)
	y, bad := MarshalEvent(e)
	return err == nil && bad == nil && string(x) == string(y)
}

// quotient returns what normal noise is beside its sensitivity by its deviation, that quotient, and how
// much it may be exceeded. kind is nil for another release.
func quotient(e Event) (kind Law, q, within float64) {
	r, ok := e.(Release)
	if !ok {
		return nil, 0, 0
	}
	switch l := r.Law().(type) {
	case NormalLaw:
		return NormalLaw{}, l.Sensitivity / l.Sigma, likeness
	case DiscreteNormalLaw:
		return DiscreteNormalLaw{Dimension: l.Dimension}, l.Sensitivity / l.Sigma, discreteLikeness
	}
	return nil, 0, 0
}
