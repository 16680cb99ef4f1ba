package calculator

import (
	"cmp"
	"fmt"
	"slices"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
	"privrec/internal/privacy/correlated"
	"privrec/internal/run"
)

// strategies lists the strategies of the sums of a stream, the default one first.
var strategies = []string{correlated.NameBanded, correlated.NameTree, correlated.NameBuffered, correlated.NameComposed,
	correlated.NameToeplitz}

// fewBuffers is the number of buffers of a buffered strategy at most, where none is given.
const fewBuffers = 4

// correlatedSums returns the mechanism of the sums of a stream with correlated noise.
func correlatedSums(relations []privacy.Neighbouring) *Mechanism {
	return &Mechanism{
		Name: "correlated-sums", Summary: "sums of a stream, step after step, with correlated noise",
		Long: `A year of daily sums: after each of --horizon steps the sum of everything so far is
released. What one user adds to a step is clipped to norm C, and a user is in at most
--participations steps, two of which are at least --apart steps from each other. The
noise of a step is normal, with --noise-multiplier times C as the standard deviation of
its own part, and correlated with that of the steps before it by a strategy:

  banded    the square root of the triangle of ones, cut to --bands entries: 1 is
            independent noise on every step's own part, best the number with the least
            error
  blt       a sum of a few weights that fade from step to step, --buffers at most, found
            for the horizon and the participation: near the least error, and its noise
            is made in the memory of as many rows
  tree      noise on the nodes of a binary tree: sums over 1, 2, 4, 8 and so on steps
  composed  independent noise on every sum
  toeplitz  as banded, but with the entries, --bands at most, that have the least error
            for the horizon and the participation

All the sums together are one release of a Gaussian. The answer has the error of the
sums, and that of independent noise on every sum with the same guarantee. That of a
tree is of the best estimate of each sum, beside that of adding up the fewest nodes.`,
		Noise: "noise-multiplier", numbers: []string{"horizon"},
		optional: []string{"participations", "apart", "bands", "buffers"}, strategies: strategies,
		Relations: relations, unit: privacy.User, Accountants: []accountant.Method{accountant.Contour,
			accountant.Analytic, accountant.RDP, accountant.PLD},
		derive: deriveSums,
		derived: []string{"sensitivity", "error-last", "error-mean", "error-last-plain", "error-mean-plain",
			"error-single-releases"},
		labels: map[string]string{"sensitivity": "sensitivity", "error-last": "error of the last sum",
			"error-mean":            "error of the sums (root mean square)",
			"error-last-plain":      "error of the last sum, of the fewest nodes",
			"error-mean-plain":      "error of the sums, of the fewest nodes",
			"error-single-releases": "error of single releases"},
		release: func(q *Question) (privacy.Event, error) {
			return privacy.CorrelatedGaussian{NoiseMultiplier: q.get("noise-multiplier"), Sensitivity: q.movedSums(),
				Design: q.sums.design, Participation: q.participation(), Unit: q.unit, Neighbouring: q.relation}, nil
		},
		describe: func(q *Question) string {
			in := "1 step"
			if most := q.or("participations", 1); most > 1 {
				in = fmt.Sprintf("%s steps, %s or more apart", short(most), short(q.or("apart", 1)))
			}
			noise := fmt.Sprintf("correlated noise of multiplier %s in %s bands", q.shown("noise-multiplier"),
				short(q.or("bands", q.get("horizon"))))
			switch q.sums.design.Name {
			case correlated.NameBuffered:
				noise = fmt.Sprintf("noise of multiplier %s, correlated by %d buffers", q.shown("noise-multiplier"),
					len(q.sums.design.Weights.Floats()))
			case correlated.NameTree:
				noise = fmt.Sprintf("noise of multiplier %s on the nodes of a binary tree", q.shown("noise-multiplier"))
			case correlated.NameComposed:
				noise = fmt.Sprintf("independent noise of multiplier %s on every sum", q.shown("noise-multiplier"))
			case correlated.NameToeplitz:
				noise = fmt.Sprintf("correlated noise of multiplier %s in %d fitted bands", q.shown("noise-multiplier"),
					len(q.sums.design.Column.Floats()))
			}
			return fmt.Sprintf("the sums after each of %s steps with %s, where a user is in at most %s",
				q.shown("horizon"), noise, in)
		},
	}
}

// sumsOf is the strategy of the sums of a stream as last computed, and what it was computed for: a calibration asks
// again and again.
type sumsOf struct {
	design   correlated.Design
	user     correlated.Participation
	bands    int // that were allowed
	buffers  int // as well
	strategy correlated.Strategy
	errors   correlated.Errors
	plain    correlated.Errors // of a tree
}

