package accountant

import (
	"errors"
	"math"

	"privrec/internal/privacy/accountant/rdp"
)

// Best returns the guarantee at delta for releasing the best of a random number of runs, with law s for the number, and
// then the further runs in after. Each account in runs holds the releases of one candidate, including the score that
// ranks it. Every run is charged as the most expensive candidate at each order of the Rényi divergence, so a candidate
// that is left out must cost no more. Nothing else of the runs may be released, nor their number. It stops with the
// context of the first run (Account.During). See rdp.Selection.
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
