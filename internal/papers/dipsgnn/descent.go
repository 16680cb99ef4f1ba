package dipsgnn

import (
	"cmp"
	"fmt"
	"math"

	"privrec/internal/epsilons"
	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant"
)

// Descent trains by DP-SGD over Poisson batches, with the least noise for an epsilon, and with a release of all items
// before it if inputs is above 0.
type Descent struct {
	Examples int     `yaml:"examples"`
	Batch    int     `yaml:"batch"` // mean number of examples in a step
	Epochs   int     `yaml:"epochs"`
	Inputs   float64 `yaml:"inputs"` // share of mu² spent on the release; 0: items are read without noise
	Clip     float64 `yaml:"clip"`   // S; 0: 1, since only its ratio to the noise counts
}

// Rate returns the probability with which a step takes an example.
func (d Descent) Rate() float64 { return min(1, float64(d.Batch)/float64(d.Examples)) }

// Steps returns the number of steps.
func (d Descent) Steps() int64 {
	return int64(d.Epochs) * int64(math.Ceil(float64(d.Examples)/float64(d.Batch)))
}

// ItemDeviation returns the standard deviation of the noise on items' codes, in units of their length. Another item
// moves the release by twice that length, and the release gets its share of the mu² of one normal release with this
// budget.
func (d Descent) ItemDeviation(b privacy.Budget) (float64, error) {
	mu, err := accountant.MuFor(b.Epsilon, b.Delta)
	return 2 / (mu * math.Sqrt(d.Inputs)), err
}

// Charges returns the cost of a unit at a noise multiplier. Adding or removing it moves a code by its length and the
// sum of gradients by the clip; exchanging it moves them by twice that. One position has one code and one label.
func (d Descent) Charges(noise float64, s privacy.Subject, b privacy.Budget) (list []epsilons.Charge, err error) {
	law := func(deviation, length float64) privacy.Event {
		if s.Neighbouring == privacy.Replace {
			return privacy.Gaussian{Sigma: deviation * length, Sensitivity: 2 * length, Norm: length, Unit: s.Unit,
				Neighbouring: s.Neighbouring}
		}
		return privacy.Gaussian{Sigma: deviation * length, Sensitivity: length, Unit: s.Unit,
			Neighbouring: s.Neighbouring}
	}
	if d.Inputs > 0 {
		deviation, err := d.ItemDeviation(b)
		if err != nil {
			return nil, err
		}
		list = append(list, epsilons.Charge{Event: law(deviation, 1), Count: 1})
	}
	return append(list, epsilons.Charge{Event: privacy.Sampled{Event: law(noise, cmp.Or(d.Clip, 1)), Rate: d.Rate(),
		Method: privacy.Poisson}, Count: d.Steps()}), nil
}

// Calibrate returns the least noise multiplier at which the exact account of all releases is within the budget. step
// gives the event of a step if its noise is not normal; nil: it is.
func (d Descent) Calibrate(s privacy.Subject, b privacy.Budget,
	step func(noise float64) (privacy.Event, error)) (float64, error) {
	goal := accountant.Goal{Epsilon: b.Epsilon, Delta: b.Delta, Exposed: accountant.Exposed(d.Rate(), d.Steps())}
	if d.Inputs > 0 {
		goal.Exposed = 1
	}
	found, err := accountant.Calibrate(goal, 1, func(noise float64) (float64, error) {
		acc, err := accountant.New(accountant.Contour, s.Unit, s.Neighbouring)
		if err != nil {
			return 0, err
		}
		charges, err := d.Charges(noise, s, b)
		if err != nil {
			return 0, err
		}
		if last := &charges[len(charges)-1]; step != nil {
			if last.Event, err = step(noise); err != nil {
				return 0, err
			}
		}
		for _, c := range charges {
			if err := acc.Charge(c.Event, c.Count); err != nil {
				return 0, err
			}
		}
		r, err := acc.Spent(b.Delta)
		return r.Epsilon, err
	})
	return found.Noise, err
}

// Releases implements epsilons.Source.
func (d Descent) Releases(s epsilons.Setting) (of epsilons.Releases, err error) {
	if d.Examples < 1 || d.Batch < 1 || d.Epochs < 1 || !(d.Inputs >= 0 && d.Inputs < 1) || !(d.Clip >= 0) {
		return of, fmt.Errorf("descent: examples %d, batch %d, epochs %d, inputs %v, clip %v, want at least 1 of "+
			"each, a share below 1 and no negative clip", d.Examples, d.Batch, d.Epochs, d.Inputs, d.Clip)
	}
	b := privacy.Budget{Epsilon: s.Claimed, Delta: s.Delta}
	noise, err := d.Calibrate(s.Subject, b, nil)
	if err != nil {
		return of, err
	}
	if of.Charges, err = d.Charges(noise, s.Subject, b); err != nil {
		return of, err
	}
	of.Noise = fmt.Sprintf("noise multiplier %.4g over %d steps at rate %.4g", noise, d.Steps(), d.Rate())
	if d.Inputs > 0 {
		deviation, err := d.ItemDeviation(b)
		if err != nil {
			return of, err
		}
		of.Noise += fmt.Sprintf(", items with std %.4g of their codes' length", deviation)
	}
	return of, nil
}
