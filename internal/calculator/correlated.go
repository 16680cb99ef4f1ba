package calculator

import (
	"fmt"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/correlated"
	"privrec/internal/run"
)

// correlatedSums returns the mechanism of the sums of a stream with correlated noise.
func correlatedSums(relations []privacy.Neighbouring) *Mechanism {
	return &Mechanism{
		Name: "correlated-sums", Summary: "sums of a stream, step after step, with correlated noise",
		Long: `A year of daily sums: after each of --horizon steps the sum of everything so far is
released. What one user adds to a step is clipped to norm C, and a user is in at most
--participations steps, two of which are at least --apart steps from each other. The
noise of a step is normal, with --noise-multiplier times C as the standard deviation of
its own part, and correlated with that of the steps before it by the square root of the
triangle of ones, cut to --bands entries; --bands 1 is independent noise on every step's
own part. All the sums together are one release of a Gaussian. The answer has the error
of the sums, and that of independent noise on every sum with the same guarantee.`,
		Noise: "noise-multiplier", numbers: []string{"horizon"}, optional: []string{"participations", "apart", "bands"},
		Relations: relations, unit: privacy.User, Accountants: []accountant.Method{accountant.Contour,
			accountant.Analytic, accountant.RDP, accountant.PLD},
		derive:  deriveSums,
		derived: []string{"sensitivity", "error-last", "error-mean", "error-single-releases"},
		labels: map[string]string{"sensitivity": "sensitivity", "error-last": "error of the last sum",
			"error-mean": "error of the sums (root mean square)", "error-single-releases": "error of single releases"},
		release: func(q *Question) (privacy.Event, error) {
			return privacy.Gaussian{Sigma: q.get("noise-multiplier"), Sensitivity: q.movedSums(), Unit: q.unit,
				Neighbouring: q.relation}, nil
		},
		describe: func(q *Question) string {
			in := "1 step"
			if most := q.or("participations", 1); most > 1 {
				in = fmt.Sprintf("%s steps, %s or more apart", short(most), short(q.or("apart", 1)))
			}
			return fmt.Sprintf("the sums after each of %s steps with correlated noise of multiplier %s in %s bands, "+
				"where a user is in at most %s", q.shown("horizon"), q.shown("noise-multiplier"),
				short(q.or("bands", q.get("horizon"))), in)
		},
	}
}

// movedSums returns how far one user moves all sums together.
func (q *Question) movedSums() float64 {
	if q.relation == privacy.Replace { // all that one user added goes, and all that another one adds comes
		return 2 * q.get("sensitivity")
	}
	return q.get("sensitivity")
}

// deriveSums computes the sensitivity of all sums together, and their errors in units of the clipping norm.
func deriveSums(q *Question) error {
	horizon := int(q.get("horizon"))
	bands := int(q.or("bands", float64(horizon)))
	if bands > horizon {
		return run.Usagef("leave --bands out for as many as there are steps",
			"--bands is %d, more than the %d steps of --horizon", bands, horizon)
	}
	s, err := correlated.Banded(horizon, bands)
	if err != nil {
		return err
	}
	single, err := correlated.Composed(horizon)
	if err != nil {
		return err
	}
	user := correlated.Participation{Times: int(q.or("participations", 1)), Apart: int(q.or("apart", 1))}
	moved, err := s.Sensitivity(user)
	if err != nil {
		return err
	}
	alone, err := single.Sensitivity(user)
	if err != nil {
		return err
	}
	if s.Steps() != q.sums.steps || bands != q.sums.bands { // a calibration asks again and again
		q.sums.steps, q.sums.bands, q.sums.errors = s.Steps(), bands, s.Errors()
	}
	noise, errs := q.or("noise-multiplier", 0), q.sums.errors // 0 until a calibration has found it
	q.put("sensitivity", moved)
	q.put("error-last", noise*errs.Last)
	q.put("error-mean", noise*errs.Mean)
	q.put("error-single-releases", noise*alone/moved)
	q.put("steps", 1)
	return nil
}
