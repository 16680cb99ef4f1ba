package privacy

import "fmt"

// Limit makes Record refuse every release that a plan does not foresee: one for another purpose, of another event, or
// more often. Releases already in the ledger count. A run may set the noise of a Gaussian from earlier releases: a
// planned Gaussian covers any other whose quotient of sensitivity by sigma is not larger.
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

// Relative tolerances on the quotient of a planned Gaussian: a recomputed deviation is rounded, and discrete noise is
// rounded to its grid. Both are less than PlanMargin, and than the margin that the private recommenders calibrate with.
const (
	likeness         = 1e-9
	discreteLikeness = 2e-8
)

// PlanMargin is the relative amount by which the price of a plan must be raised to cover every release that Limit
// accepts: a divergence of Gaussians grows with the square of the quotient.
const PlanMargin = 1e-7

// foreseen subtracts a release from the rest of the plan, or fails if the rest does not include it.
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
	return fmt.Errorf("%d releases of %q (%s) are not in what the run reserved of its budget", e.Count, e.Purpose,
		e.Event.Kind())
}

// foresees reports whether a planned release covers an event.
func foresees(p, e Event) bool {
	a, q, within := quotient(p)
	b, r, _ := quotient(e)
	if a >= 0 && b >= 0 {
		of, same := About(p)
		is, too := About(e)
		return same && too && of == is && a == b && r <= q*(1+within)
	}
	x, err := MarshalEvent(p)
	y, bad := MarshalEvent(e)
	return err == nil && bad == nil && string(x) == string(y)
}

// quotient returns, for a release with normal noise, the quotient q = sensitivity/sigma and the relative tolerance on
// it. kind is 0 for continuous noise, the dimension of discrete noise, and -1 for any other event.
func quotient(e Event) (kind int64, q, within float64) {
	switch l := LawOf(e).(type) {
	case Gaussian:
		return 0, l.Sensitivity / l.Sigma, likeness
	case DiscreteGaussian:
		return l.Dimension, l.Sensitivity / l.Sigma, discreteLikeness
	}
	return -1, 0, 0
}