// movedSums returns how far one user moves all sums together.
func (q *Question) movedSums() float64 {
	if q.relation == privacy.Replace { // all that one user added goes, and all that another one adds comes
		return 2 * q.get("sensitivity")
	}
	return q.get("sensitivity")
}

// participation returns the steps that a user may be in.
func (q *Question) participation() correlated.Participation {
	return correlated.Participation{Times: int(q.or("participations", 1)), Apart: int(q.or("apart", 1))}
}

// checkSums fails on a strategy that is unknown, and on numbers of another strategy.
func (q *Question) checkSums() error {
	if q.Strategy != "" && !slices.Contains(strategies, q.Strategy) {
		return run.Usagef(didYouMean(q.Strategy, strategies), "--strategy is %q, want %s", clip(q.Strategy),
			list(strategies))
	}
	is := cmp.Or(q.Strategy, strategies[0])
	if is == correlated.NameToeplitz && q.best("bands") {
		return run.Usagef("leave it out: the entries of all bands are found, and those that gain nothing are left out",
			"--bands best does not go with --strategy %s", is)
	}
	for _, of := range [][2]string{{"bands", correlated.NameBanded}, {"buffers", correlated.NameBuffered}} {
		if q.given(of[0]) && is != of[1] && !(is == correlated.NameToeplitz && of[0] == "bands") {
			return run.Usagef(fmt.Sprintf("leave it out, or take --strategy %s", of[1]),
				"--%s does not go with --strategy %s", of[0], is)
		}
	}
	if horizon := q.get("horizon"); q.or("bands", 1) > horizon {
		return run.Usagef("leave --bands out for as many as there are steps",
			"--bands is %s, more than the %s steps of --horizon", short(q.get("bands")), short(horizon))
	}
	return nil
}

// design returns the strategy that a question names, with the bands, entries or buffers that are best for it where they
// are to be found.
func (q *Question) design() (correlated.Design, error) {
	horizon := int(q.get("horizon"))
	d := correlated.Design{Name: cmp.Or(q.Strategy, strategies[0]), Steps: horizon}
	switch d.Name {
	case correlated.NameBanded:
		d.Bands = int(q.or("bands", float64(horizon)))
		if q.best("bands") {
			var err error
			if d.Bands, err = correlated.BestBands(horizon, q.participation()); err != nil {
				return d, err
			}
			q.put("bands", float64(d.Bands))
		}
	case correlated.NameBuffered:
		buffers, err := correlated.Fit(horizon, int(q.or("buffers", fewBuffers)), q.participation())
		return correlated.BufferedDesign(horizon, buffers), err
	case correlated.NameToeplitz:
		column, err := correlated.FitColumn(horizon, int(q.or("bands", float64(horizon))), q.participation())
		d.Column = correlated.NumbersOf(column)
		return d, err
	}
	return d, nil
}

// deriveSums computes the sensitivity of all sums together, and their errors in units of the clipping norm.
func deriveSums(q *Question) error {
	if err := q.checkSums(); err != nil {
		return err
	}
	if err := q.findSums(); err != nil {
		return err
	}
	single, err := correlated.Composed(int(q.get("horizon")))
	if err != nil {
		return err
	}
	moved, err := q.sums.strategy.Sensitivity(q.participation())
	if err != nil {
		return err
	}
	alone, err := single.Sensitivity(q.participation())
	if err != nil {
		return err
	}
	noise, errs := q.or("noise-multiplier", 0), q.sums.errors // 0 until a calibration has found it
	q.put("sensitivity", moved)
	q.put("error-last", noise*errs.Last)
	q.put("error-mean", noise*errs.Mean)
	if q.sums.design.Name == correlated.NameTree {
		q.put("error-last-plain", noise*q.sums.plain.Last)
		q.put("error-mean-plain", noise*q.sums.plain.Mean)
	}
	q.put("error-single-releases", noise*alone/moved)
	q.put("steps", 1)
	return nil
}

// findSums makes the strategy of the question and its errors, unless they are those that it has.
func (q *Question) findSums() error {
	bands, buffers := int(q.or("bands", q.get("horizon"))), int(q.or("buffers", fewBuffers))
	if d := q.sums.design; d.Steps == int(q.get("horizon")) && d.Name == cmp.Or(q.Strategy, strategies[0]) &&
		(d.Bands == 0 || d.Bands == bands) && (d.Column == "" || q.sums.bands == bands) && q.sums.buffers == buffers &&
		q.sums.user == q.participation() {
		return nil
	}
	d, err := q.design()
	if err != nil {
		return err
	}
	s, err := d.Strategy()
	if err != nil {
		return err
	}
	errs, err := s.Errors()
	if err != nil {
		return err
	}
	plain, err := s.PlainErrors()
	if err != nil {
		return err
	}
	q.sums = sumsOf{d, q.participation(), bands, buffers, s, errs, plain}
	return nil
}
