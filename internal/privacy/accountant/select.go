package accountant

import (
	"errors"
	"math"

	"privrec/internal/privacy/accountant/rdp"
)

// Best returns the guarantee at delta of the best of a random number of runs, whose law is s, and
// of further runs that are made and released after it. Each account holds what one of the runs
// releases, the score that orders them included. A run is charged as the most expensive of them at
// every order of the Rényi divergence, so what is left out must cost no more. Nothing else of the
// runs may be released, nor their number. It ends with the context of the first run (Account.During). See
// rdp.Selection.
func Best(runs []*Account, s rdp.Selection, after []*Account, delta float64) (Result, error) {
	if len(runs) == 0 {
		return Result{}, errors.New("the best of no runs")
	}
	r := Result{Unit: runs[0].unit, Neighbouring: runs[0].relation, Delta: delta, Method: string(RDP)}
	if err := checkMuDelta(0, delta); err != nil {
		return r, err
	}
	curves := map[bool][]rdp.Curve{}
	for i, list := range [][]*Account{runs, after} {
		for _, a := range list {
			if a.about() != runs[0].about() {
				return r, ErrUnit
			}
			r.Unprotected = append(r.Unprotected, a.list.WithoutNoise...)
			if len(a.list.WithoutNoise) > 0 {
				continue
			}
			c, err := rdp.FromList(a.list)
			if err != nil {
				return r, err
			}
			curves[i == 0] = append(curves[i == 0], c)
		}
	}
	if len(r.Unprotected) > 0 {
		r.Epsilon = math.Inf(1)
		return r, nil
	}
	ctx := runs[0].context()
	best, err := s.Curve(ctx, rdp.Max(curves[true]...))
	if err != nil {
		return r, err
	}
	p, err := rdp.Epsilon(ctx, rdp.Sum(append(curves[false], best)...), delta, rdp.Options{})
	r.Epsilon, r.Order, r.AtEnd = p.Epsilon, p.Order, p.AtEnd
	return r, err
}
