package experiment

import (
	"fmt"
	"math"

	"privrec/internal/privacy"
)

// ComposePure adds the guarantee at delta 0 from the noise in the ledger, for one unit of subject of, and for a larger
// unit that holds several of them, each at the same cost. Epsilons of releases add up. It returns the epsilon of one
// unit. It fails on a ledger with noise about another subject, or from a distribution without a pure epsilon. Call
// Leave before it.
func (a *Account) ComposePure(l *privacy.Ledger, of privacy.Subject, held privacy.Holding) (float64, error) {
	whole := privacy.Subject{Unit: held.Unit, Neighbouring: of.Neighbouring}
	one, all := 0.0, 0.0
	for _, e := range l.Entries() {
		if _, open := privacy.AsUnprotected(e.Event); open {
			continue
		}
		group, err := privacy.Group(e.Event, held.Most, whole)
		if err != nil {
			return 0, err
		}
		x, known := pureEpsilon(e.Event)
		y, both := pureEpsilon(group)
		if s, _ := privacy.About(e.Event); !known || !both || s != of {
			return 0, fmt.Errorf("account: the ledger has a %s about %v, the noise is for %v", e.Event.Kind(), s, of)
		}
		one, all = one+x*float64(e.Count), all+y*float64(e.Count)
	}
	a.Add(string(of.Unit), string(of.Neighbouring), 0, privacy.Number(one))
	a.Add(string(whole.Unit), string(whole.Neighbouring), 0, privacy.Number(all))
	return one, nil
}

// pureEpsilon returns the epsilon of a release at delta 0, and false for a distribution without one.
func pureEpsilon(e privacy.Event) (float64, bool) {
	l := privacy.LawOf(e)
	if l == nil || math.IsInf(l.Pure(), 1) {
		return 0, false
	}
	return l.Pure(), true
}
